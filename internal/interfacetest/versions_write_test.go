package interfacetest

import (
	"strings"
	"testing"
)

// TestVersionsOfOneResource has clients of three versions write one resource: each sees and sets what its version has, and leaves the rest.
func TestVersionsOfOneResource(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		one, two, three := s.version(1), s.version(2), s
		at := id(31)
		one.do("POST", "/clients", `{"id":"`+at+`","name":"Cleo","mail":"cleo@example.com","fax":"33","rating":4}`).
			expect(t, 201, `{"data":`+customerIn(1, 31, `"Cleo"`, `"cleo@example.com"`, `"new"`, `"33"`, 4, "null", "null", "", "")+`}`)
		two.get("/customers/"+at).expect(t, 200, `{"data":`+customerIn(2, 31, `"Cleo"`, `"cleo@example.com"`, `"new"`, "", 4, "null", "null", `"none"`, "")+`}`)
		three.get("/customers/"+at).expect(t, 200, `{"data":`+customerIn(3, 31, `"Cleo"`, `"cleo@example.com"`, `"new"`, "", 4, "null", "null", "", false)+`}`)

		two.do("PATCH", "/customers/"+at, `{"phone":"44","state":"blocked"}`).
			expect(t, 200, `{"data":`+customerIn(2, 31, `"Cleo"`, `"cleo@example.com"`, `"blocked"`, "", 4, "null", "null", `"44"`, "")+`}`)
		three.do("PUT", "/customers/"+at, `{"company":"Cleo and sisters","email":"cleo@example.com","state":"gone","rating":9,"vip":true}`).
			expect(t, 200, `{"data":`+customerIn(3, 31, `"Cleo and sisters"`, `"cleo@example.com"`, `"gone"`, "", 9, "null", "null", "", true)+`}`)
		// What it does not have stays, and wider values are shown as they are. They may be sent back.
		one.unchecked().do("PUT", "/clients/"+at, `{"name":"Cleo and sisters","mail":"cleo@example.com","state":"gone","fax":"34","rating":9,"note":"sent back"}`).
			expect(t, 200, `{"data":`+customerIn(1, 31, `"Cleo and sisters"`, `"cleo@example.com"`, `"gone"`, `"34"`, 9, `"sent back"`, "null", "", "")+`}`)
		two.get("/customers/"+at).expect(t, 200, `{"data":`+customerIn(2, 31, `"Cleo and sisters"`, `"cleo@example.com"`, `"gone"`, "", 9, `"sent back"`, "null", `"44"`, "")+`}`)
		three.get("/customers/"+at).expect(t, 200, `{"data":`+customerIn(3, 31, `"Cleo and sisters"`, `"cleo@example.com"`, `"gone"`, "", 9, `"sent back"`, "null", "", true)+`}`)

		one.do("DELETE", "/clients/"+at, "").
			expect(t, 200, `{"data":`+customerIn(1, 31, `"Cleo and sisters"`, `"cleo@example.com"`, `"gone"`, `"34"`, 9, `"sent back"`, "null", "", "")+`}`)
		two.get("/customers/"+at).expectErrors(t, 404, "not_found")
	})
}

// TestVersionsRefuse compares the errors of all kinds of writes with the names of the version.
func TestVersionsRefuse(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		one := s.version(1)
		ann, order := "/clients/"+id(1), "/clients/"+id(1)+"/orders"
		for _, test := range []struct {
			method, path, body string
			status             int
			want               []string
		}{
			// What the version does not have.
			{"POST", "/clients", `{"name":"Eve","vip":true,"phone":"1","company":"x","email":"e@example.com"}`, 422,
				[]string{"unknown_attribute /vip", "unknown_attribute /phone", "unknown_attribute /company", "unknown_attribute /email"}},
			{"POST", "/customers", `{}`, 404, []string{"not_found"}},
			{"POST", "/labels", `{}`, 404, []string{"not_found"}},
			{"PATCH", "/orders/" + id(11), `{"label_id":null,"quantity":1}`, 422, []string{"unknown_attribute /label_id", "unknown_attribute /quantity"}},
			// The constraints of the version, and of the newest.
			{"POST", "/clients", `{"name":"Eleven long","state":"blocked","rating":6}`, 422, []string{"max_length /name", "enum /state", "maximum /rating"}},
			{"POST", "/clients", `[{"name":"Eve"},{"name":"Eve","rating":6},{"name":null}]`, 422, []string{"maximum /1/rating", "required /2/name"}},
			{"PATCH", ann, `{"rating":6}`, 422, []string{"maximum /rating"}},
			{"PATCH", ann, `{"rating":60}`, 422, []string{"maximum /rating"}},
			{"PATCH", "/clients?filter[name]=Ann", `{"rating":6}`, 422, []string{"maximum /rating"}},
			{"POST", "/clients?on_conflict=mail", `[{"name":"Eve","mail":"eve@example.com","rating":6},{"name":"Ann","mail":"ann@example.com","state":"gone"}]`, 422,
				[]string{"maximum /0/rating", "enum /1/state"}},
			// Without the value that tells whether it exists, only the body itself is checked.
			{"POST", "/clients?on_conflict=mail", `{"rating":6}`, 422, []string{"required /mail", "maximum /rating"}},
			{"POST", "/-/transaction", `[{"method":"PATCH","path":"` + ann + `","body":{"fax":"1"}},{"method":"PATCH","path":"` + ann + `","body":{"rating":7}}]`, 422,
				[]string{"maximum /1/body/rating"}},
			{"PATCH", "/orders/" + id(11), `{"amount":-1}`, 422, []string{"minimum /amount"}},
			// Conflicts and references.
			{"POST", "/clients", `{"name":"Eve","mail":"ann@example.com"}`, 409, []string{"not_unique /mail"}},
			{"POST", order, `{"code":"a1"}`, 409, []string{"not_unique /client_id"}},
			{"POST", "/orders", `{"code":"e1","client_id":"` + id(99) + `"}`, 422, []string{"unknown_reference /client_id"}},
			{"PATCH", ann, `{"referrer_id":"` + id(99) + `"}`, 422, []string{"unknown_reference /referrer_id"}},
			{"POST", "/clients?on_conflict=email", `{"name":"Eve"}`, 400, []string{"invalid_parameter on_conflict"}},
			{"POST", "/orders?on_conflict=client_id,code", `{"code":"a1","amount":5}`, 422, []string{"required /client_id"}},
		} {
			got := one.do(test.method, test.path, test.body)
			if got.expectErrors(t, test.status, test.want...); t.Failed() {
				t.Fatalf("%s %s %s", test.method, test.path, test.body)
			}
		}
		// A version without the attribute of a conflict is not told of it.
		for path, detail := range map[string]string{
			"/clients?on_conflict=nope":        "In clients that is id or mail.",
			"/orders?on_conflict=nope":         "In orders that is id or client_id,code.",
			order + "?on_conflict=customer_id": "In orders that is id or client_id,code.",
		} {
			if got := one.do("POST", path, `{"name":"x"}`); !strings.Contains(got.body, detail) {
				t.Errorf("%s: %s", path, got.body)
			}
		}
		s.version(2).do("POST", "/labels", `[{"text":"red"}]`).expectErrors(t, 409, "not_unique /0/text")
		s.version(2).do("POST", "/customers", `{"name":"Eve","state":"gone"}`).expectErrors(t, 422, "enum /state")
		s.do("POST", "/customers", `{"company":"Eve","fax":"1","phone":"2"}`).expectErrors(t, 422, "unknown_attribute /fax", "unknown_attribute /phone")
		s.get("/customers?count=exact").expectErrors(t, 400, "unknown_parameter count")
		s.get("/customers").expectTotal(t, "2")
	})
}
