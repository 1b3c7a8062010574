package interfacetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
)

// lines reads the journal.
func (s *server) lines() string {
	s.t.Helper()
	var lines []string
	for _, part := range strings.Split(s.get("/entries").body, `"line":"`)[1:] {
		line, _, _ := strings.Cut(part, `"`)
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

func TestHookBeforeChangesAndRefuses(t *testing.T) {
	hook := plural.Hook{Collection: "people", Before: func(_ context.Context, change *plural.Change) error {
		if change.Verb != plural.Create && change.ID != id(1) {
			t.Errorf("it is about %q", change.ID)
		}
		if change.Verb == plural.Delete {
			return plural.Conflict("", "People are never deleted.")
		}
		if change.Before != nil {
			t.Error("it has read the resource")
		}
		if !change.After.Has("name") {
			return nil
		}
		name := change.After.Get("name").(string)
		if name == "Nobody" {
			return plural.Invalid("/name", "Everybody is somebody.")
		}
		return change.After.Set("slug", strings.ToLower(name))
	}}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		s.do("POST", "/people", `{"id":"`+id(1)+`","name":"Ada"}`).expect(t, 201, `{"data":{"id":"`+id(1)+`","type":"people","name":"Ada","slug":"ada"}}`)
		s.do("PATCH", "/people/"+id(1), `{"name":"Bob"}`).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Bob","slug":"bob"}}`)
		s.do("PATCH", "/people/"+id(1), `{"slug":"b"}`).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Bob","slug":"b"}}`)
		s.do("POST", "/people", `[{"name":"Eve"},{"name":"Nobody"}]`).expect(t, 422, `{"errors":[{"status":422,"code":"refused","title":"Refused by a rule of this server","detail":"Everybody is somebody.","source":{"pointer":"/1/name"}}]}`)
		s.do("DELETE", "/people/"+id(1), "").expectErrors(t, 409, "conflict")
		s.get("/people").expect(t, 200, `{"data":[{"id":"`+id(1)+`","type":"people","name":"Bob","slug":"b"}]}`)
	}, withHooks(hook))
}

func TestHookWithinIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	journal := func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
		before, after := "-", "-"
		if change.Before != nil {
			before = change.Before.Get("name").(string)
		}
		entry := map[string]any{}
		if change.After != nil {
			after = change.After.Get("name").(string)
			entry["person_id"] = change.After.ID() // which is not stored yet when it is new
		}
		entry["line"] = fmt.Sprintf("%s %s %s", change.Verb, before, after)
		if _, err := tx.Create("entries", entry); err != nil {
			return err
		}
		if after == "Eve" {
			others, err := tx.List("entries", params.Where("line").StartsWith("create"), params.Limit(-10))
			if err != nil {
				return err
			}
			return plural.Conflict("/name", "Eve cannot come: %d have come.", len(others)-1)
		}
		if change.After != nil {
			return change.After.Set("slug", strings.ToUpper(after))
		}
		return nil
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		s.do("POST", "/people", `{"id":"`+id(1)+`","name":"Ada"}`).expect(t, 201, `{"data":{"id":"`+id(1)+`","type":"people","name":"Ada","slug":"ADA"}}`)
		s.do("PUT", "/people/"+id(1), `{"name":"Ada","slug":"ADA"}`).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Ada","slug":"ADA"}}`)
		s.do("PATCH", "/people/"+id(1), `{"name":"Bob"}`).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Bob","slug":"BOB"}}`)
		s.do("PATCH", "/people/"+id(1), `{"name":"Eve"}`).expect(t, 409, `{"errors":[{"status":409,"code":"conflict","title":"In conflict with a rule of this server","detail":"Eve cannot come: 0 have come.","source":{"pointer":"/name"}}]}`)
		s.do("POST", "/people", `[{"name":"Cyd"},{"name":"Eve"}]`).expectErrors(t, 409, "conflict /1/name")
		s.do("DELETE", "/people/"+id(1), "").expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Bob","slug":"BOB"}}`)
		if got, want := s.lines(), "create - Ada; update Ada Bob; delete Bob -"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := s.get("/entries").header.Get("X-Total-Count"); got != "3" {
			t.Errorf("the total is %s", got)
		}
	}, withHooks(plural.Hook{Collection: "people", Within: journal}))
}

func TestHookAfterSeesWhatWasCommitted(t *testing.T) {
	var mutex sync.Mutex
	var seen []string
	note := func(_ context.Context, change *plural.Change) {
		mutex.Lock()
		defer mutex.Unlock()
		resource := change.After
		if resource == nil {
			resource = change.Before
		}
		seen = append(seen, fmt.Sprintf("%s %s %v", change.Verb, change.Collection, resource.Get("person_id")))
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		seen = nil
		s.create("/people", `{"id":"`+id(1)+`","name":"Ada"}`)
		s.create("/notes", `{"id":"`+id(2)+`","person_id":"`+id(1)+`"}`)
		s.create("/tasks", `{"id":"`+id(3)+`","person_id":"`+id(1)+`"}`)
		s.do("POST", "/notes", `{"id":"`+id(2)+`"}`).expectErrors(t, 409, "id_exists /id")
		s.do("DELETE", "/people/"+id(1), "")
		want := "create notes " + id(1) + ", create tasks " + id(1) + ", update tasks <nil>, delete notes " + id(1)
		if got := strings.Join(seen, ", "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}, withHooks(plural.Hook{Collection: "notes", After: note}, plural.Hook{Collection: "tasks", After: note}))
}

// A hook that goes wrong fails its own request, and the server goes on.
func TestFailingHookDoesNotAffectOthers(t *testing.T) {
	type use struct{ tx *plural.Tx }
	hung := make(chan use, 10)
	release := make(chan struct{})
	defer close(release)
	// Those of people have all the time that they need, and the others always hang.
	panics := func(change *plural.Change, moment string) {
		if change.After.Get("name") == "panic "+moment {
			panic("on purpose")
		}
	}
	hang := func(tx *plural.Tx) error {
		hung <- use{tx}
		<-release
		return nil
	}
	const short = 100 * time.Millisecond
	creates := []plural.Verb{plural.Create}
	hooks := []plural.Hook{
		{
			Collection: "people", On: creates,
			Before: func(_ context.Context, change *plural.Change) error {
				panics(change, "before")
				return nil
			},
			Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
				panics(change, "within")
				return nil
			},
			After: func(_ context.Context, change *plural.Change) { panics(change, "after") },
		},
		{Collection: "entries", On: creates, Timeout: short, Before: func(context.Context, *plural.Change) error { return hang(nil) }},
		{Collection: "tasks", On: creates, Timeout: short, Within: func(_ context.Context, tx *plural.Tx, _ *plural.Change) error { return hang(tx) }},
		{Collection: "notes", On: creates, Timeout: short, After: func(context.Context, *plural.Change) { _ = hang(nil) }},
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		for _, each := range []struct {
			path, body string
			want       int
		}{
			{"/people", `{"name":"panic before"}`, 500}, {"/people", `{"name":"panic within"}`, 500}, {"/people", `{"name":"panic after"}`, 201},
			{"/entries", `{}`, 503}, {"/tasks", `{}`, 503}, {"/notes", `{}`, 201},
		} {
			if got := s.do("POST", each.path, each.body); got.status != each.want {
				t.Errorf("%s %s: %d %s", each.path, each.body, got.status, got.body)
			}
			if got := s.do("POST", "/people", `{"name":"fine"}`); got.status != 201 {
				t.Errorf("after %s %s: %d %s", each.path, each.body, got.status, got.body)
			}
		}
		for path, want := range map[string]string{"/people": "7", "/entries": "0", "/tasks": "0", "/notes": "1"} {
			if got := s.get(path).header.Get("X-Total-Count"); got != want {
				t.Errorf("%s of %s were stored, want %s", got, path, want)
			}
		}
		for range 3 {
			if late := <-hung; late.tx != nil {
				if _, err := late.tx.Create("people", map[string]any{"name": "too late"}); err == nil {
					t.Error("a hook wrote after its time")
				}
			}
		}
	}, withHooks(hooks...))
}

func TestRecursiveHooksAreLimited(t *testing.T) {
	hook := plural.Hook{Collection: "entries", On: []plural.Verb{plural.Create}, Within: func(_ context.Context, tx *plural.Tx, _ *plural.Change) error {
		_, err := tx.Create("entries", map[string]any{"line": "again"})
		return err
	}}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		s.do("POST", "/entries", `{}`).expectErrors(t, 500, "internal")
		s.get("/entries").expect(t, 200, `{"data":[]}`)
	}, withHooks(hook))
}
