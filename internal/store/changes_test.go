package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/sqlite"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// follow reads the change log from a position to its end, a few at a time.
func follow(t *testing.T, st *Store, after int64, read func(*Tx, int64, int) ([]changelog.Entry, error)) ([]changelog.Entry, int64) {
	t.Helper()
	var all []changelog.Entry
	if _, err := st.AssignNumbers(context.Background()); err != nil {
		t.Fatal(err)
	}
	for {
		tx, err := st.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		changes, err := read(tx, after, 3)
		tx.Close()
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, changes...); len(changes) == 0 {
			return all, after
		}
		after = changes[len(changes)-1].Number
	}
}

// positioned reads the change log in its order.
func positioned(tx *Tx, after int64, most int) ([]changelog.Entry, error) {
	entries, _, _, err := tx.Log(changelog.Query{After: after, Most: most})
	return entries, err
}

// naive is the mistake that positions are there to avoid: it goes by revisions.
func naive(tx *Tx, after int64, most int) (changes []changelog.Entry, err error) {
	err = db.Each(tx.conn, func(row model.Row) {
		changes = append(changes, changelog.Entry{Number: row.Int(0), ID: row.ID(1)})
	}, "SELECT revision, id FROM "+db.ChangesTable+" WHERE revision > $1 ORDER BY revision LIMIT $2", model.IntValue(after), model.IntValue(int64(most)))
	return changes, err
}

// TestChangesAreNotSkipped: of two transactions the one commits first that was the
// second to get its revision. Whoever reads in between must still see the other.
func TestChangesAreNotSkipped(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		if _, single := st.db.(*sqlite.Database); single {
			t.Log("one transaction writes at a time, so there is nothing to overtake")
			return
		}
		slowHas, slowMay := make(chan struct{}), make(chan struct{})
		var slow model.Record
		var both sync.WaitGroup
		both.Go(func() {
			err := st.Write(context.Background(), func(tx *Tx) error {
				slow = record(t, users, `{"name":"Slow","email":"slow@example.com"}`)
				slow[model.IDColumn] = model.IDValue(tx.NewID())
				slow[users.CreatedColumn()], slow[users.UpdatedColumn()] = tx.Now(), tx.Now()
				_, err := tx.Insert(users, slow)
				close(slowHas)
				<-slowMay
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-slowHas
		quick := insert(t, st, users, `{"name":"Quick","email":"quick@example.com"}`)
		early, position := follow(t, st, 0, positioned)
		naiveEarly, naivePosition := follow(t, st, 0, naive)
		close(slowMay)
		both.Wait()
		late, _ := follow(t, st, position, positioned)
		naiveLate, _ := follow(t, st, naivePosition, naive)

		ids := func(changes ...changelog.Entry) (ids []string) {
			for _, change := range changes {
				ids = append(ids, change.ID.String())
			}
			slices.Sort(ids)
			return ids
		}
		want := []string{slow.ID(model.IDColumn).String(), quick.ID(model.IDColumn).String()}
		slices.Sort(want)
		if got := ids(append(early, late...)...); !slices.Equal(got, want) {
			t.Errorf("read %v, want %v", got, want)
		}
		if got := ids(append(naiveEarly, naiveLate...)...); slices.Equal(got, want) {
			t.Error("the naive reader missed nothing, so this test shows nothing")
		}
	})
}

// TestChangesUnderConcurrency follows the log while many write to it.
func TestChangesUnderConcurrency(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		const writers, each = 8, 25
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range each {
					insert(t, st, users, fmt.Sprintf(`{"name":"A","email":"%d-%d@example.com"}`, w, i))
				}
			})
		}
		done := make(chan struct{})
		go func() { all.Wait(); close(done) }()
		seen := map[model.ID]int{}
		var position int64
		for finished := false; ; {
			var changes []changelog.Entry
			changes, position = follow(t, st, position, positioned)
			for _, change := range changes {
				seen[change.ID]++
			}
			if finished {
				break
			}
			select {
			case <-done:
				finished = true
			default:
			}
		}
		if len(seen) != writers*each {
			t.Errorf("saw %d changes of %d", len(seen), writers*each)
		}
		for id, times := range seen {
			if times != 1 {
				t.Errorf("%s was seen %d times", id, times)
			}
		}
		tx, err := st.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Close()
		if total, err := tx.Total(users, nil); err != nil || total != writers*each {
			t.Errorf("the total is %d, %v", total, err)
		}
	})
}
