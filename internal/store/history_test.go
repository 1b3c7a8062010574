package store

import (
	"context"
	"slices"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestHistoryIsRenewed: a server that runs notices it, goes on, and keeps the log.
func TestHistoryIsRenewed(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		insert(t, st, users, `{"name":"A","email":"a@example.com"}`)
		histories, marks := map[model.ID]bool{}, map[string]bool{}
		note := func() {
			t.Helper()
			read(t, st, func(tx *Tx) {
				point, err := tx.Point()
				if err != nil {
					t.Fatal(err)
				}
				histories[point.History], marks[st.HistoryTag()] = true, true
			})
		}
		note()
		for range 2 {
			if err := admin.RenewHistory(context.Background(), url); err != nil {
				t.Fatal(err)
			}
			note()
		}
		if len(histories) != 3 || len(marks) != 3 {
			t.Errorf("the histories are %v, and their marks %v", histories, marks)
		}
		insert(t, st, users, `{"name":"B","email":"b@example.com"}`)
		sequence(t, st)
		read(t, st, func(tx *Tx) {
			entries, last, more, err := tx.Log(changelog.Query{Most: 10})
			if err != nil || last != 2 || more || len(entries) != 2 {
				t.Errorf("the log has %v up to %d, %v", entries, last, err)
			}
		})
	})
}

// TestDoctorExaminesTheLog damages the log in each way that it finds. The repair begins anew.
func TestDoctorExaminesTheLog(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	one, two := "00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"
	notLast := ": their last change is not in the change log, or not the last one there"
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		insert(t, st, users, `{"id":"`+one+`","name":"A","email":"a@example.com"}`)
		gone := insert(t, st, users, `{"id":"`+two+`","name":"B","email":"b@example.com"}`)
		write(t, st, func(tx *Tx) error { _, err := tx.Delete(users, gone); return err })
		examine := func(repair bool, want ...string) {
			t.Helper()
			if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{Repair: repair}); err != nil || !slices.Equal(got, want) {
				t.Errorf("got  %q, %v\nwant %q", got, err, want)
			}
		}
		examine(false)
		for _, damage := range []struct{ sql, want string }{
			{"DELETE FROM " + db.ChangesTable + " WHERE kind = 'created'", "users: 1 resource, for example " + one + notLast},
			{"UPDATE users SET _revision = 0", "users: 1 resource, for example " + one + notLast},
			{"DELETE FROM " + db.ChangesTable + " WHERE kind = 'deleted'", "users: 1 resource, for example " + two + ": they are not there, and the change log has no deletion"},
		} {
			err := st.Write(context.Background(), func(tx *Tx) error {
				if _, err := tx.conn.Exec(damage.sql); err != nil {
					t.Fatal(err)
				}
				found, err := changelog.Check(tx.conn, st.db, s)
				if err != nil || !slices.Equal(found, []string{damage.want}) {
					t.Errorf("%s: got %q, %v", damage.sql, found, err)
				}
				return context.Canceled // undone
			})
			if err == nil {
				t.Error("not undone")
			}
		}
		write(t, st, func(tx *Tx) error {
			_, err := tx.conn.Exec("DELETE FROM " + db.ChangesTable + " WHERE kind = 'deleted'")
			return err
		})
		mark := st.HistoryTag()
		examine(true, "users: 1 resource, for example "+two+": they are not there, and the change log has no deletion")
		examine(false)
		read(t, st, func(tx *Tx) {
			if bounds, err := tx.Bounds(); bounds.Floor != 3 && bounds.Floor != 2 || err != nil || st.HistoryTag() == mark {
				t.Errorf("the floor is %d, %v, and the history %s", bounds.Floor, err, st.HistoryTag())
			}
		})
	})
}
