package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestChangeLog looks at what the log stores, reads it, and removes it.
func TestChangeLog(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachStore(t, s, func(t *testing.T, st *Store) {
		now := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
		st.now = func() time.Time { return now }
		st.clock = func(db.Conn) (time.Time, error) { return now, nil }
		ada := insert(t, st, users, `{"id":"00000000-0000-7000-8000-000000000001","name":"Ada","email":"ada@example.com"}`)
		renamed := slices.Clone(ada)
		renamed[users.Field("name").Column] = model.TextValue("Ada L.")
		now = now.Add(time.Hour)
		write(t, st, func(tx *Tx) error { _, err := tx.Update(users, ada, renamed); return err })
		now = now.Add(time.Hour)
		write(t, st, func(tx *Tx) error { _, err := tx.Delete(users, renamed); return err })

		want := []string{
			`1 4 created 2026-01-02T03:04:05.006Z 1 `,
			`2 4 updated 2026-01-02T04:04:05.006Z 1 {"5":"Ada"}`,
			`3 4 deleted 2026-01-02T05:04:05.006Z 1 {"5":"Ada L.","6":"ada@example.com","7":true,"1":"2026-01-02T03:04:05.006Z","2":"2026-01-02T03:04:05.006Z"}`,
		}
		if got := storedChanges(t, st); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		representation := func(name string) string {
			return `{"id":"00000000-0000-7000-8000-000000000001","type":"users","name":"` + name +
				`","email":"ada@example.com","active":true,"created_at":"2026-01-02T03:04:05.006Z","updated_at":"2026-01-02T03:04:05.006Z"}`
		}
		sequence(t, st)
		read(t, st, func(tx *Tx) {
			told := tell(t, tx, changelog.Query{Most: 10})
			want := []string{
				"1 users created 2026-01-02T03:04:05.006Z null -> " + representation("Ada"),
				"2 users updated 2026-01-02T04:04:05.006Z " + representation("Ada") + " -> " + representation("Ada L."),
				"3 users deleted 2026-01-02T05:04:05.006Z " + representation("Ada L.") + " -> null",
				"last 3",
			}
			if !slices.Equal(told, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
			}
			deleted, err := tx.Deleted(users, ada.ID(model.IDColumn))
			renamed[users.RevisionColumn()] = model.Null // not known
			if err != nil || !slices.Equal(deleted, renamed) {
				t.Errorf("remembered %s, %v", users.Append(nil, deleted), err)
			}
			if bounds, err := tx.Bounds(); bounds.Floor != 0 || bounds.FloorAt != "" || err != nil {
				t.Errorf("the floor is %d, %s, %v", bounds.Floor, bounds.FloorAt, err)
			}
		})

		now = now.Add(30 * time.Minute)
		if err := st.DeleteOldChanges(context.Background(), 90*time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := storedChanges(t, st); !slices.Equal(got, want[1:]) {
			t.Errorf("after the removal: got\n%s", strings.Join(got, "\n"))
		}
		if err := st.DeleteOldChanges(context.Background(), time.Minute); err != nil {
			t.Fatal(err)
		}
		read(t, st, func(tx *Tx) {
			if deleted, err := tx.Deleted(users, ada.ID(model.IDColumn)); deleted != nil || err != nil {
				t.Errorf("still remembered: %v, %v", deleted, err)
			}
			if bounds, err := tx.Bounds(); bounds.Floor != 3 || bounds.FloorAt != "2026-01-02T05:04:05.006Z" || err != nil {
				t.Errorf("the floor is %d, %s, %v", bounds.Floor, bounds.FloorAt, err)
			}
		})
		// Revisions go on where they were, also when the log is empty.
		next := insert(t, st, users, `{"name":"Bob","email":"bob@example.com"}`)
		if got := next.Int(users.RevisionColumn()); got != 4 {
			t.Errorf("the next revision is %d", got)
		}
	})
}

// TestLogIsAPrefixShorter: a change with a later time keeps those behind it in the log, however
// old these say they are, so that the log never has a hole.
func TestLogIsAPrefixShorter(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachStore(t, s, func(t *testing.T, st *Store) {
		begin := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
		var hour int
		st.now = func() time.Time { return begin.Add(time.Duration(hour) * time.Hour) }
		st.clock = func(db.Conn) (time.Time, error) { return begin.Add(5 * time.Hour), nil }
		for i, each := range []int{1, 2, 9, 1, 2} {
			hour = each
			insert(t, st, users, fmt.Sprintf(`{"name":"A","email":"%d@example.com"}`, i))
		}
		sequence(t, st)
		if err := st.DeleteOldChanges(context.Background(), time.Hour); err != nil {
			t.Fatal(err)
		}
		read(t, st, func(tx *Tx) {
			entries, _, _, err := tx.Log(changelog.Query{Most: 10})
			var revisions []int64
			for _, e := range entries {
				revisions = append(revisions, e.Revision)
			}
			if err != nil || !slices.Equal(revisions, []int64{3, 4, 5}) {
				t.Errorf("left %v, %v", revisions, err)
			}
			if bounds, err := tx.Bounds(); bounds.Floor != 2 || bounds.FloorAt != "2026-01-02T02:00:00.000Z" || err != nil {
				t.Errorf("the floor is %d, %s, %v", bounds.Floor, bounds.FloorAt, err)
			}
		})
	})
}

func sequence(t *testing.T, st *Store) {
	t.Helper()
	if _, err := st.AssignNumbers(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// tell reads the log as text.
func tell(t *testing.T, tx *Tx, q changelog.Query) (lines []string) {
	t.Helper()
	entries, last, more, err := tx.Log(q)
	if err != nil {
		t.Fatal(err)
	}
	state := func(e changelog.Entry, r model.Record) string {
		if r == nil {
			return "null"
		}
		return string(e.Collection.Append(nil, r))
	}
	for _, e := range entries {
		lines = append(lines, fmt.Sprintf("%d %s %s %s %s -> %s", e.Number, e.Collection.Name, e.Kind, e.At.Text(), state(e, e.Before), state(e, e.After)))
	}
	return append(lines, fmt.Sprint("last ", last, db.Choose(more, " and more", "")))
}

func storedChanges(t *testing.T, st *Store) []string {
	t.Helper()
	var lines []string
	read(t, st, func(tx *Tx) {
		err := db.Each(tx.conn, func(row model.Row) {
			text := func(column int) []byte { return row.AppendText(nil, column) }
			lines = append(lines, fmt.Sprintf("%d %d %s %s %d %s", row.Int(0), row.Int(1), text(2), text(3), row.Int(4), text(5)))
		}, "SELECT revision, collection, kind, at, schema, previous FROM "+db.ChangesTable+" ORDER BY revision")
		if err != nil {
			t.Fatal(err)
		}
	})
	return lines
}

// TestLogWithinBytes reads a log in parts, which together are the whole log. A part is no larger than
// its bound, but for its last change.
func TestLogWithinBytes(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	posts := s.Collection("posts")
	eachStore(t, s, func(t *testing.T, st *Store) {
		body := func(i int) string {
			switch {
			case i%50 == 49, i > 120 && i < 140:
				return strings.Repeat("b", 10_000)
			}
			return strings.Repeat("a", 1+30*(i%4))
		}
		var last model.Record
		for i := range 140 {
			last = insert(t, st, posts, fmt.Sprintf(`{"title":"a","body":"%s"}`, body(i)))
		}
		for i := range 20 { // updates of a resource, which is then large
			write(t, st, func(tx *Tx) error {
				before, err := tx.Get(posts, nil, last.ID(model.IDColumn))
				if err != nil {
					return err
				}
				after := slices.Clone(before)
				after[posts.Field("title").Column] = model.TextValue(fmt.Sprint(i))
				after[posts.Field("body").Column] = model.TextValue(strings.Repeat("c", 10_000))
				_, err = tx.Update(posts, before, after)
				return err
			})
		}
		sequence(t, st)
		read(t, st, func(tx *Tx) {
			whole, _, _, err := tx.Log(changelog.Query{Most: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range []changelog.Query{{Most: 1000, Bytes: 4000}, {Most: 7, Bytes: 4000}, {Most: 1000, Bytes: 4000, Collection: posts}, {Most: 1000, Bytes: 25_000, Backwards: true}, {Most: 1000, Bytes: 1}, {Most: 1000, Bytes: 4000, Expected: 1}} {
				var parts []changelog.Entry
				for more := true; more; {
					var entries []changelog.Entry
					var last int64
					if entries, last, more, err = tx.Log(q); err != nil {
						t.Fatal(err)
					}
					bytes := 0
					for _, e := range entries[:max(0, len(entries)-1)] {
						bytes += e.Before.TextSize() + e.After.TextSize()
					}
					if len(entries) == 0 || len(entries) > q.Most || bytes >= q.Bytes || last != entries[len(entries)-1].Number || more != (len(parts)+len(entries) < len(whole)) {
						t.Fatalf("%+v: a part of %d changes and %d bytes, more %v", q, len(entries), bytes, more)
					}
					if parts = append(parts, entries...); q.Backwards {
						q.Before = last
					} else {
						q.After = last
					}
				}
				if q.Backwards {
					slices.Reverse(parts)
				}
				if !reflect.DeepEqual(parts, whole) {
					t.Errorf("%+v: the parts have %d changes, the log %d", q, len(parts), len(whole))
				}
			}
		})
	})
}
