package interfacetest

import (
	"strings"
	"testing"
)

// TestConditionsOnOneRelatedResource: one visible line fulfils all conditions with a number, or none does.
func TestConditionsOnOneRelatedResource(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for query, want := range map[string][]int{
			"filter[some][0][lines.product.name]=Chai":                                              {10, 11},
			"filter[some][0][lines.product.name]=Chai&filter[some][0][lines.quantity]=12":           {}, // by different lines
			"filter[some][0][lines.product.name]=Chai&filter[some][1][lines.quantity]=12":           {10},
			"filter[some][0][lines.product.name]=Chai&filter[some][0][lines.quantity][gte]=5":       {11},
			"filter[some][7][lines.quantity]=12&filter[some][7][lines.quantity]=2":                  {10, 13},
			"filter[some][0][lines.quantity][in]=12&filter[some][0][lines.quantity][in]=30":         {10, 11},
			"filter[none][0][lines.product.name]=Chai":                                              {12, 13},
			"filter[none][0][lines.product.name]=Chai&filter[none][0][lines.quantity][lt]=5":        {11, 12, 13},
			"filter[none][0][lines.product.name]=Chai&filter[none][1][lines.quantity]=2":            {12},
			"filter[some][0][lines.quantity]=1&filter[none][0][lines.quantity][gt]=20":              {10},
			"filter[some][0][lines.product_id][null]=true":                                          {},
			"filter[some][0][lines.product_id][null]=false":                                         {10, 11, 13},
			"filter[some][0][lines.quantity]":                                                       {10, 11, 13},
			"filter[some][0][lines.type]=lines":                                                     {10, 11, 13},
			"filter[none][0][lines.type]=lines":                                                     {12},
			"filter[some][0][lines.product][exists]=true&filter[some][0][lines.quantity][lt]=2":     {10},
			"filter[some][0][lines.product][exists]=false":                                          {},
			"filter[some][0][lines.product.name][search]=CHÄNG&filter[some][0][lines.quantity]=2":   {13},
			"filter[some][0][lines.quantity]=12&filter[any][0][state]=open&filter[any][1][state]=x": nil,
			"filter[some][0][lines.quantity][gt]=1&filter[state]=done&sort=-priority&limit=1":       {11},
			// An attribute of that name.
			"filter[some][eq]=y": {10}, "filter[some]=y": {10}, "filter[some][null]=true": {11, 12, 13},
			// Relations themselves.
			"filter[lines][exists]=true": {10, 11, 13}, "filter[lines][exists]=false": {12},
			"filter[customer][exists]=true": {10, 11, 13}, "filter[customer][exists]=false": {12},
			"filter[customer.orders][exists]=true": {10, 11, 13}, "filter[customer.orders][exists]=false": {12},
			"filter[lines.product][exists]=true": {10, 11, 13}, "filter[lines.product][exists]=false": {},
			"filter[any][0][lines][exists]=false&filter[any][1][state]=done":                          {11, 12},
			"filter[any][0][customer][exists]=false&filter[any][0][state]=done&filter[any][1][any]=x": {10},
		} {
			if want != nil {
				h.as("clerk", "GET", "/orders?"+query, "").expectPositions(t, query, want...)
			}
		}
		h.as("clerk", "GET", "/customers?filter[orders][exists]=false", "").expectPositions(t, "customers without orders", 4)
		h.as("clerk", "GET", "/customers?filter[none][0][orders.state]=open&include=orders&include[orders][filter][some][0][lines.quantity][gt]=20&include[orders][filter][lines][exists]=true&fields=name&fields[orders]=priority", "").expect(t, 200,
			`{"data":[{"id":"`+id(2)+`","type":"customers","name":"Bo","orders":[{"id":"`+id(11)+`","type":"orders","priority":1}]},{"id":"`+id(3)+`","type":"customers","name":"Cy","orders":[]},{"id":"`+id(4)+`","type":"customers","name":"Di","orders":[]}]}`)

		// Links keep the groups, and there is none to a stream.
		first := h.as("clerk", "GET", "/orders?filter[some][0][lines.quantity][gt]=0&filter[lines][exists]=true&limit=1", "", "Prefer", "count=exact")
		if want, got := "/orders?filter%5Bsome%5D%5B0%5D%5Blines.quantity%5D%5Bgt%5D=0&filter%5Blines%5D%5Bexists%5D=true&cursor="+id(11)+"&limit=1", first.link(t, "next"); got != want || first.total() != "3" {
			t.Errorf("got  %s, %s\nwant %s, 3", got, first.total(), want)
		}
		if strings.Contains(first.header.Get("Link"), `rel="changes"`) {
			t.Errorf("the links are %s", first.header.Get("Link"))
		}
		h.as("clerk", "PATCH", "/orders?filter[some][0][lines.quantity]=30", `{"priority":9}`).expect(t, 200, `{"data":[{"id":"`+id(11)+`","type":"orders","any":null,"some":null,"state":"done","priority":9,"customer_id":"`+id(2)+`"}]}`)
		h.as("clerk", "GET", "/orders?filter[priority]=9", "").expectPositions(t, "written", 11)
	})
}

// TestConditionsOnOneRelatedResourceSeeWhatTheCallerSees: hidden resources fulfil nothing, hidden attributes and relations do not
// exist.
func TestConditionsOnOneRelatedResourceSeeWhatTheCallerSees(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for query, want := range map[string][]int{
			"filter[some][0][lines.quantity][gt]=1":     {13},
			"filter[none][0][lines.quantity][gt]=1":     {10, 11, 12},
			"filter[lines][exists]=false":               {11, 12},
			"filter[lines][exists]=true":                {10, 13},
			"filter[customer][exists]=true":             {10},
			"filter[customer][exists]=false":            {11, 12, 13},
			"filter[customer.orders][exists]=false":     {11, 12, 13},
			"filter[customer.name][search]=b":           {},
			"filter[customer.name][search]=AD":          {10},
			"filter[lines.product.name][search]=chai":   {10},
			"filter[some][0][lines.product.name]=Chang": {13},
		} {
			h.as("german", "GET", "/orders?"+query, "").expectPositions(t, query, want...)
		}
		for query, want := range map[string]string{
			"filter[some][0][lines.product.price]=19": "unknown_parameter filter[some][0][lines.product.price]",
			"filter[customer.secret][search]=x":       "unknown_parameter filter[customer.secret][search]",
		} {
			h.as("german", "GET", "/orders?"+query, "").expectErrors(t, 400, want)
		}
		for query, want := range map[string]string{
			"filter[some][0][lines.quantity]=19": "unknown_parameter filter[some][0][lines.quantity]",
			"filter[lines][exists]=true":         "unknown_parameter filter[lines][exists]",
			"filter[customer][exists]=false":     "unknown_parameter filter[customer][exists]",
		} {
			h.as("narrow", "GET", "/orders?"+query, "").expectErrors(t, 400, want)
		}
	})
}

func TestWrongConditionsOnOneRelatedResource(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for query, want := range map[string]string{
			"filter[some][0]=open":                                            "A group of filters has a field behind its number: filter[some][0][relation.field]=value.",
			"filter[none][0][eq]=open":                                        `The collection orders has no field "eq" to filter by.`,
			"filter[some][x][lines.quantity]=1":                               "A group of filters has a number from 0 to 7: filter[some][0][relation.field]=value.",
			"filter[none][8][lines.quantity]=1":                               "A group of filters has a number from 0 to 7: filter[none][0][relation.field]=value.",
			"filter[some][00][lines.quantity]=1":                              "A group of filters has a number from 0 to 7: filter[some][0][relation.field]=value.",
			"filter[any][100][state]=open":                                    "A group of filters has a number from 0 to 99: filter[any][0][field]=value.",
			"filter[some][0][count.lines][gte]=1":                             "A number of related resources is one of the resource itself. Write filter[count.lines].",
			"filter[count.lines][exists]=true":                                `The operator exists is for relations, and "count.lines" is a field. Write filter[count.lines][gte]=1.`,
			"filter[some][0][state]=open":                                     "The conditions of filter[some] are on resources that a relation leads to, such as filter[some][0][lines.id]=value. Write filter[state] for the field itself.",
			"filter[none][0][customer.name]=Ada":                              "The relation customer leads to one resource, and filter[none] is for relations to several. Write filter[customer.name].",
			"filter[none][0][lines][exists]=true":                             "A condition of filter[none] is on a field of lines, such as filter[none][0][lines.id], or on a relation of it. Write filter[lines][exists] for the relation itself.",
			"filter[some][0][lines]=1":                                        `The collection orders has no field "lines" to filter by. It is a relation: filter by a field behind it, such as lines.id, or write filter[lines][exists]=true. For their number, use count.lines.`,
			"filter[any][0][some][0][lines.id]=1":                             "Groups of filters are not within each other. Write filter[any][0], a field and an operator.",
			"filter[some][0][none][1][lines.id]=1":                            "Groups of filters are not within each other. Write filter[some][0], a field and an operator.",
			"filter[some][0][lines.quantity]=x":                               `The value "x" must be an integer.`,
			"filter[some][0][lines.order.customer.name]=Ada":                  "A filter can lead through at most 2 relations.",
			"filter[lines.quantity][null]=true":                               "The relation lines leads to several resources, so that null has no clear meaning. Write filter[lines][exists]=false if there is none, or filter[some][0][lines.quantity][null]=true if one has no value.",
			"filter[any][0][lines.product.name][null]=true":                   "The relation lines leads to several resources, so that null has no clear meaning. Write filter[lines][exists]=false if there is none, or filter[some][0][lines.product.name][null]=true if one has no value.",
			"filter[customer.orders.state][null]=true":                        "The relation customer.orders leads to several resources, so that null has no clear meaning. Write filter[customer.orders][exists]=false if there is none.",
			"filter[lines][exists]=1":                                         "Must be true or false.",
			"filter[lines][exists]":                                           "Must be true or false.",
			"filter[state][exists]=true":                                      `The operator exists is for relations, and "state" is a field. Write filter[state][null]=true or false.`,
			"filter[xxxxxx][exists]=true":                                     `The collection orders has no field "xxxxxx" to filter by.`,
			"filter[line][exists]=true":                                       `The collection orders has no field "line" to filter by. Did you mean lines?`,
			"filter[state][search]=open":                                      `The field "state" is not searched. Declare it in search or label of orders, or use contains or starts_with for a string, which distinguish upper and lower case.`,
			"filter[customer.address.city][search]=b":                         `The field "customer.address.city" is not searched. Declare it in search or label of customers, or use contains or starts_with for a string, which distinguish upper and lower case.`,
			"filter[customer.name][search]=-":                                 `The search "-" has no word: give at least one letter or digit, such as filter[customer.name][search]=ada+lov.`,
			"filter[customer.name][search]=a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q": "A search allows at most 16 words, but got 17.",
			"filter[customer.name][search]=" + strings.Repeat("a", 257):       "A search allows at most 256 characters, but got 257.",
			"filter[state]=opne":                                              `There is no state "opne" (did you mean open?). Use open or done.`,
			"filter[state][ne]=":                                              `There is no state "". Use open or done.`,
			"filter[state][in]=open,closed":                                   `There is no state "closed". Use open or done.`,
			"filter[state][not_in]=Done":                                      `There is no state "Done" (did you mean done?). Use open or done.`,
			"filter[some][0][orders.state][eq]=dne":                           `There is no orders.state "dne" (did you mean done?). Use open or done.`,
		} {
			path := "/orders?"
			if strings.Contains(query, "orders.state][eq]") {
				path = "/customers?"
			}
			a := h.as("clerk", "GET", path+query, "")
			if got := a.details(t); a.status != 400 || len(got) != 1 || got[0] != want {
				t.Errorf("%s: %d\ngot  %q\nwant %q", query, a.status, got, want)
			}
		}
		h.as("clerk", "GET", "/customers?filter[some][0][orders.state]=open&filter[some][0][orders.lines.id]&filter[some][0][orders.priority][gt]=1", "").expectPositions(t, "further relations", 1)
		two := h.as("clerk", "GET", "/orders?filter[some][0][lines.id]&filter[some][0][customer.orders.id]", "")
		two.expectErrors(t, 400, "invalid_parameter filter[some][0][customer.orders.id]")
		for _, query := range []string{"filter[some][0][lines.quantity]=1", "filter[none][0][lines.quantity]=1", "filter[lines][exists]=true", "filter[customer.name][search]=a"} {
			name, _, _ := strings.Cut(query, "=")
			h.as("clerk", "GET", "/orders?"+query, "", "Accept", "text/event-stream").expectErrors(t, 400, "invalid_parameter "+name)
		}
		// As many filters through relations as are allowed, and one more.
		ten := "filter[some][0][lines.quantity]=1&filter[some][0][lines.product.name]=Chai&filter[none][0][lines.quantity]=5&filter[lines][exists]=true&filter[customer][exists]=true" +
			"&filter[customer.name][search]=ada&filter[customer.country]=DE&filter[customer.country][ne]=FR&filter[customer.id]&filter[some][1][lines.quantity][lt]=2"
		h.as("clerk", "GET", "/orders?"+ten, "").expectPositions(t, "ten filters", 10)
		h.as("clerk", "GET", "/orders?"+ten+"&filter[lines.product][exists]=true", "").expectErrors(t, 400, "too_many_values filter[lines.product][exists]")
	})
}

// TestSearchOfOneAttribute: the words of one attribute are compared as those of a search.
func TestSearchOfOneAttribute(t *testing.T) {
	eachStore(t, library(t), func(t *testing.T, s *server) {
		startBooks(s)
		for query, want := range map[string][]int{
			"filter[title][search]=ON":                                           {0, 1, 6},
			"filter[blurb][search]=on":                                           {3},
			"filter[isbn][search]=ada":                                           {6},
			"filter[title][search]=ana+not":                                      {0},
			"filter[title][search]=angstrom":                                     {3},
			"filter[title][search]=on&filter[blurb][search]=ala":                 {1},
			"filter[title][search]=on&search=ada":                                {0, 6},
			"filter[title][search]=on&sort=-title&limit=2":                       {1, 6},
			"filter[any][0][title][search]=tur&filter[any][1][isbn][search]=978": {0},
			"filter[next.title][search]=on":                                      {},
		} {
			s.get("/books?"+query).expectPositions(t, query, want...)
		}
		s.createAll("/books", `{"id":"`+id(50)+`","shelf_id":"`+id(100)+`","title":"Sequel","next_id":"`+id(1)+`"}`)
		s.get("/books?filter[next.title][search]=comp+ON").expectPositions(t, "through a reference", 50)
		s.get("/shelves?filter[books.title][search]=seq").expectPositions(t, "through a collection", 100)
		s.get("/shelves?filter[some][0][books.title][search]=on&filter[some][0][books.year][gt]=1900").expectPositions(t, "of one", 101)
		s.get("/shelves?filter[none][0][books.title][search]=on&filter[none][0][books.year][gt]=1900").expectPositions(t, "of none", 100)
		var parts []string
		for i := range 11 {
			parts = append(parts, "filter[any]["+string(rune('0'+i%10))+"][title][search]=a"+strings.Repeat("a", i))
		}
		s.get("/books?"+strings.Join(parts[:10], "&")).expectPositions(t, "ten searches", 0, 3)
		s.get("/books?"+strings.Join(parts[:10], "&")+"&filter[title][search]=x").expectErrors(t, 400, "too_many_values filter[title][search]")
	})
}
