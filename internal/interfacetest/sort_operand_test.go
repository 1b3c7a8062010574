package interfacetest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/plural-go/plural/schema"
)

// TestSortOperands sorts through references, into objects and by counts, for callers who see different resources. All ranges of each
// order agree with the whole.
func TestSortOperands(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for _, c := range []struct {
			caller, path, sort string
			want               []int
		}{
			{"clerk", "/orders", "customer.name", []int{12, 10, 11, 13}},
			{"clerk", "/orders", "-customer.name", []int{13, 11, 10, 12}},
			{"clerk", "/orders", "customer.country", []int{12, 13, 10, 11}},
			{"clerk", "/orders", "-customer.country", []int{11, 10, 12, 13}},
			{"clerk", "/orders", "-customer.country,-priority", []int{11, 10, 13, 12}},
			{"clerk", "/orders", "-customer.country,-id", []int{11, 10, 13, 12}},
			{"clerk", "/orders", "state,-customer.name", []int{13, 11, 10, 12}},
			{"clerk", "/orders", "-state,customer.name,priority", []int{12, 10, 11, 13}},
			{"clerk", "/orders", "customer.address.city", []int{12, 13, 10, 11}},
			{"clerk", "/orders", "-customer.address.fee", []int{11, 10, 12, 13}},
			{"clerk", "/orders", "-customer.id", []int{13, 11, 10, 12}},
			{"clerk", "/orders", "count.lines,-customer.name", []int{12, 13, 11, 10}},
			{"clerk", "/orders", "-count.lines", []int{10, 11, 13, 12}},
			{"clerk", "/lines", "order.customer.name", []int{30, 31, 32, 33}},
			{"clerk", "/lines", "-order.customer.name", []int{33, 32, 30, 31}},
			{"clerk", "/lines", "-product.price", []int{31, 33, 30, 32}},
			{"clerk", "/lines", "product.name,-quantity", []int{32, 30, 31, 33}},
			{"clerk", "/customers", "address.city", []int{3, 4, 1, 2}},
			{"clerk", "/customers", "-address.zip,name", []int{2, 1, 3, 4}},
			{"clerk", "/customers", "-address.fee", []int{2, 1, 3, 4}},
			{"clerk", "/customers", "address.geo.lat,-name", []int{4, 3, 2, 1}},
			{"clerk", "/customers", "-address.since,-id", []int{1, 4, 3, 2}},
			{"clerk", "/customers", "address.key", []int{2, 3, 4, 1}},
			{"clerk", "/customers", "count.orders", []int{4, 1, 2, 3}},
			{"clerk", "/customers", "-count.orders,-name", []int{3, 2, 1, 4}},
			// The german sees customers in DE, and lines of less than 10.
			{"german", "/orders", "-customer.name", []int{10, 11, 12, 13}},
			{"german", "/orders", "customer.name", []int{11, 12, 13, 10}},
			{"german", "/orders", "-count.lines", []int{10, 13, 11, 12}},
			{"german", "/orders", "count.lines,-id", []int{12, 11, 13, 10}},
		} {
			whole := c.path + "?sort=" + c.sort
			h.as(c.caller, "GET", whole, "").expectPositions(t, c.caller+" "+whole, c.want...)
			h.expectRanges(t, c.caller, whole, c.want)
		}
	})
}

// expectRanges reads ranges of a list: by cursor, by offset, from the end, and along the links of both.
func (h *accessServer) expectRanges(t *testing.T, caller, whole string, want []int) {
	t.Helper()
	get := func(query string, positions []int) answer {
		t.Helper()
		a := h.as(caller, "GET", whole+query, "", "Prefer", "count=exact")
		a.expectPositions(t, caller+" "+whole+query, positions...)
		a.expectTotal(t, fmt.Sprint(len(want)))
		return a
	}
	for i, at := range want {
		get(fmt.Sprintf("&cursor=%s&limit=2", id(at)), want[i:min(i+2, len(want))])
		get(fmt.Sprintf("&cursor=%s&limit=-2", id(at)), want[max(i-2, 0):i])
		get(fmt.Sprintf("&cursor=%s&limit=5000", id(at)), want[i:])
		get(fmt.Sprintf("&offset=%d&limit=2", i), want[i:min(i+2, len(want))])
		get(fmt.Sprintf("&limit=-%d", i+1), want[len(want)-i-1:])
	}
	for _, first := range []string{"&limit=1", "&offset=0&limit=1"} {
		a := get(first, want[:1])
		for _, at := range want[1:] {
			a = h.as(caller, "GET", a.link(t, "next"), "")
			a.expectPositions(t, caller+" next of "+whole+first, at)
		}
	}
}

func TestSortOfIncluded(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		line := func(n, order, product, quantity int) string {
			return fmt.Sprintf(`{"id":"%s","type":"lines","quantity":%d,"product_id":"%s","order_id":"%s"}`, id(n), quantity, id(product), id(order))
		}
		list := `{"data":[` + `{"id":"` + id(10) + `","type":"orders","state":"open","lines":[%s]},{"id":"` + id(11) + `","type":"orders","state":"done","lines":[%s]}]}`
		cheap, dear, other := line(30, 10, 20, 1), line(31, 10, 21, 12), line(32, 11, 20, 30)
		for query, lines := range map[string]string{
			"&include[lines][sort]=-product.name":                         dear + "," + cheap,
			"&include[lines][sort]=product.price,-quantity":               cheap + "," + dear,
			"&include[lines][sort]=-product.name&include[lines][limit]=1": dear,
			"&include[lines][sort]=product.name&include[lines][limit]=-1": dear,
			"&include[lines][sort]=order.customer.name,-product.name":     dear + "," + cheap,
		} {
			h.as("clerk", "GET", "/orders?limit=2&fields=state&include=lines"+query, "").expect(t, 200, fmt.Sprintf(list, lines, other))
		}
		// The german does not see the second line.
		h.as("german", "GET", "/orders?limit=1&fields=state&include=lines&include[lines][sort]=-product.name", "").expect(t, 200,
			`{"data":[{"id":"`+id(10)+`","type":"orders","state":"open","lines":[`+cheap+`]}]}`)
		h.as("clerk", "GET", "/customers?limit=1&fields=name&include=orders&fields[orders]=priority&include[orders][sort]=-count.lines&include[orders][filter][count.lines][gte]=2", "").expect(t, 200,
			`{"data":[{"id":"`+id(1)+`","type":"customers","name":"Ada","orders":[{"id":"`+id(10)+`","type":"orders","priority":5}]}]}`)
		h.as("german", "GET", "/customers?limit=1&fields=name&include=orders&include[orders][filter][count.lines][gte]=2", "").expect(t, 200,
			`{"data":[{"id":"`+id(1)+`","type":"customers","name":"Ada","orders":[]}]}`)
	})
}

func TestCountsOfRelated(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for query, want := range map[string][]int{
			"filter[count.lines]=0": {12}, "filter[count.lines][eq]=2": {10}, "filter[count.lines][ne]=1": {10, 12}, "filter[count.lines][lt]=1": {12},
			"filter[count.lines][lte]=1": {11, 12, 13}, "filter[count.lines][gt]=1": {10}, "filter[count.lines][gte]=1": {10, 11, 13},
			"filter[count.lines]=0&filter[count.lines]=2": {10, 12}, "filter[count.lines][in]=0,2": {10, 12}, "filter[count.lines][not_in]=0,2": {11, 13},
			"filter[count.lines][gte]=1&filter[priority][lt]=4&sort=-count.lines,-priority":  {13, 11},
			"filter[any][0][count.lines]=0&filter[any][1][customer.name]=Ada&sort=-priority": {10, 12},
			"filter[count.lines][gte]=1&filter[lines.product.name]=Chang":                    {10, 13},
		} {
			h.as("clerk", "GET", "/orders?"+query, "").expectPositions(t, query, want...)
		}
		h.as("german", "GET", "/orders?filter[count.lines]=0", "").expectPositions(t, "of those that the caller may see", 11, 12)
		h.as("clerk", "GET", "/-/groups/orders?filter[count.lines][gte]=1&sum=priority", "").expect(t, 200,
			`{"data":[{"id":"764c5c0b-c7a2-56dc-9682-d7a69d5739dd","type":"groups","by":{},"count":3,"sum":{"priority":9}}]}`)
		h.as("clerk", "PATCH", "/orders?filter[count.lines]=0&dry_run=true", `{"state":"done"}`).expectPositions(t, "a range of writes", 12)
	})
}

// TestAttributeNamedCount: an attribute with the name of counts has it, for callers who see it.
func TestAttributeNamedCount(t *testing.T) {
	eachStore(t, mustSchema(t,
		schema.Collection{Name: "shelves", Singular: "shelf", NoTimestamps: true, Attributes: []schema.Attribute{
			{Name: "count", Type: schema.Object, Properties: []schema.Attribute{{Name: "books", Type: schema.Integer}}}}},
		schema.Collection{Name: "books", NoTimestamps: true, Attributes: []schema.Attribute{{Name: "shelf_id", References: &schema.Reference{Collection: "shelves"}, Inverse: "books"}}},
	), func(t *testing.T, s *server) {
		s.createAll("/shelves", `{"id":"`+id(1)+`","count":{"books":7}}`, `{"id":"`+id(2)+`","count":{"books":3}}`)
		s.createAll("/books", `{"id":"`+id(3)+`","shelf_id":"`+id(2)+`"}`)
		s.get("/shelves?sort=count.books").expectPositions(t, "sort", 2, 1)
		s.get("/shelves?filter[count.books]=7").expectPositions(t, "filter", 1)
	})
}

func TestOperandRefusals(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		for _, c := range []struct{ caller, path, want string }{
			{"clerk", "/orders?sort=lines.quantity", `invalid_parameter sort: The relation lines of orders leads to many resources, and a sort key needs one value. Write count.lines for their number.`},
			{"clerk", "/orders?sort=lines", `invalid_parameter sort: The collection orders has no field "lines" to sort by. It is a relation to many resources. Write count.lines for their number.`},
			{"clerk", "/orders?sort=customer", `invalid_parameter sort: The collection orders has no field "customer" to sort by. It is a relation: sort by a field behind it, such as customer.id.`},
			{"clerk", "/orders?sort=customer.nam", `invalid_parameter sort: The collection customers has no field "nam" to sort by. Did you mean name?`},
			{"clerk", "/orders?sort=customer.address", `invalid_parameter sort: The field "customer.address" has objects or arrays, which cannot be sorted. Sort by a property, such as customer.address.city.`},
			{"clerk", "/orders?sort=customer.type", `invalid_parameter sort: The field "customer.type" is the same for all resources of customers. Leave it out.`},
			{"clerk", "/orders?sort=customer.name,-customer.name", `invalid_parameter sort: The field "customer.name" is given twice.`},
			{"clerk", "/orders?sort=priority.desc", `invalid_parameter sort: The field priority has no declared property "desc" to sort by. To sort downwards, write -priority.`},
			{"clerk", "/customers?sort=address.nope", `invalid_parameter sort: The field address has no declared property "nope" to sort by.`},
			{"clerk", "/customers?sort=address.marks", `invalid_parameter sort: The field "address.marks" has objects or arrays, which cannot be sorted.`},
			{"clerk", "/orders?sort=count.customer", `invalid_parameter sort: The collection orders has no relation "customer" to many resources, which could be counted. Use count.lines.`},
			{"clerk", "/products?sort=count.lines", `invalid_parameter sort: The collection products has no relation "lines" to many resources, which could be counted. It has none.`},
			{"clerk", "/orders?sort=customer.count.orders", `invalid_parameter sort: Only resources that are related to one of orders itself can be counted, and "customer.count.orders" leads to another collection first.`},
			{"clerk", "/orders?filter[count.nope]=1", `unknown_parameter filter[count.nope]: The collection orders has no relation "nope" to many resources, which could be counted. Use count.lines.`},
			{"clerk", "/orders?filter[count.lines]=x", `invalid_parameter filter[count.lines]: The value "x" must be an integer.`},
			{"clerk", "/orders?filter[count.lines]", `invalid_parameter filter[count.lines]: The number count.lines is never null. Compare it with another number, such as filter[count.lines][gte]=1.`},
			{"clerk", "/orders?filter[count.lines][null]=true", `invalid_parameter filter[count.lines][null]: The number count.lines is never null. Compare it with another number, such as filter[count.lines][gte]=1.`},
			{"clerk", "/orders?filter[count.lines][contains]=1", `invalid_parameter filter[count.lines][contains]: The operator contains is for strings, but the field "count.lines" has integers.`},
			{"clerk", "/orders?filter[count.lines.id]=1", `unknown_parameter filter[count.lines.id]: The collection orders has no relation "lines.id" to many resources, which could be counted. Use count.lines.`},
			// What is hidden is unknown.
			{"german", "/orders?sort=customer.secret", `invalid_parameter sort: The collection customers has no field "secret" to sort by.`},
			{"guest", "/customers?filter[count.orders]=1", `unknown_parameter filter[count.orders]: The collection customers has no relation "orders" to many resources, which could be counted. It has none.`},
			{"narrow", "/orders?sort=customer.name", `invalid_parameter sort: The collection orders has no field "customer" to sort by.`},
			{"guest", "/customers?sort=count.orders", `invalid_parameter sort: The collection customers has no relation "orders" to many resources, which could be counted. It has none.`},
		} {
			if got := h.as(c.caller, "GET", c.path, "").detailed(t); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.path, got, c.want)
			}
		}
		eleven := "/lines?sort=product.name,-product.price,order.priority,order.state,order.any,order.id,order.customer.name,order.customer.id,order.customer.country,product.id,"
		h.as("clerk", "GET", eleven+"id", "").expectPositions(t, "ten keys through relations", 32, 30, 33, 31)
		h.as("clerk", "GET", eleven+"order.customer.tags", "").expectErrors(t, 400, "too_many_values sort")
		h.as("clerk", "GET", "/orders?filter[count.lines]=1", "", "Accept", "text/event-stream").expectErrors(t, 400, "invalid_parameter filter[count.lines]")
	})
}

// detailed is the only error of an answer with its detail.
func (a answer) detailed(t *testing.T) string {
	t.Helper()
	var refused struct {
		Errors []struct {
			Code, Detail string
			Source       struct{ Parameter string }
		}
	}
	if err := json.Unmarshal([]byte(a.body), &refused); err != nil || len(refused.Errors) != 1 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	e := refused.Errors[0]
	return fmt.Sprintf("%s %s: %s", e.Code, e.Source.Parameter, e.Detail)
}
