package interfacetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/params"
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
		for event, err := range items.Watch(ctx, params.Where("done").Is(true)) {
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
		for event, err := range s.opened.Watch(ctx, "items", params.Where("done").Is(true), params.Since(position)) {
			if err != nil || event.Kind != plural.EventDeleted || event.ID != first.ID || !json.Valid(event.Resource) {
				t.Errorf("resumed with %s %s %s, %v", event.Kind, event.ID, event.Resource, err)
			}
			break
		}
		for event, err := range s.opened.Watch(ctx, "items", params.Since(position)) {
			if err != nil || event.Kind != plural.EventReset {
				t.Errorf("resumed without the filter: %s, %v", event.Kind, err)
			}
			break
		}
		for what, given := range map[string][]params.Param{
			"Sort": {params.Sort("name")}, "Limit": {params.Limit(3)}, "Offset": {params.Offset(3)}, "no position": {params.Since("nonsense")}, "a filter": {params.Where("nope").Is(1)},
		} {
			for _, err := range items.Watch(ctx, given...) {
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
		if _, err := items.List(ctx, params.Since(position)); err == nil {
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

// newSchemaVersion is what a migration that changes nothing does to the table of schemas. Unlike a migration, it
// does not wait for lists that are open.
const newSchemaVersion = "INSERT INTO _plural_schemas (version, at, document, numbers) SELECT version + 1, at, document, numbers FROM _plural_schemas ORDER BY version DESC LIMIT 1"

// TestWatchBeginsItsListAgain: a list that the feed could not complete is forgotten by a reset, and what was deleted
// since is not in the next one.
func TestWatchBeginsItsListAgain(t *testing.T) {
	const rows = 100
	eachStore(t, itemSchema(t), func(t *testing.T, s *server) {
		ctx := context.Background()
		items := of[Item](t, s.opened)
		large := make([]Item, rows) // so that the list is sent in several pieces
		for i := range large {
			large[i] = Item{Name: strings.Repeat("x", 1000), At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		}
		if _, err := items.CreateMany(ctx, large); err != nil {
			t.Fatal(err)
		}
		other := s.stream("/items?filter[done]=true")
		other.expect(`synced {}`)
		var got []string
		for event, err := range items.Watch(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimSpace(string(event.Kind)+" "+event.ID))
			if len(got) == 1 {
				s.sql(newSchemaVersion)
				if _, err := items.Delete(ctx, event.ID); err != nil {
					t.Fatal(err)
				}
				other.expectEnd() // all streams end together
			}
			if event.Kind == plural.EventSynced {
				break
			}
		}
		listed, err := items.List(ctx)
		if err != nil || len(listed) != rows-1 {
			t.Fatalf("%d items, %v", len(listed), err)
		}
		want := []string{"reset"}
		for _, item := range listed {
			want = append(want, "listed "+item.ID)
		}
		want = append(want, "synced")
		if at := slices.Index(got, "reset"); at < 1 || at >= rows || !slices.Equal(got[at:], want) {
			t.Errorf("reset at %d, and then\n%s\nwant\n%s", at, strings.Join(got[max(at, 0):], "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestWatchGoesOnWithANewHistory: the loop does not end, and what it adds up is the list.
func TestWatchGoesOnWithANewHistory(t *testing.T) {
	eachStore(t, itemSchema(t), func(t *testing.T, s *server) {
		ctx := context.Background()
		items := of[Item](t, s.opened)
		create := func(name string) {
			t.Helper()
			if _, err := items.Create(ctx, Item{Name: name, At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}); err != nil {
				t.Fatal(err)
			}
		}
		create("before")
		names, resets, synced := map[string]string{}, 0, 0
		for event, err := range items.Watch(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			switch event.Kind {
			case plural.EventListed, plural.EventCreated:
				if names[event.ID] != "" {
					t.Errorf("%s is known already", event.Resource.Name)
				}
				names[event.ID] = event.Resource.Name
			case plural.EventReset:
				resets++
				clear(names)
			case plural.EventSynced:
				if synced++; synced == 1 {
					if err := admin.RenewHistory(ctx, s.config.Database); err != nil {
						t.Fatal(err)
					}
					create("after")
				}
			default:
				t.Fatalf("got %s", event.Kind)
			}
			if event.Position != "" && len(names) == 2 {
				break
			}
		}
		if got := slices.Sorted(maps.Values(names)); !slices.Equal(got, []string{"after", "before"}) || resets == 0 {
			t.Errorf("got %v, %d resets", got, resets)
		}
	})
}
