package interfacetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// What the tests of asynchronous operations share.

// teamSchema is people, who may have a friend, and their notes.
func teamSchema(t *testing.T) *schema.Schema {
	t.Helper()
	return mustSchema(t,
		schema.Collection{Name: "people", Singular: "person", NoTimestamps: true, Attributes: []schema.Attribute{
			{Name: "name", Type: schema.String, Required: true, MaxLength: 20}, {Name: "email", Type: schema.String, MaxLength: 50, Unique: true},
			{Name: "friend_id", References: &schema.Reference{Collection: "people", OnDelete: schema.SetNull}},
		}},
		schema.Collection{Name: "notes", NoTimestamps: true, Parent: &schema.Parent{Collection: "people", OnDelete: schema.Cascade}, Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}},
		schema.Collection{Name: "pages", NoTimestamps: true, RequireIfMatch: true, Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}},
	)
}

// named is a body that creates a person.
func named(position int, name string) string {
	return fmt.Sprintf(`{"id":"%s","name":"%s"}`, id(position), name)
}

// person is the representation of one with nothing but a name.
func person(position int, name string) string {
	return fmt.Sprintf(`{"id":"%s","type":"people","name":"%s","email":null,"friend_id":null}`, id(position), name)
}

// one is the envelope around a representation.
func one(representation string) string { return `{"data":` + representation + `}` }

// hung is how long a test waits for what must happen: long enough for any machine.
const hung = 5 * time.Minute

// eventually polls until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hung); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came to be that", what)
		}
	}
}

// later has a write accepted, and returns the id of its operation.
func (s *server) later(method, path, body string, headers ...string) string {
	s.t.Helper()
	accepted := s.do(method, path, body, append([]string{"Prefer", "respond-async"}, headers...)...)
	if accepted.status != 202 {
		s.t.Fatalf("%s %s %s: %d %s", method, path, body, accepted.status, accepted.body)
	}
	return accepted.operation(s.t)
}

// operation is the id of the operation that an answer leads to.
func (a answer) operation(t testing.TB) string {
	t.Helper()
	operation, ok := strings.CutPrefix(a.header.Get("Location"), "/operations/")
	if _, valid := model.ParseID(operation); !ok || !valid {
		t.Fatalf("%d %s has the Location %q", a.status, a.body, a.header.Get("Location"))
	}
	return operation
}

// finished waits for the end of an operation, and returns it.
func (s *server) finished(operation string) answer {
	s.t.Helper()
	var got answer
	eventually(s.t, "the operation "+operation+" is finished", func() bool {
		got = s.get("/operations/" + operation)
		status := got.member(s.t, "status")
		return status == `"succeeded"` || status == `"failed"`
	})
	return got
}

// expectSuccess waits for operations to succeed.
func (s *server) expectSuccess(t testing.TB, operations ...string) {
	t.Helper()
	for _, operation := range operations {
		if got := s.finished(operation); got.member(t, "status") != `"succeeded"` {
			t.Errorf("got %s", got.body)
		}
	}
}

// expectFailure waits for an operation to fail with the errors of a refusal.
func (s *server) expectFailure(t testing.TB, operation string, refusal answer) {
	t.Helper()
	got := s.finished(operation)
	if errors := `{"errors":` + got.member(t, "errors") + `}`; got.member(t, "status") != `"failed"` || refusal.status < 400 || errors != refusal.body {
		t.Errorf("got  %s %s\nwant %s", got.member(t, "status"), errors, refusal.body)
	}
}

// operation is the representation of an operation on a person that was or will be tried.
func operation(operation, status, method string, position, attempts int) string {
	return fmt.Sprintf(`{"id":"%s","type":"operations","status":"%s","method":"%s","resource":{"id":"%s","type":"people"},"errors":null,"attempts":%d,"created_at":"TIME","updated_at":"TIME"}`,
		operation, status, method, id(position), attempts)
}

// gate is a Before hook that holds changes up.
type gate struct {
	t       *testing.T
	mutex   sync.Mutex
	shut    map[string]chan struct{}
	reached map[string]bool
	passed  int // changes that came to it, held up or not
	opens   []func()
}

// hold holds the next change of a resource up until open is called.
func (g *gate) hold(position int) (open func()) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	opened := make(chan struct{})
	g.shut[id(position)] = opened
	delete(g.reached, id(position))
	open = sync.OnceFunc(func() { close(opened) })
	g.opens = append(g.opens, open)
	return open
}

// openAll lets everything pass, so that the server can stop.
func (g *gate) openAll() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, open := range g.opens {
		open()
	}
}

func (g *gate) before(ctx context.Context, change *plural.Change) error {
	g.mutex.Lock()
	g.passed++
	opened, shut := g.shut[change.ID]
	delete(g.shut, change.ID)
	g.reached[change.ID] = shut
	g.mutex.Unlock()
	if !shut {
		return nil
	}
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isReached reports whether a change of a resource is held up.
func (g *gate) isReached(position int) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.reached[id(position)]
}

// await waits until a change of a resource is held up.
func (g *gate) await(position int) {
	g.t.Helper()
	eventually(g.t, fmt.Sprint("the gate is reached for ", position), func() bool { return g.isReached(position) })
}

func (g *gate) count() int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.passed
}

// eachGated is eachStore with a gate for the changes of people.
func eachGated(t *testing.T, test func(*testing.T, *server, *gate), change ...func(*plural.Config)) {
	t.Helper()
	var g *gate
	install := func(c *plural.Config) {
		g = &gate{shut: map[string]chan struct{}{}, reached: map[string]bool{}}
		c.MaxHookTime = time.Minute
		c.Hooks = append(c.Hooks, plural.Hook{Collection: "people", Before: g.before, Timeout: time.Minute})
	}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		g.t = t
		defer g.openAll()
		test(t, s, g)
	}, append([]func(*plural.Config){install}, change...)...)
}
