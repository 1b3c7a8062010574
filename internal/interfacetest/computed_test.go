package interfacetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/plural-go/plural"
)

// purchaseFile has computed attributes that are required, unique, and made by the create.
const purchaseFile = `
collections:
  purchases:
    timestamps: false
    attributes:
      buyer: {type: string, maxLength: 20}
      price: {type: integer}
      quantity: {type: integer, default: 1}
      total: {type: integer, computed: resource.price * resource.quantity}
      tag: {type: string, maxLength: 20, unique: true, computed: resource.buyer}
      creator: {type: string, computed: auth.sub, when: create}
    required: [total]
`

// purchase is the representation of one, for who sees all of it.
func purchase(n int, buyer string, price, quantity int, creator string) string {
	return fmt.Sprintf(`{"id":"%s","type":"purchases","buyer":"%s","price":%d,"quantity":%d,"total":%d,"tag":"%s","creator":%s}`,
		id(n), buyer, price, quantity, price*quantity, buyer, creator)
}

// TestComputedAttributesAndRoles: no role can set computed attributes, and a role that does not see them can write the
// others.
func TestComputedAttributesAndRoles(t *testing.T) {
	t.Parallel()
	const roles = `
access:
  roles:
    editor: {purchases: [list, read, create, update, delete]}
    clerk: {purchases: {list: true, read: true, create: true, update: true, visible: [buyer, quantity], writable: [buyer, price, quantity]}}
`
	withFile(t, purchaseFile+roles, func(t *testing.T, s *server) {
		h := &accessServer{s, map[string]string{"public": ""}, ""}
		h.key("editor", "editor", "7")
		h.key("clerk", "clerk", "8")
		path := "/purchases/" + id(1)
		h.as("editor", "POST", "/purchases", `{"id":"`+id(1)+`","buyer":"A","price":3,"quantity":2}`).expect(t, 201, one(purchase(1, "A", 3, 2, `"7"`)))
		h.as("clerk", "POST", "/purchases", `{"id":"`+id(2)+`","buyer":"B","price":4}`).expect(t, 201, `{"data":{"id":"`+id(2)+`","type":"purchases","buyer":"B","quantity":1}}`)
		h.as("editor", "GET", "/purchases/"+id(2), "").expect(t, 200, one(purchase(2, "B", 4, 1, `"8"`)))

		h.as("editor", "PATCH", path, `{"total":6,"tag":"A","creator":"7"}`).expect(t, 200, one(purchase(1, "A", 3, 2, `"7"`)))
		h.as("editor", "PATCH", path, `{"total":7,"tag":null,"creator":"8"}`).expectErrors(t, 422, "read_only /total", "read_only /tag", "read_only /creator")
		h.as("editor", "PUT", path, `{"total":7,"tag":null,"creator":"8","price":5,"buyer":"A"}`).expect(t, 200, one(purchase(1, "A", 5, 1, `"7"`)))
		h.as("clerk", "PATCH", path, `{"total":5}`).expectErrors(t, 422, "unknown_attribute /total")
		h.as("clerk", "PUT", path, `{"total":5}`).expectErrors(t, 422, "unknown_attribute /total")
		h.as("clerk", "POST", "/purchases", `{"total":5}`).expectErrors(t, 422, "unknown_attribute /total")
		h.as("clerk", "PATCH", path, `{"price":6,"quantity":3}`).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"purchases","buyer":"A","quantity":3}}`)
		h.as("editor", "GET", path, "").expect(t, 200, one(purchase(1, "A", 6, 3, `"7"`)))

		// A required one that is null, and a unique one that is taken.
		h.as("editor", "POST", "/purchases", `{"buyer":"C"}`).expectErrors(t, 422, "required /total")
		h.as("editor", "PATCH", path, `{"price":null}`).expectErrors(t, 422, "required /total")
		h.as("editor", "POST", "/purchases", `{"buyer":"B","price":1}`).expectErrors(t, 409, "not_unique /tag")
		h.as("clerk", "POST", "/purchases", `{"buyer":"B","price":1}`).expectErrors(t, 409, "not_unique")
		h.as("editor", "POST", "/purchases?on_conflict=tag", `{"buyer":"B","price":1}`).expectErrors(t, 400, "invalid_parameter on_conflict")

		for caller, want := range map[string][]string{"editor": {"buyer", "price", "quantity"}, "clerk": {"buyer", "price", "quantity"}} {
			var me struct {
				Data struct {
					Collections []struct {
						Name     string
						Writable []string
					}
				}
			}
			if err := json.Unmarshal([]byte(h.as(caller, "GET", "/-/me", "").body), &me); err != nil {
				t.Fatal(err)
			}
			if c := me.Data.Collections[0]; c.Name != "purchases" || !slices.Equal(c.Writable, want) {
				t.Errorf("%s can write %v of %s, want %v", caller, c.Writable, c.Name, want)
			}
		}
	})
}

// Purchase is the struct of a program.
type Purchase struct {
	ID       string  `json:"id"`
	Buyer    string  `json:"buyer"`
	Price    int64   `json:"price"`
	Quantity int64   `json:"quantity"`
	Total    int64   `json:"total"`
	Tag      string  `json:"tag"`
	Creator  *string `json:"creator"`
}

// TestTypedComputedAttributes: what was read can be changed and saved, and saved as another one.
func TestTypedComputedAttributes(t *testing.T) {
	t.Parallel()
	withFile(t, purchaseFile, func(t *testing.T, s *server) {
		ctx, purchases := context.Background(), of[Purchase](t, s.opened)
		first, err := purchases.Create(ctx, Purchase{ID: id(1), Buyer: "A", Price: 3, Quantity: 2})
		if err != nil || first != (Purchase{id(1), "A", 3, 2, 6, "A", nil}) {
			t.Fatalf("created %+v: %v", first, err)
		}
		first.Price = 5
		changed, err := purchases.Replace(ctx, first.ID, first)
		if err != nil || changed != (Purchase{id(1), "A", 5, 2, 10, "A", nil}) {
			t.Fatalf("replaced %+v: %v", changed, err)
		}
		first.ID, first.Buyer = id(2), "B"
		copied, err := purchases.CreateMany(ctx, []Purchase{first})
		if err != nil || !slices.Equal(copied, []Purchase{{id(2), "B", 5, 2, 10, "B", nil}}) {
			t.Fatalf("copied %+v: %v", copied, err)
		}
		changed.Quantity = 4
		upserted, created, err := purchases.Upsert(ctx, "id", changed)
		if err != nil || created || upserted != (Purchase{id(1), "A", 5, 4, 20, "A", nil}) {
			t.Fatalf("upserted %+v, %t: %v", upserted, created, err)
		}
		s.get("/purchases").expect(t, 200, `{"data":[`+purchase(1, "A", 5, 4, "null")+","+purchase(2, "B", 5, 2, "null")+`]}`)
	})
}

// TestHooksAndComputedAttributes: hooks see computed attributes of what is stored, and cannot set them.
func TestHooksAndComputedAttributes(t *testing.T) {
	t.Parallel()
	hook := plural.Hook{
		Collection: "purchases",
		Before: func(_ context.Context, change *plural.Change) error {
			if change.After.Has("total") {
				return plural.Invalid("total", "The request has set it.")
			}
			return nil
		},
		Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
			if change.Before == nil {
				return nil
			}
			return plural.Invalid("total", "It was %v, and is %v: %v.", change.Before.Get("total"), change.After.Get("total"), change.After.Set("total", 1))
		},
	}
	withFile(t, purchaseFile, func(t *testing.T, s *server) {
		s.do("POST", "/purchases", `{"id":"`+id(1)+`","buyer":"A","price":3}`).expect(t, 201, one(purchase(1, "A", 3, 1, "null")))
		s.do("PATCH", "/purchases/"+id(1), `{"price":4,"total":3}`).expectDetails(t, 422, "/total: It was 3, and is 4: total of purchases is computed by the server, and cannot be set.")
	}, withHooks(hook))
}
