package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// shopFile has references, sub-collections, objects and arrays.
const shopFile = `
collections:
  customers:
    timestamps: false
    attributes:
      name: {type: string, maxLength: 100}
      country: {type: string, maxLength: 2}
      secret: {type: string}
      address:
        type: object
        properties:
          city: {type: string, maxLength: 100}
          zip: {type: integer}
          geo: {type: object, properties: {lat: {type: number}}}
          marks: {type: array, items: {type: string}}
          fee: {type: string, format: decimal, scale: 2}
          since: {type: string, format: date-time}
          key: {type: string, format: uuid}
      tags: {type: array, items: {type: string, maxLength: 100}}
      years: {type: array, items: {type: integer}}
      free: {type: array}
    label: name
  products:
    timestamps: false
    attributes:
      name: {type: string, maxLength: 100}
      price: {type: string, format: decimal, scale: 2}
    search: [name]
  orders:
    timestamps: false
    attributes:
      any: {type: string}
      some: {type: string}
      state: {type: string, enum: [open, done]}
      priority: {type: integer}
      customer_id: {references: customers, inverse: orders}
  lines:
    timestamps: false
    parent: {collection: orders, on_delete: cascade}
    attributes:
      quantity: {type: integer}
      product_id: {references: products}
access:
  roles:
    clerk:
      customers: [list, read, create, update, delete]
      products: [list, read, create, update, delete]
      orders: [list, read, create, update, delete]
      lines: [list, read, create, update, delete]
    german:
      customers: {list: true, read: resource.country == 'DE', visible: [name, country, address, tags]}
      products: {list: true, read: true, visible: [name]}
      orders: {list: true, read: true}
      lines: {list: true, read: resource.quantity < 10}
    narrow:
      customers: {read: true}
      orders: {list: true, read: true, visible: [state]}
      lines: {read: true}
    guest:
      customers: {list: true, read: true, visible: [name]}
      orders: {list: true, read: true, visible: [state]}
`

// startShop opens a shop on each database: customers from 1, products from 20, orders from 10, lines
// from 30.
func eachShop(t *testing.T, test func(t *testing.T, h *accessServer)) {
	file, err := schema.Parse([]byte(shopFile))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		for _, role := range []string{"clerk", "german", "narrow", "guest"} {
			h.key(role, role, "")
		}
		fill := func(collection string, bodies ...string) {
			if a := h.as("clerk", "POST", "/"+collection, "["+strings.Join(bodies, ",")+"]"); a.status != 201 {
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
		fill("customers",
			`{"id":"`+id(1)+`","name":"Ada","country":"DE","secret":"x","address":{"city":"Bonn","zip":53111,"geo":{"lat":50.7},"marks":["a","b"],"fee":"9.5","since":"2026-01-01T00:00:00+01:00","key":"`+strings.ToUpper(id(1))+`"},"tags":["urgent","new"],"years":[1999,2001]}`,
			`{"id":"`+id(2)+`","name":"Bo","country":"FR","secret":"y","address":{"city":"Paris","zip":75001,"fee":"10.00"},"tags":["new"],"years":[]}`,
			`{"id":"`+id(3)+`","name":"Cy","country":null,"address":{},"tags":[],"free":[1,"a"]}`,
			`{"id":"`+id(4)+`","name":"Di","country":"DE"}`)
		fill("products",
			`{"id":"`+id(20)+`","name":"Chai","price":"18.00"}`, `{"id":"`+id(21)+`","name":"Chang","price":"19.00"}`)
		fill("orders",
			`{"id":"`+id(10)+`","state":"open","priority":5,"customer_id":"`+id(1)+`","any":"x","some":"y"}`,
			`{"id":"`+id(11)+`","state":"done","priority":1,"customer_id":"`+id(2)+`"}`,
			`{"id":"`+id(12)+`","state":"open","priority":2,"customer_id":null}`,
			`{"id":"`+id(13)+`","state":null,"priority":3,"customer_id":"`+id(3)+`"}`)
		line := func(n, order, product, quantity int) string {
			return fmt.Sprintf(`{"id":"%s","order_id":"%s","product_id":"%s","quantity":%d}`, id(n), id(order), id(product), quantity)
		}
		fill("lines", line(30, 10, 20, 1), line(31, 10, 21, 12), line(32, 11, 20, 30), line(33, 13, 21, 2))
		test(t, h)
	}, func(c *plural.Config) { c.Access = file.Access })
}

func TestAnyOfGroups(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for query, want := range map[string][]int{
			"filter[any][0][state]=open&filter[any][0][priority][gte]=3&filter[any][1][customer_id][null]=true": {10, 12},
			"filter[any][0][state]=done":                                                                 {11},
			"filter[any][7][state]=done&filter[any][3][priority]=5":                                      {10, 11},
			"filter[any][0][state]=open&filter[any][0][state]=done&filter[any][1][priority]=3":           {10, 11, 12, 13},
			"filter[any][0][priority][in]=1,2&filter[any][0][priority][in]=5&filter[any][0][state]=open": {10, 12},
			"filter[any][0][state]=open&filter[any][1][state]=done&filter[priority][lt]=5":               {11, 12},
			"filter[any][0][state]&filter[any][1][priority]=3":                                           {10, 11, 12, 13},
			"filter[any][0][customer.country]=DE&filter[any][1][lines.product.name]=Chai":                {10, 11},
			"filter[any][0][state][ne]=open":                                                             {11, 13},
			"filter[any][99][state]=done":                                                                {11},
			// An attribute of that name.
			"filter[any][eq]=x": {10}, "filter[any]=x": {10}, "filter[any][null]=true": {11, 12, 13}, "filter[any][0][any]=x": {10},
		} {
			h.as("clerk", "GET", "/orders?"+query, "").expectPositions(t, query, want...)
		}
		for query, want := range map[string]string{
			"filter[any][0]=open":                                           "invalid_parameter filter[any][0]",
			"filter[any][x][state]=open":                                    "invalid_parameter filter[any][x][state]",
			"filter[any][-1][state]=open":                                   "invalid_parameter filter[any][-1][state]",
			"filter[any][100][state]=open":                                  "invalid_parameter filter[any][100][state]",
			"filter[any][00][state]=open":                                   "invalid_parameter filter[any][00][state]",
			"filter[any][0][nope]=open":                                     "unknown_parameter filter[any][0][nope]",
			"filter[any][0][state][like]=open":                              "invalid_parameter filter[any][0][state][like]",
			"filter[any][0][priority]=x":                                    "invalid_parameter filter[any][0][priority]",
			"filter[any][0][priority][lt]=1&filter[any][0][priority][lt]=2": "duplicate_parameter filter[any][0][priority][lt]",
			"filter[any][0][any][0][state]=open":                            "invalid_parameter filter[any][0][any][0][state]",
		} {
			h.as("clerk", "GET", "/orders?"+query, "").expectErrors(t, 400, want)
		}
		// Links keep the groups.
		first := h.as("clerk", "GET", "/orders?filter[any][0][state]=open&filter[any][1][state]=done&limit=1", "")
		want := "/orders?filter%5Bany%5D%5B0%5D%5Bstate%5D=open&filter%5Bany%5D%5B1%5D%5Bstate%5D=done&cursor=" + id(11) + "&limit=1"
		if got := first.link(t, "next"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestFiltersInsideObjectsAndArrays(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for query, want := range map[string][]int{
			"filter[address.city]=Bonn": {1}, "filter[address.city]=Bonn&filter[address.city]=Paris": {1, 2}, "filter[address.city]": {1, 2},
			"filter[address.city][ne]=Bonn": {2, 3, 4}, "filter[address.city][null]=true": {3, 4}, "filter[address.city][contains]=ari": {2},
			"filter[address.city][starts_with]=Bo": {1}, "filter[address.city][in]=Bonn,Rome": {1}, "filter[address.city][not_in]=Bonn": {2, 3, 4},
			"filter[address.zip]=53111": {1}, "filter[address.zip][gt]=53111": {2}, "filter[address.zip][lte]=53111": {1},
			"filter[address.geo.lat]=50.7": {1}, "filter[address.geo.lat][lt]=50.7": {}, "filter[address.geo][null]=false": {1},
			"filter[address.fee]=9.50": {1}, "filter[address.fee][gt]=9.5": {2}, "filter[address.fee][lt]=10": {1},
			"filter[address.since]=2025-12-31T23:00:00Z": {1}, "filter[address.since][lt]=2026-01-01T00:00:00Z": {1},
			"filter[address.key]=" + id(1): {1}, "filter[address.key]=" + strings.ToUpper(id(1)): {1},
			"filter[address.marks][has]=a": {1}, "filter[address.marks][has_all]=a,b": {1}, "filter[address.marks][has_all]=a,c": {},
			"filter[tags][has]=new": {1, 2}, "filter[tags][has]=urgent&filter[tags][has]=nope": {1}, "filter[tags][has_all]=urgent,new": {1},
			"filter[tags][has_all]=new": {1, 2}, "filter[tags][has]=a,b": {}, "filter[tags][has]=": {}, "filter[tags][null]=true": {4}, "filter[tags]": {1, 2, 3},
			"filter[years][has]=1999": {1}, "filter[years][has]=1999.0": {1}, "filter[years][has_all]=2001,1999": {1},
			"filter[any][0][tags][has]=urgent&filter[any][1][address.city]=Paris": {1, 2},
		} {
			h.as("clerk", "GET", "/customers?"+query, "").expectPositions(t, query, want...)
		}
		for query, want := range map[string]string{
			"filter[address.nope]=1":                          "unknown_parameter filter[address.nope]",
			"filter[address.]=1":                              "unknown_parameter filter[address.]",
			"filter[address.city.x]=1":                        "unknown_parameter filter[address.city.x]",
			"filter[name.x]=1":                                "unknown_parameter filter[name.x]",
			"filter[free.x]=1":                                "unknown_parameter filter[free.x]",
			"filter[address.geo]=1":                           "invalid_parameter filter[address.geo]",
			"filter[address]=1":                               "invalid_parameter filter[address]",
			"filter[address.zip]=x":                           "invalid_parameter filter[address.zip]",
			"filter[address.zip][contains]=1":                 "invalid_parameter filter[address.zip][contains]",
			"filter[address.city][has]=1":                     "invalid_parameter filter[address.city][has]",
			"filter[tags]=urgent":                             "invalid_parameter filter[tags]",
			"filter[tags][eq]=urgent":                         "invalid_parameter filter[tags][eq]",
			"filter[tags][has]":                               "invalid_parameter filter[tags][has]",
			"filter[years][has]=x":                            "invalid_parameter filter[years][has]",
			"filter[free][has]=1":                             "invalid_parameter filter[free][has]",
			"filter[name][has]=1":                             "invalid_parameter filter[name][has]",
			"filter[tags][has_all]=a&filter[tags][has_all]=b": "duplicate_parameter filter[tags][has_all]",
			"sort=address.nope":                               "invalid_parameter sort",
		} {
			h.as("clerk", "GET", "/customers?"+query, "").expectErrors(t, 400, want)
		}
		h.as("clerk", "GET", "/customers?filter[tags]=urgent", "").expect(t, 400,
			`{"errors":[{"status":400,"code":"invalid_parameter","title":"Invalid query parameter","detail":"The field \"tags\" has objects or arrays, which cannot be compared. Write filter[tags][has]=value, or filter[tags][null]=true.","source":{"parameter":"filter[tags]"}}]}`)
	})
}

func TestFiltersThroughRelations(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for query, want := range map[string][]int{
			"filter[customer.country]=DE": {10}, "filter[customer.country]=DE&filter[customer.country]=FR": {10, 11}, "filter[customer.country]": {10, 11},
			"filter[customer.country][null]=true": {12, 13}, "filter[customer.country][null]=false": {10, 11}, "filter[customer.country][ne]=DE": {11, 12, 13},
			"filter[customer.country][not_in]=DE,FR": {12, 13}, "filter[customer.name][contains]=o": {11}, "filter[customer.id]=" + id(3): {13}, "filter[customer.id][null]=true": {12},
			"filter[customer.type]=customers": {10, 11, 13}, "filter[customer.type][ne]=customers": {12}, "filter[customer.type][null]=true": {12}, "filter[customer.type]=orders": {},
			"filter[customer.address.city]=Bonn": {10}, "filter[customer.tags][has]=new": {10, 11},
			"filter[lines.quantity][gt]=10": {10, 11}, "filter[lines.id]": {10, 11, 13}, "filter[lines.product.name][contains]=Chai": {10, 11},
			"filter[lines.product.name]=Chai&filter[lines.quantity]=12":                {10}, // by different lines
			"filter[lines.product.price][gte]=19":                                      {10, 13},
			"filter[lines.quantity][ne]=1":                                             {10, 11, 13},
			"filter[customer.orders.priority][gt]=4":                                   {10},
			"filter[customer.country]=DE&sort=-priority":                               {10},
			"filter[lines.product.name]=Chang&sort=-priority&limit=1":                  {10},
			"filter[lines.product.name]=Chang&offset=1&limit=1":                        {13},
			"filter[customer.country]=DE&filter[customer.name]=Ada&filter[state]=open": {10},
		} {
			h.as("clerk", "GET", "/orders?"+query, "").expectPositions(t, query, want...)
		}
		h.as("clerk", "GET", "/orders/"+id(10)+"/lines?filter[product.name]=Chai", "").expectPositions(t, "children", 30)
		h.as("clerk", "GET", "/customers?filter[orders.lines.quantity]=30", "").expectPositions(t, "two collections", 2)
		counted := h.as("clerk", "GET", "/orders?filter[lines.product.name]=Chang&limit=1", "", "Prefer", "count=exact")
		if counted.total() != "2" {
			t.Errorf("the total is %s", counted.total())
		}
		if counted.header.Get("Link") == "" || strings.Contains(counted.header.Get("Link"), `rel="changes"`) {
			t.Errorf("the links are %s", counted.header.Get("Link"))
		}
		for query, want := range map[string]string{
			"filter[customer]=" + id(1):             "unknown_parameter filter[customer]",
			"filter[customer.nope]=1":               "unknown_parameter filter[customer.nope]",
			"filter[nope.country]=1":                "unknown_parameter filter[nope.country]",
			"filter[customer.]=1":                   "unknown_parameter filter[customer.]",
			"filter[lines.order.customer.name]=Ada": "invalid_parameter filter[lines.order.customer.name]",
			"filter[lines.quantity]=x":              "invalid_parameter filter[lines.quantity]",
			"sort=customer.nope":                    "invalid_parameter sort",
		} {
			h.as("clerk", "GET", "/orders?"+query, "").expectErrors(t, 400, want)
		}
		h.as("clerk", "GET", "/orders?filter[customer.country]=DE", "", "Accept", "text/event-stream").expectErrors(t, 400, "invalid_parameter filter[customer.country]")
		h.as("clerk", "GET", "/orders?filter[customer]=x", "").expect(t, 400,
			`{"errors":[{"status":400,"code":"unknown_parameter","title":"Unknown query parameter","detail":"The collection orders has no field \"customer\" to filter by. It is a relation: filter by a field behind it, such as customer.id, or write filter[customer][exists]=true.","source":{"parameter":"filter[customer]"}}]}`)
		// As many as are allowed, and one more.
		ops := []string{"ne", "lt", "lte", "gt", "gte", "eq", "in", "not_in", "contains", "starts_with", "null"}
		var parts []string
		for _, op := range ops {
			parts = append(parts, "filter[customer.name]["+op+"]=true")
		}
		h.as("clerk", "GET", "/orders?"+strings.Join(parts[:10], "&"), "").expectPositions(t, "ten filters")
		h.as("clerk", "GET", "/orders?"+strings.Join(parts, "&"), "").expectErrors(t, 400, "too_many_values filter[customer.name][null]")
	})
}

// TestFiltersSeeWhatTheCallerSees: hidden resources count as null or are not there, hidden attributes
// and relations do not exist.
func TestFiltersSeeWhatTheCallerSees(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for query, want := range map[string][]int{
			"filter[customer.country]=DE": {10}, "filter[customer.country]=FR": {}, "filter[customer.country][null]=true": {11, 12, 13}, "filter[customer.name][ne]=Ada": {11, 12, 13},
			"filter[customer.id]=" + id(2): {}, "filter[customer.type]=customers": {10},
			"filter[lines.quantity][gt]=1": {13}, "filter[lines.product.name]=Chai": {10}, "filter[lines.product.name]=Chang": {13},
			"filter[customer.tags][has]=new": {10}, "filter[customer.address.city]=Paris": {},
		} {
			h.as("german", "GET", "/orders?"+query, "").expectPositions(t, query, want...)
		}
		for query, want := range map[string]string{
			"filter[customer.secret]=x":         "unknown_parameter filter[customer.secret]",
			"filter[lines.product.price]=18.00": "unknown_parameter filter[lines.product.price]",
		} {
			h.as("german", "GET", "/orders?"+query, "").expectErrors(t, 400, want)
		}
		// The referring attribute is hidden, the collection cannot be listed, or its resources not be read.
		for _, query := range []string{"filter[customer.name]=Ada", "filter[lines.quantity]=1"} {
			name, _, _ := strings.Cut(query, "=")
			h.as("narrow", "GET", "/orders?"+query, "").expectErrors(t, 400, "unknown_parameter "+name)
		}
	})
}
