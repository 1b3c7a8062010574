package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestTransactionOfSteps: all steps in their order, each with its resource.
func TestTransactionOfSteps(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 3)
		done := s.transaction([]string{
			step("POST", "/users", `{"id":"`+id(5)+`","name":"User 5","email":"user5@example.com","active":false}`),
			step("POST", "/users/"+id(5)+"/posts", `{"id":"`+id(10)+`","title":"One"}`),
			step("PATCH", "/users/"+id(0), `{"name":"X"}`),
			step("PUT", "/users/"+id(1), `{"name":"Y","email":"user1@example.com","active":false}`),
			step("PATCH", "/posts/"+id(10), `{"title":"Two","user_id":"`+id(0)+`"}`),
			step("DELETE", "/users/"+id(2), ""),
		})
		done.expect(t, 200, data(user(5), post(10, "One", quoted(id(5))), renamed(0, "X"), renamed(1, "Y"), post(10, "Two", quoted(id(0))), user(2)))
		s.get("/users").expect(t, 200, data(renamed(0, "X"), renamed(1, "Y"), user(5)))
		s.get("/posts").expect(t, 200, data(post(10, "Two", quoted(id(0)))))
		empty := s.transaction(nil)
		empty.expect(t, 200, data())
		empty.expectHeaders(t)
	})
}

// TestTransactionUpserts: a step may have on_conflict.
func TestTransactionUpserts(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		s.transaction([]string{
			step("POST", "/accounts?on_conflict=email", `{"id":"`+id(0)+`","email":"a","name":"A"}`),
			step("POST", "/accounts?on_conflict=email", `{"email":"a","name":"B"}`),
			step("DELETE", "/accounts/"+id(0), ""),
			step("POST", "/accounts?on_conflict=email", `{"id":"`+id(1)+`","email":"a","name":"C"}`),
		}).expect(t, 200, data(memberAt(0, `"a"`, "A", "true"), memberAt(0, `"a"`, "B", "true"), memberAt(0, `"a"`, "B", "true"), memberAt(1, `"a"`, "C", "true")))
		s.get("/accounts").expect(t, 200, data(memberAt(1, `"a"`, "C", "true")))
	})
}

// TestTransactionsAreRefused: the first refusal is the answer, and nothing happens.
func TestTransactionsAreRefused(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		s.createAll("/accounts", `{"id":"`+id(0)+`","email":"a","name":"A"}`, `{"id":"`+id(1)+`","email":"b","name":"B","other_id":"`+id(0)+`"}`)
		before := s.get("/accounts")
		good := step("POST", "/accounts", `{"id":"`+id(7)+`","email":"g","name":"G"}`)
		for _, test := range []struct {
			steps  string
			status int
			want   string
		}{
			{`{}`, 422, "type"},
			{`[1,{}]`, 422, "not_an_object /0, required /1/method, required /1/path"},
			{`[{"method":"GET","path":"/accounts"}]`, 422, "enum /0/method"},
			{`[{"method":1,"path":null,"if_match":[],"nope":1}]`, 422, "type /0/method, type /0/path, type /0/if_match, unknown_attribute /0/nope"},
			{`[{"method":"POST","path":"/accounts"},{"method":"DELETE","path":"/accounts/` + id(0) + `","body":{}}]`, 422, "required /0/body, refused /1/body"},
			{`[{"method":"DELETE","path":"/accounts/` + id(0) + `"}`, 400, "malformed_json"},
			{`[{"method":"DELETE","method":"DELETE"}]`, 400, "malformed_json /0/method"},
			{"[" + good + "," + step("POST", "/nope", `{}`) + "]", 404, "not_found /1/path"},
			{"[" + good + "," + step("POST", "accounts", `{}`) + "]", 404, "not_found /1/path"},
			{"[" + good + "," + step("POST", "/-/transaction", `{}`) + "]", 404, "not_found /1/path"},
			{"[" + good + "," + step("PATCH", "/accounts/x", `{}`) + "]", 404, "not_found /1/path"},
			{"[" + good + "," + step("PATCH", "/accounts/"+id(9), `{}`) + "]", 404, "not_found /1/path"},
			{"[" + good + "," + step("PATCH", "/accounts", `{}`) + "]", 422, "enum /1/method"},
			{"[" + good + "," + step("DELETE", "/account/"+id(0), "") + "]", 422, "enum /1/method"},
			{"[" + good + "," + step("DELETE", "/operations/"+id(0), "") + "]", 422, "enum /1/method"},
			{"[" + good + "," + step("POST", "/accounts/"+id(0), `{}`) + "]", 422, "enum /1/method"},
			{"[" + good + "," + step("POST", "/accounts?on_conflict=name", `{}`) + "]", 400, "invalid_parameter /1/path"},
			{"[" + good + "," + step("POST", "/accounts?dry_run=true", `{}`) + "]", 400, "unknown_parameter /1/path"},
			{"[" + good + "," + step("POST", "/accounts?dry_run=false&on_conflict=email", `{"email":"n","name":"N"}`) + "]", 400, "unknown_parameter /1/path"},
			{"[" + good + "," + step("POST", "/accounts?dry_run=x&limit=1", `{"name":"N"}`) + "]", 400, "unknown_parameter /1/path, unknown_parameter /1/path"},
			{"[" + good + "," + step("PATCH", "/accounts/"+id(0)+"?dry_run=false", `{"name":"X"}`) + "]", 400, "unknown_parameter /1/path"},
			{"[" + good + "," + step("PUT", "/accounts/"+id(0)+"?on_conflict=email", `{"name":"X","email":"a"}`) + "]", 400, "unknown_parameter /1/path"},
			{"[" + good + "," + step("POST", "/accounts?on_conflict=email&on_conflict=email", `{}`) + "]", 400, "duplicate_parameter /1/path"},
			{"[" + good + "," + step("DELETE", "/accounts/"+id(0)+"?filter[name]=A", "") + "]", 400, "unknown_parameter /1/path"},
			{"[" + good + "," + step("POST", "/accounts", `[]`) + "]", 422, "not_an_object /1/body"},
			{"[" + good + "," + step("POST", "/accounts?on_conflict=email", `[]`) + "]", 422, "not_an_object /1/body"},
			{"[" + good + "," + step("POST", "/accounts", `{"email":1,"nope":2}`) + "]", 422, "type /1/body/email, unknown_attribute /1/body/nope, required /1/body/name"},
			{"[" + good + "," + step("POST", "/accounts?on_conflict=email", `{"email":"new"}`) + "]", 422, "required /1/body/name"},
			{"[" + good + "," + step("PATCH", "/accounts/"+id(0), `{"name":1,"other_id":"`+id(9)+`"}`) + "]", 422, "type /1/body/name, unknown_reference /1/body/other_id"},
			{"[" + good + "," + step("PATCH", "/accounts/"+id(0), `{"email":"g"}`) + "]", 409, "not_unique /1/body/email"},
			{"[" + good + "," + step("DELETE", "/accounts/"+id(0), "") + "]", 409, "referenced /1/path"},
			// The first refusal, although the second is seen without the database.
			{"[" + step("POST", "/accounts", `{"name":"X","email":"a"}`) + "," + step("POST", "/accounts", `{}`) + "]", 409, "not_unique /0/body/email"},
			{"[" + step("POST", "/accounts", `{"name":"X","email":"a"}`) + "," + step("POST", "/nope", `{}`) + "]", 409, "not_unique /0/body/email"},
			// What was deleted before cannot be referred to.
			{"[" + good + "," + step("DELETE", "/accounts/"+id(7), "") + "," + step("PATCH", "/accounts/"+id(0), `{"other_id":"`+id(7)+`"}`) + "]", 422, "unknown_reference /2/body/other_id"},
			{"[" + strings.Repeat(step("DELETE", "/accounts/"+id(0), "")+",", 5) + good + "]", 413, "too_many_items"},
		} {
			s.expectRefusal(t, "POST", "/-/transaction", test.steps, test.status, test.want)
		}
		s.do("POST", "/-/transaction?limit=1", `[]`).expectErrors(t, 400, "unknown_parameter limit")
		s.do("POST", "/-/transaction", `[]`, "If-Match", "*").expectErrors(t, 400, "malformed_request If-Match")
		s.do("POST", "/-/transaction", `[]`, "Content-Type", "text/plain").expectErrors(t, 415, "unsupported_media_type Content-Type")
		s.get("/-/transaction").expectErrors(t, 405, "method_not_allowed")
		if after := s.get("/accounts"); after.body != before.body {
			t.Errorf("got  %s\nwant %s", after.body, before.body)
		}
		five := strings.TrimSuffix(strings.Repeat(step("PATCH", "/accounts/"+id(0), `{}`)+",", 5), ",")
		s.do("POST", "/-/transaction", "["+five+"]").expectPositions(t, "as many as are allowed", 0, 0, 0, 0, 0)
	}, func(c *plural.Config) { c.MaxItems = 5 })
}

// TestIdempotencyOfMany: the first outcome is given again.
func TestIdempotencyOfMany(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		s.createAll("/accounts", `{"id":"`+id(0)+`","email":"a","name":"A"}`)
		for i, request := range []struct{ method, path, body string }{
			{"POST", "/accounts?on_conflict=email", `{"email":"new","name":"N"}`},
			{"POST", "/accounts?on_conflict=email", `{"email":"new","name":"O"}`},
			{"POST", "/-/transaction", "[" + step("POST", "/accounts", `{"email":"t","name":"T"}`) + "]"},
			{"POST", "/-/transaction", "[" + step("POST", "/accounts", `{"email":"t","name":"T"}`) + "]"}, // 409
			{"PATCH", "/accounts?filter[email]=t", `{"email":"u"}`},
			{"DELETE", "/accounts?filter[email]=u", ""},
			{"DELETE", "/accounts?filter[email]=u", ""},
		} {
			key := fmt.Sprint("key-", i)
			first := s.do(request.method, request.path, request.body, "Idempotency-Key", key)
			again := s.do(request.method, request.path, request.body, "Idempotency-Key", key)
			if again.header.Get("Idempotency-Replayed") != "true" || again.status != first.status || again.body != first.body {
				t.Errorf("%s %s: %d %s, and again %d %s", request.method, request.path, first.status, first.body, again.status, again.body)
			}
			if i == 0 {
				s.do("POST", "/accounts", request.body, "Idempotency-Key", key).expectErrors(t, 422, "idempotency_key_reused Idempotency-Key")
			}
			path := request.path + map[bool]string{true: "&", false: "?"}[strings.Contains(request.path, "?")]
			s.do(request.method, path+"dry_run=false", request.body, "Idempotency-Key", key).expectErrors(t, 422, "idempotency_key_reused Idempotency-Key")
			s.do(request.method, path+"dry_run=true", request.body, "Idempotency-Key", "other").expectErrors(t, 400, "invalid_parameter dry_run")
		}
		s.get("/accounts?filter[email][in]=new,t,u&sort=email").expectLength(t, 1)
	})
}
