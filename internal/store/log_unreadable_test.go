package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestUnreadableEntries: an entry that cannot be read makes the states of its resource unknown, up to there and not
// beyond a deletion, wherever the log is read from. Nothing else is affected.
func TestUnreadableEntries(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	name := users.Field("name").Column
	eachStore(t, s, func(t *testing.T, st *Store) {
		create := func(id, name string) model.Record {
			return insert(t, st, users, fmt.Sprintf(`{"id":"00000000-0000-7000-8000-00000000000%s","name":"%s","email":"%s@example.com"}`, id, name, id))
		}
		rename := func(r model.Record, to string) model.Record {
			renamed := slices.Clone(r)
			renamed[name] = model.TextValue(to)
			write(t, st, func(tx *Tx) error { _, err := tx.Update(users, r, renamed); return err })
			return renamed
		}
		first, second := create("1", "A"), create("2", "B") // 1, 2
		first = rename(first, "A2")                         // 3
		write(t, st, func(tx *Tx) error { _, err := tx.Delete(users, first); return err })
		first = create("1", "A3")                            // 5
		first, _ = rename(first, "A4"), rename(second, "B2") // 6, 7
		rename(first, "A5")                                  // 8
		sequence(t, st)
		for _, c := range []struct {
			damage string
			at     int64
			want   []string
		}{
			{"kind = kind", 1, []string{"1 -A", "2 -B", "3 A-A2", "4 A2-", "5 -A3", "6 A3-A4", "7 B-B2", "8 A4-A5"}},
			{"previous = '{'", 6, []string{"1 -A", "2 -B", "3 A-A2", "4 A2-", "5 ?6", "6 ?6", "7 B-B2", "8 A4-A5"}},
			{"previous = ''", 4, []string{"1 ?4", "2 -B", "3 ?4", "4 ?4", "5 ?6", "6 ?6", "7 B-B2", "8 A4-A5"}},
			{"kind = 'moved'", 8, []string{"1 ?4", "2 -B", "3 ?4", "4 ?4", "5 ?8", "6 ?8", "7 B-B2", "8 ?8"}},
		} {
			write(t, st, func(tx *Tx) error {
				return db.ExecAll(tx.conn, fmt.Sprintf("UPDATE %s SET %s WHERE revision = %d", db.ChangesTable, c.damage, c.at))
			})
			read(t, st, func(tx *Tx) {
				if got := readable(t, tx, 10, users, name); !slices.Equal(got, c.want) {
					t.Errorf("%s of %d: got %v, want %v", c.damage, c.at, got, c.want)
				}
				// What follows is read from the database, and has the entry that is damaged last, or any.
				one := readable(t, tx, 1, users, name)
				for i, line := range one {
					if line[2] == '?' != (c.want[i][2] == '?') || line[2] != '?' && line != c.want[i] {
						t.Errorf("%s of %d, one by one: got %v, want %v", c.damage, c.at, one, c.want)
						break
					}
				}
			})
		}
	})
}

// readable reads the log in parts, each change as its position and the names before and after it, or the revision of
// the entry that cannot be read.
func readable(t *testing.T, tx *Tx, most int, users *model.Collection, name int) (lines []string) {
	t.Helper()
	for q, more := (changelog.Query{Most: most}), true; more; {
		var entries []changelog.Entry
		var err error
		if entries, q.After, more, err = tx.Log(q); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text := func(r model.Record) string {
				if r == nil {
					return ""
				}
				return r[name].Text()
			}
			line := fmt.Sprintf("%d %s-%s", e.Number, text(e.Before), text(e.After))
			if e.Unreadable != nil {
				var revision int64
				_, err := fmt.Sscanf(e.Unreadable.Error(), "the change log of users cannot be read: revision %d of "+e.ID.String()+":", &revision)
				line = fmt.Sprintf("%d ?%d", e.Number, revision)
				if err != nil || !changelog.IsUnreadable(e.Unreadable) || e.Before != nil || e.After != nil {
					t.Errorf("%s has states, or another resource: %v", line, e.Unreadable)
				}
			}
			lines = append(lines, line)
		}
	}
	return lines
}
