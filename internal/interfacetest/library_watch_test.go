package interfacetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
)

// TestWatch: a program follows a collection, resumes, and is told when the server stops.
func TestWatch(t *testing.T) {
	eachStore(t, itemSchema(t), func(t *testing.T, s *server) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
		defer cancel()
		items := of[Item](t, s.opened)
		create := func(name string, done bool) Item {
			t.Helper()
			item, err := items.Create(ctx, Item{Name: name, Done: done, At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
			if err != nil {
				t.Fatal(err)
			}
			return item
		}
		first := create("first", true)
		create("other", false)
		var told []string
		var second Item
		var position string
		for event, err := range items.Watch(ctx, plural.Where("done").Is(true)) {
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("%s %s", event.Kind, event.Resource.Name)
			for name, value := range event.Previous {
				line += " " + name + "=" + string(value)
			}
			told = append(told, line)
			if (event.Change == nil) == (event.Kind != plural.EventListed && event.Kind != plural.EventSynced && event.Kind != plural.EventLeft) {
				t.Errorf("%s has the change %+v", event.Kind, event.Change)
			}
			change := func(id string, values map[string]any) {
				if _, err := items.Update(ctx, id, values); err != nil {
					t.Fatal(err)
				}
			}
			switch event.Kind {
			case plural.EventSynced:
				second = create("second", true)
			case plural.EventCreated:
				change(first.ID, map[string]any{"name": "renamed"})
			case plural.EventUpdated:
				change(second.ID, map[string]any{"done": false})
			case plural.EventLeft:
				if event.ID != second.ID {
					t.Errorf("%s left, and not %s", event.ID, second.ID)
				}
				change(second.ID, map[string]any{"done": true})
			case plural.EventEntered:
				if _, err := items.Delete(ctx, first.ID); err != nil {
					t.Fatal(err)
				}
				position = event.Position
			}
			if event.Kind == plural.EventDeleted {
				break
			}
		}
		want := "listed first, synced , created second, updated renamed name=\"first\", left , entered second, deleted renamed"
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		for event, err := range s.opened.Watch(ctx, "items", plural.Where("done").Is(true), plural.Since(position)) {
			if err != nil || event.Kind != plural.EventDeleted || event.ID != first.ID || !json.Valid(event.Resource) {
				t.Errorf("resumed with %s %s %s, %v", event.Kind, event.ID, event.Resource, err)
			}
			break
		}
		for event, err := range s.opened.Watch(ctx, "items", plural.Since(position)) {
			if err != nil || event.Kind != plural.EventReset {
				t.Errorf("resumed without the filter: %s, %v", event.Kind, err)
			}
			break
		}
		for what, params := range map[string][]plural.Param{
			"Sort": {plural.Sort("name")}, "Limit": {plural.Limit(3)}, "Offset": {plural.Offset(3)}, "no position": {plural.Since("nonsense")}, "a filter": {plural.Where("nope").Is(1)},
		} {
			for _, err := range items.Watch(ctx, params...) {
				if err == nil {
					t.Errorf("Watch takes %s", what)
				}
			}
		}
		for _, err := range s.opened.Watch(ctx, "nothing") {
			if err == nil {
				t.Error("a collection that does not exist is watched")
			}
		}
		if _, err := items.List(ctx, plural.Since(position)); err == nil {
			t.Error("a list takes Since")
		}
		var last error
		for event, err := range items.Watch(ctx) {
			if last = err; event.Kind == plural.EventSynced {
				go func() { _ = s.opened.Stop(context.Background()) }()
			}
		}
		if !errors.Is(last, plural.ErrStopped) {
			t.Errorf("when the server stops: %v", last)
		}
	})
}

// TestWatchPanics: a loop whose body panics leaves no stream behind.
func TestWatchPanics(t *testing.T) {
	eachStore(t, itemSchema(t), func(t *testing.T, s *server) {
		items := of[Item](t, s.opened)
		func() {
			defer func() { _ = recover() }()
			for range items.Watch(context.Background()) {
				panic("in the body")
			}
		}()
		if text := s.get("/-/metrics").body; !strings.Contains(string(text), "plural_streams 0\n") {
			t.Errorf("a stream is left over: %s", text)
		}
	})
}
