package interfacetest

import (
	"fmt"
	"strings"
	"testing"
)

// orderFile has rules that read the caller, and attributes that clerks do not see.
const orderFile = `
collections:
  orders:
    timestamps: false
    attributes:
      name: {type: string, maxLength: 20}
      quantity: {type: integer}
      price: {type: integer}
      total: {type: integer, maximum: 100, computed: resource.price * resource.quantity}
      owner: {type: string, maxLength: 20, computed: auth.sub, when: create}
      editor: {type: string, maxLength: 20, computed: auth.sub}
      shout: {type: string, maxLength: 20, computed: resource.name + '!'}
      secret: {type: string}
    checks:
      - {rule: resource.quantity != 7, message: Not 7., attribute: price}
      - {rule: auth.role != 'clerk' || resource.quantity < 10, message: Clerks sell less than 10., attribute: quantity}
access:
  roles:
    admin:
      orders: [list, read, create, update, delete]
    clerk:
      orders:
        list: true
        read: true
        create: resource.owner == auth.sub && resource.total != 12
        update: resource.owner == auth.sub
        visible: [name, quantity, shout]
        writable: [name, quantity]
`

func withOrders(t *testing.T, test func(*testing.T, *accessServer)) {
	withFile(t, orderFile, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		h.key("admin", "admin", "root")
		h.key("clerk", "clerk", "cleo")
		h.key("other", "clerk", "otto")
		test(t, h)
	})
}

// TestRulesAndRights: rules of access read what is computed, and errors tell nothing of hidden attributes.
func TestRulesAndRights(t *testing.T) {
	t.Parallel()
	withOrders(t, func(t *testing.T, h *accessServer) {
		full := func(n, quantity int, price, total, owner, editor string) string {
			return fmt.Sprintf(`{"id":"%s","type":"orders","name":"A","quantity":%d,"price":%s,"total":%s,"owner":"%s","editor":"%s","shout":"A!","secret":null}`, id(n), quantity, price, total, owner, editor)
		}
		part := func(n, quantity int) string {
			return fmt.Sprintf(`{"id":"%s","type":"orders","name":"A","quantity":%d,"shout":"A!"}`, id(n), quantity)
		}
		expect := func(n int, want string) {
			t.Helper()
			h.as("admin", "GET", "/orders/"+id(n), "").expect(t, 200, one(want))
		}
		h.as("clerk", "POST", "/orders", `{"id":"`+id(1)+`","name":"A","quantity":3}`).expect(t, 201, one(part(1, 3)))
		expect(1, full(1, 3, "null", "null", "cleo", "cleo"))
		h.as("admin", "PATCH", "/orders/"+id(1), `{"price":20}`).expect(t, 200, one(full(1, 3, "20", "60", "cleo", "root")))
		h.as("other", "PATCH", "/orders/"+id(1), `{"quantity":4}`).expectErrors(t, 403, "forbidden")
		h.as("clerk", "PATCH", "/orders/"+id(1), `{"quantity":4,"shout":"A!"}`).expect(t, 200, one(part(1, 4)))
		expect(1, full(1, 4, "20", "80", "cleo", "cleo"))

		const hidden = ": The value of an attribute that you may not see would not be allowed."
		h.as("clerk", "PATCH", "/orders/"+id(1), `{"quantity":6}`).expectDetails(t, 422, hidden)
		h.as("admin", "PATCH", "/orders/"+id(1), `{"quantity":6}`).expectDetails(t, 422, "/total: Must be at most 100.")
		h.as("clerk", "POST", "/orders", `{"quantity":7}`).expectDetails(t, 422, ": Not 7.")
		h.as("admin", "POST", "/orders", `{"quantity":7}`).expectDetails(t, 422, "/price: Not 7.")
		h.as("clerk", "POST", "/orders", `{"quantity":10}`).expectDetails(t, 422, "/quantity: Clerks sell less than 10.")
		h.as("clerk", "PATCH", "/orders/"+id(1), `{"shout":"B!"}`).expectErrors(t, 422, "read_only /shout")
		h.as("clerk", "PATCH", "/orders/"+id(1), `{"total":80}`).expectErrors(t, 422, "unknown_attribute /total")
		h.as("clerk", "PUT", "/orders/"+id(1), `{"name":"A","quantity":2,"shout":"?"}`).expect(t, 200, one(part(1, 2)))
		expect(1, full(1, 2, "20", "40", "cleo", "cleo"))

		// Of an operation, the caller is who has asked for it.
		operation := h.as("clerk", "POST", "/orders", `{"id":"`+id(2)+`","name":"A","quantity":1}`, "Prefer", "respond-async").operation(t)
		eventually(t, "the operation is finished", func() bool {
			return h.as("clerk", "GET", "/operations/"+operation, "").member(t, "status") == `"succeeded"`
		})
		expect(2, full(2, 1, "null", "null", "cleo", "cleo"))
		h.as("other", "POST", "/orders?on_conflict=id", `[{"id":"`+id(2)+`","quantity":3}]`).expectErrors(t, 403, "forbidden /0")
		h.as("other", "PATCH", "/orders?filter[quantity]=1", `{"quantity":3}`).expectErrors(t, 403, "forbidden")
		h.as("admin", "PATCH", "/orders?filter[quantity][gte]=1", `{"quantity":5}`).expect(t, 200, data(full(1, 5, "20", "100", "cleo", "root"), full(2, 5, "null", "null", "cleo", "root")))
	})
}

// TestRulesOfPartialRecords: where hidden texts are not kept until resources are stored, computed values are, and the texts are not lost.
func TestRulesOfPartialRecords(t *testing.T) {
	t.Parallel()
	withOrders(t, func(t *testing.T, h *accessServer) {
		var rows, upserts []string
		secret := strings.Repeat("s", 1000<<10)
		for n := range 7 { // more than are kept
			h.as("clerk", "POST", "/orders", fmt.Sprintf(`{"id":"%s","name":"A","quantity":1}`, id(n)))
			rows = append(rows, fmt.Sprintf(`{"id":"%s","type":"orders","name":"B","quantity":2,"price":3,"total":6,"owner":"cleo","editor":"cleo","shout":"B!","secret":"%s"}`, id(n), secret))
			upserts = append(upserts, fmt.Sprintf(`{"id":"%s","name":"B","quantity":2}`, id(n)))
			h.must("PATCH", "/orders/"+id(n), `{"price":3,"secret":"`+secret+`"}`)
		}
		h.as("clerk", "PATCH", "/orders?limit=7", `{"name":"B","quantity":2}`).expectLength(t, 7)
		h.as("admin", "GET", "/orders", "").expect(t, 200, data(rows...))
		h.must("PATCH", "/orders?limit=7", `{"name":"C","quantity":1}`)
		h.as("clerk", "POST", "/orders?on_conflict=id", "["+strings.Join(upserts, ",")+"]").expectLength(t, 7)
		h.as("admin", "GET", "/orders", "").expect(t, 200, data(rows...))
	})
}
