package interfacetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// What several servers on one database promise together.

// startGated runs a server with one worker and a gate for the changes of people.
func startGated(t *testing.T) (*server, *gate) {
	t.Helper()
	g := &gate{t: t, shut: map[string]chan struct{}{}, reached: map[string]bool{}}
	s := start(t, teamSchema(t), pgtest.URL(t), func(c *plural.Config) {
		c.Workers, c.MaxHookTime = 1, time.Minute
		c.Hooks = []plural.Hook{{Collection: "people", Before: g.before, Timeout: time.Minute}}
	})
	t.Cleanup(g.openAll)
	return s, g
}

func withoutHooks(c *plural.Config) { c.Hooks = nil }

// inBackground sends a request, whose answer comes later.
func inBackground(send func() answer) <-chan answer {
	answered := make(chan answer, 1)
	go func() { answered <- send() }()
	return answered
}

// TestWaitSeesWhatAnotherServerDoes: the one that was asked is busy, so the other
// carries the operations out.
func TestWaitSeesWhatAnotherServerDoes(t *testing.T) {
	s, g := startGated(t)
	g.hold(9)
	s.later("POST", "/people", named(9, "Slow"))
	g.await(9)
	s.another(withoutHooks)
	const waiting = "respond-async, wait=300"
	created := s.do("POST", "/people", named(1, "One"), "Prefer", waiting)
	created.expect(t, 201, one(person(1, "One")))
	created.expectHeaders(t, tagged, "Location: /people/"+id(1), "Preference-Applied: "+waiting)
	patched := s.do("PATCH", "/people/"+id(1), `{"name":"Two"}`, "Prefer", waiting)
	patched.expect(t, 200, one(person(1, "Two")))
	patched.expectHeaders(t, tagged, "Preference-Applied: "+waiting)
	// The check at once does not see what another operation is about to do.
	s.later("PATCH", "/people/"+id(1), `{"email":"a@example.com"}`)
	s.do("POST", "/people", `{"name":"Other","email":"a@example.com"}`, "Prefer", waiting).expectErrors(t, 409, "not_unique /email")
	deleted := s.do("DELETE", "/people/"+id(1), "", "Prefer", waiting)
	deleted.expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Two","email":"a@example.com","friend_id":null}}`)
	deleted.expectHeaders(t, "Preference-Applied: "+waiting)
}

// TestKeyIsInUseOnEveryServer while its first request waits for its operation.
func TestKeyIsInUseOnEveryServer(t *testing.T) {
	s, g := startGated(t)
	open := g.hold(1)
	headers := []string{"Prefer", "respond-async, wait=300", "Idempotency-Key", "k"}
	first := inBackground(func() answer { return s.do("POST", "/people", named(1, "One"), headers...) })
	g.await(1)
	other := s.another(withoutHooks)
	for _, each := range []*server{s, other} {
		each.do("POST", "/people", named(1, "One"), headers...).expectErrors(t, 409, "idempotency_key_in_use Idempotency-Key")
	}
	open()
	answered := <-first
	answered.expect(t, 201, one(person(1, "One")))
	for _, each := range []*server{s, other} {
		again := each.do("POST", "/people", named(1, "One"), headers...)
		again.expect(t, 201, answered.body)
		again.expectHeaders(t, tagged, "Idempotency-Replayed: true", "Location: /people/"+id(1), "Preference-Applied: respond-async, wait=300")
	}
}

// TestKeyIsInUseDuringATransaction: the other server does not wait for its end.
func TestKeyIsInUseDuringATransaction(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	s := start(t, teamSchema(t), pgtest.URL(t), func(c *plural.Config) {
		c.Hooks = []plural.Hook{{Collection: "people", Timeout: time.Minute, Within: func(context.Context, *plural.Tx, *plural.Change) error {
			close(inside)
			<-leave
			return nil
		}}}
	})
	other := s.another(withoutHooks)
	first := inBackground(func() answer { return s.do("POST", "/people", named(1, "One"), "Idempotency-Key", "k") })
	<-inside
	other.do("POST", "/people", named(1, "One"), "Idempotency-Key", "k").expectErrors(t, 409, "idempotency_key_in_use Idempotency-Key")
	close(leave)
	(<-first).expect(t, 201, one(person(1, "One")))
	again := other.do("POST", "/people", named(1, "One"), "Idempotency-Key", "k")
	again.expect(t, 201, one(person(1, "One")))
	again.expectHeaders(t, tagged, "Idempotency-Replayed: true", "Location: /people/"+id(1))
}

// TestServersOfTwoSchemas: an older one leaves alone what it does not understand, and a
// newer one understands the ETags that the older one gave.
func TestServersOfTwoSchemas(t *testing.T) {
	jobs := func(more ...schema.Attribute) *schema.Schema {
		return mustSchema(t, schema.Collection{Name: "jobs", NoTimestamps: true, Attributes: append([]schema.Attribute{{Name: "n", Type: schema.Integer}}, more...)})
	}
	older := start(t, jobs(), pgtest.URL(t))
	newer := older.another(func(c *plural.Config) { c.Schema = jobs(schema.Attribute{Name: "s", Type: schema.String}) })
	var operations []string
	for i := range 30 {
		operations = append(operations, newer.later("POST", "/jobs", fmt.Sprintf(`{"id":"%s","n":1,"s":"new"}`, id(i))))
	}
	newer.expectSuccess(t, operations...)
	operations = nil
	for i := range 30 {
		tag := older.get("/jobs/" + id(i)).tag(t)
		operations = append(operations, older.later("PATCH", "/jobs/"+id(i), `{"n":2}`, "If-Match", tag))
	}
	for i := range 30 {
		tag := newer.get("/jobs/" + id(i)).tag(t)
		if status := newer.do("PATCH", "/jobs/"+id(i), `{"s":"newer"}`, "If-Match", tag, "Prefer", "respond-async").status; status != 202 && status != 412 {
			t.Errorf("got %d", status)
		}
	}
	newer.expectSuccess(t, operations...)
}

// TestReadinessOfAnOlderServer: it says why requests should go elsewhere.
func TestReadinessOfAnOlderServer(t *testing.T) {
	jobs := func(more ...schema.Attribute) *schema.Schema {
		return mustSchema(t, schema.Collection{Name: "jobs", NoTimestamps: true, Attributes: append([]schema.Attribute{{Name: "n", Type: schema.Integer}}, more...)})
	}
	older := start(t, jobs(), pgtest.URL(t))
	older.awaitReady().expect(t, 200, `{"status":"ready"}`)
	older.another(func(c *plural.Config) {
		c.Schema = jobs(schema.Attribute{Name: "s", Type: schema.String, Required: true}) // which the older server would not set
	})
	const detail = "The schema of the database has changed since the server was started. Restart the server with that schema."
	var ready answer
	eventually(t, "the server knows of the schema", func() bool { // a result is cached, and a busy database may be another reason
		ready = older.get("/-/ready")
		return strings.Contains(ready.body, detail)
	})
	ready.expect(t, 503, `{"status":"unavailable","detail":"`+detail+`"}`)
	older.do("POST", "/jobs", `{"n":1}`).expect(t, 503, `{"errors":[{"status":503,"code":"unavailable","title":"Not available at the moment","detail":"`+detail+`"}]}`)
}
