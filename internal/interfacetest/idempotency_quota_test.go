package interfacetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
)

// TestIdempotencyQuota: what is kept for repetitions is bounded. A write that has no room is refused, and nothing of it happens,
// whichever way it is sent; without a key it succeeds. What is kept is given again, and there is room again when it expires.
func TestIdempotencyQuota(t *testing.T) {
	const quota = 4 << 10
	full := "idempotency_full Idempotency-Key"
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		var people []string
		for i := range 20 {
			people = append(people, named(i, "One"))
		}
		s.createAll("/people", people...)
		before := s.get("/people")
		range20 := func(key, body string) answer { return s.do("PATCH", "/people?offset=0", body, "Idempotency-Key", key) }
		first := range20("first", `{}`) // two of these have no room
		first.expect(t, 200, before.body)
		refused := range20("second", `{}`)
		refused.expect(t, 413, `{"errors":[{"status":413,"code":"idempotency_full","title":"Too many responses are kept for repetitions","detail":"The response of this request must be kept for repetitions, but the responses that are kept for you would have more than 4096 bytes together. `+
			`Nothing was written. Change fewer resources at once, or send no Idempotency-Key. Responses are kept for a limited time.","source":{"header":"Idempotency-Key"}}]}`)
		range20("third", `{"name":"Two"}`).expectErrors(t, 413, full)
		var steps []string
		for i := range 20 {
			steps = append(steps, step("PATCH", "/people/"+id(i), `{"name":"Two"}`))
		}
		s.transaction(steps, "Idempotency-Key", "steps").expectErrors(t, 413, full)
		large := `{"id":"` + id(90) + `","text":"` + strings.Repeat("x", quota) + `"}`
		s.do("POST", "/people/"+id(0)+"/notes", large, "Idempotency-Key", "large").expectErrors(t, 413, full)
		s.get("/people").expect(t, 200, before.body)
		s.get("/notes").expect(t, 200, data())

		// Only the acceptance has room: it is what is kept, and what is answered.
		later := []string{"Prefer", "respond-async, wait=300", "Idempotency-Key", "later"}
		accepted := s.do("POST", "/people/"+id(0)+"/notes", large, later...)
		accepted.expect(t, 202, `{"data":{"id":"`+id(90)+`","type":"notes"}}`)
		s.expectSuccess(t, accepted.operation(t))
		s.do("POST", "/people/"+id(0)+"/notes", large, later...).expectReplay(t, accepted)

		range20("first", `{}`).expectReplay(t, first)
		small := answer{status: 404} // kept as well, until there is no room for it either
		for i := 0; small.status == 404 && i < quota/100; i++ {
			small = s.do("DELETE", "/people/"+id(99), "", "Idempotency-Key", fmt.Sprint("small", i), "Prefer", "respond-async")
		}
		small.expectErrors(t, 413, full)
		s.do("PATCH", "/people?offset=0", `{"name":"Two"}`).expect(t, 200, strings.ReplaceAll(before.body, "One", "Two"))
		s = s.restart(context.Background(), func(c *plural.Config) { c.IdempotencyQuota = quota })
		range20("third", `{}`).expectErrors(t, 413, full)
		s = s.restart(context.Background(), func(c *plural.Config) { c.IdempotencyQuota, c.IdempotencyRetention = quota, time.Nanosecond })
		eventually(t, "there is room again", func() bool { return range20("fourth", `{}`).status == 200 })
	}, func(c *plural.Config) { c.IdempotencyQuota = quota })
}
