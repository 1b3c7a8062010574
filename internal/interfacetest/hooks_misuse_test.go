package interfacetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/plural-go/plural"
)

// A hook may return one and the same error for every request.
func TestHookErrorsAreNotChanged(t *testing.T) {
	refusal := plural.Invalid("name", "No.")
	hook := plural.Hook{Collection: "people", Within: func(context.Context, *plural.Tx, *plural.Change) error { return refusal }}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		for range 2 {
			s.do("POST", "/people", `[{"name":"a"}]`).expectErrors(t, 422, "refused /0/name")
			s.do("POST", "/people", `{"name":"a"}`).expectErrors(t, 422, "refused /name")
		}
	}, withHooks(hook))
}

// What a hook puts back when it should be let go fails, and does not go on for ever.
func TestHookThatKeepsAReferenceToADeletedResource(t *testing.T) {
	keep := func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
		return change.After.Set("person_id", change.Before.Get("person_id"))
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		s.create("/people", `{"id":"`+id(1)+`","name":"Ada"}`)
		s.create("/tasks", `{"id":"`+id(2)+`","person_id":"`+id(1)+`"}`)
		s.do("DELETE", "/people/"+id(1), "").expectErrors(t, 500, "internal")
		s.get("/tasks").expect(t, 200, `{"data":[{"id":"`+id(2)+`","type":"tasks","person_id":"`+id(1)+`"}]}`)
	}, withHooks(plural.Hook{Collection: "tasks", On: []plural.Verb{plural.Update}, Within: keep}))
}

// A write through the transaction that fails is undone, although the hook goes on.
func TestFailedWriteOfAHookIsUndone(t *testing.T) {
	var after []string
	swallow := func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
		if _, err := tx.Create("entries", map[string]any{"line": "lost", "person_id": id(9)}); err == nil {
			t.Error("a reference to nothing was accepted")
		}
		_, err := tx.Create("entries", map[string]any{"line": "kept"})
		return err
	}
	note := func(_ context.Context, change *plural.Change) {
		after = append(after, fmt.Sprint(change.After.Get("line")))
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		after = nil
		s.create("/people", `{"name":"Ada"}`)
		if got := s.lines(); got != "kept" || fmt.Sprint(after) != "[kept]" {
			t.Errorf("stored %s, after %v", got, after)
		}
		if got := s.get("/entries").header.Get("X-Total-Count"); got != "1" {
			t.Errorf("the total is %s", got)
		}
	}, withHooks(plural.Hook{Collection: "people", Within: swallow}, plural.Hook{Collection: "entries", After: note}))
}

// A hook of a child that changes the parent does not keep the parent from being
// deleted together with the child.
func TestHookMayChangeResourcesOfACascade(t *testing.T) {
	rename := func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
		if err := change.Before.Set("text", "x"); err == nil {
			t.Error("what is stored was changed")
		}
		_, err := tx.Update("people", change.Before.Get("person_id").(string), map[string]any{"slug": "childless"})
		return err
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		s.create("/people", `{"id":"`+id(1)+`","name":"Ada"}`)
		s.create("/notes", `{"person_id":"`+id(1)+`"}`)
		s.do("DELETE", "/people/"+id(1), "").expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Ada","slug":"childless"}}`)
		s.get("/notes").expect(t, 200, `{"data":[]}`)
	}, withHooks(plural.Hook{Collection: "notes", On: []plural.Verb{plural.Delete}, Within: rename}))
}
