package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// placed is a change with its position.
type placed struct {
	position, revision int64
	id                 model.ID
	kind               string
}

// readLog reads what follows a position. A different FROM makes it a control: a way to read that
// must fail.
func readLog(t *testing.T, st *Store, from string, after int64) (changes []placed) {
	t.Helper()
	read(t, st, func(tx *Tx) {
		err := db.Each(tx.conn, func(row model.Row) {
			changes = append(changes, placed{row.Int(0), row.Int(1), row.ID(2), row.Text(3)})
		}, "SELECT position, revision, id, kind FROM "+from+" AS log WHERE position > $1 ORDER BY position", model.IntValue(after))
		if err != nil {
			t.Error(err)
		}
	})
	return changes
}

// Controls. The one goes by revisions, and the other by transactions up to the oldest that runs.
const (
	byRevision = "(SELECT revision AS position, revision, id, kind FROM " + db.ChangesTable + ")"
	upToOldest = "(SELECT transaction::text::bigint AS position, revision, id, kind FROM " + db.ChangesTable +
		" WHERE transaction < pg_snapshot_xmin(pg_current_snapshot()))"
)

// follower reads the log in steps.
type follower struct {
	store *Store
	ticks *Store // gives the positions, if it is not the store that reads them
	from  string
	last  int64
	seen  []placed
}

func (f *follower) read(t *testing.T) {
	t.Helper()
	changes := readLog(t, f.store, f.from, f.last)
	if len(changes) > 0 {
		f.last = changes[len(changes)-1].position
	}
	f.seen = append(f.seen, changes...)
}

func (f *follower) sequence(t *testing.T) {
	t.Helper()
	if _, err := cmp.Or(f.ticks, f.store).AssignNumbers(context.Background()); err != nil {
		t.Error(err)
	}
	f.read(t)
}

// expectLog checks what a follower has seen: each change of the log once, in the order of positions,
// and those of each resource in the order of revisions.
func (f *follower) expectLog(t *testing.T, changes int) {
	t.Helper()
	if all := readLog(t, f.store, f.from, 0); !slices.Equal(f.seen, all) {
		t.Errorf("a follower saw %d changes, and the log has %d, or others", len(f.seen), len(all))
	}
	if len(f.seen) != changes {
		t.Errorf("the log has %d changes with a position of %d", len(f.seen), changes)
	}
	revisions, last := map[int64]bool{}, map[model.ID]placed{}
	for _, change := range f.seen {
		before, known := last[change.id]
		switch {
		case revisions[change.revision]:
			t.Errorf("revision %d is in the log twice", change.revision)
		case known && before.revision > change.revision:
			t.Errorf("%s has revision %d before %d", change.id, before.revision, change.revision)
		case strings.HasPrefix(change.kind, "create") && known && !strings.HasPrefix(before.kind, "delete"),
			!strings.HasPrefix(change.kind, "create") && (!known || strings.HasPrefix(before.kind, "delete")):
			t.Errorf("%s of %s follows %q", change.kind, change.id, before.kind)
		}
		revisions[change.revision], last[change.id] = true, change
	}
}

func countChanges(t *testing.T, st *Store) (n int) {
	t.Helper()
	read(t, st, func(tx *Tx) {
		if _, err := db.One(tx.conn, func(row model.Row) { n = int(row.Int(0)) }, "SELECT count(*) FROM "+db.ChangesTable); err != nil {
			t.Error(err)
		}
	})
	return n
}

func user(tx *Tx, users *model.Collection, name string) model.Record {
	record := make(model.Record, len(users.Columns()))
	inputs, _, err := users.Decode([]byte(fmt.Sprintf(`{"name":%q,"email":"%s@example.com"}`, name, name)), model.DecodeOptions{MaxDepth: 9})
	if err != nil {
		panic(err)
	}
	copy(record, inputs[0].Values)
	record[model.IDColumn] = model.IDValue(tx.NewID())
	record[users.CreatedColumn()], record[users.UpdatedColumn()] = tx.Now(), tx.Now()
	return record
}

// TestSequence: positions are given on demand, in order, once.
func TestSequence(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachStore(t, s, func(t *testing.T, st *Store) {
		f := &follower{store: st, from: st.db.PositionedLog()}
		f.sequence(t)
		if len(f.seen) != 0 {
			t.Errorf("an empty log has %v", f.seen)
		}
		for i := range 3 {
			insert(t, st, users, fmt.Sprintf(`{"name":"A","email":"%d@example.com"}`, i))
			f.sequence(t)
			f.sequence(t)
		}
		f.expectLog(t, 3)
		last, err := st.AssignNumbers(context.Background())
		if err != nil || last != 3 || f.last != 3 {
			t.Errorf("the last position is %d, %v, and that of the last change %d", last, err, f.last)
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := st.AssignNumbers(ended); err != context.Canceled {
			t.Errorf("an ended context gives %v", err)
		}
	})
}

// TestSequenceWithOvertaking: sixteen transactions get their revisions one after the other, and
// commit in the opposite order. After each, all that is committed has a position. A reader by
// revisions would see one change only.
func TestSequenceWithOvertaking(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	st := open(t, pgtest.URL(t), s)
	const writers = 16
	var inserted, commit, committed [writers]chan struct{}
	var all sync.WaitGroup
	for w := range writers {
		inserted[w], commit[w], committed[w] = make(chan struct{}), make(chan struct{}), make(chan struct{})
		all.Go(func() {
			defer close(committed[w])
			write(t, st, func(tx *Tx) error {
				_, err := tx.Insert(users, user(tx, users, fmt.Sprint(w)))
				close(inserted[w])
				<-commit[w]
				return err
			})
		})
		<-inserted[w]
	}
	f, naive := &follower{store: st, from: st.db.PositionedLog()}, &follower{store: st, from: byRevision}
	for w := writers - 1; w >= 0; w-- {
		close(commit[w])
		<-committed[w]
		f.sequence(t)
		naive.read(t)
		if len(f.seen) != writers-w {
			t.Errorf("after %d commits there are %d positions", writers-w, len(f.seen))
		}
	}
	all.Wait()
	f.expectLog(t, writers)
	if len(naive.seen) != 1 {
		t.Errorf("the naive reader saw %d changes, so that this test shows nothing", len(naive.seen))
	}
}

// TestSequenceWithATransactionOfAnotherProgram: a transaction that is no server's stays open, in this database or
// another one of the cluster. A reader that waits for the oldest transaction would see nothing.
func TestSequenceWithATransactionOfAnotherProgram(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	url := pgtest.URL(t)
	for name, where := range map[string]string{"same database": url, "another database": pgtest.URL(t)} {
		t.Run(name, func(t *testing.T) {
			st := open(t, url, s)
			other, err := pgx.Connect(t.Context(), where)
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close(context.Background())
			if _, err := other.Exec(t.Context(), "BEGIN; SELECT pg_current_xact_id()"); err != nil {
				t.Fatal(err)
			}
			last, err := st.AssignNumbers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			f := &follower{store: st, from: st.db.PositionedLog(), last: last}
			waiting := &follower{store: st, from: upToOldest}
			waiting.read(t)
			before := len(waiting.seen)
			for i := range 3 {
				insert(t, st, users, fmt.Sprintf(`{"name":"A","email":"%s-%d@example.com"}`, strings.Fields(name)[0], i))
				f.sequence(t)
				waiting.read(t)
			}
			if len(f.seen) != 3 || f.last != last+3 {
				t.Errorf("the positions are %v, behind %d", f.seen, last)
			}
			if len(waiting.seen) != before {
				t.Errorf("the reader that waits saw %d changes, so that this test shows nothing", len(waiting.seen)-before)
			}
		})
	}
}

// TestSequenceUnderConcurrency: several servers write to the same resources and give positions, while
// connections that give positions are terminated: less often than a server tries again, so that none
// gives up.
func TestSequenceUnderConcurrency(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	url := pgtest.URL(t)
	const servers, writers, each = 3, 16, 12
	var followers []*follower
	for range servers {
		st := open(t, url, s)
		// Ticks have connections of their own: one that is found with the lock may be terminated
		// when it has released it, and must not read by then.
		followers = append(followers, &follower{store: st, ticks: open(t, url, s), from: st.db.PositionedLog()})
	}
	shared := make([]model.Record, 3) // resources that all write to
	for i := range shared {
		shared[i] = insert(t, followers[0].store, users, fmt.Sprintf(`{"name":"A","email":"shared-%d@example.com"}`, i))
	}
	var writing, following sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			st := followers[w%servers].store
			for i := range each {
				if i%3 == 0 {
					insert(t, st, users, fmt.Sprintf(`{"name":"A","email":"%d-%d@example.com"}`, w, i))
					continue
				}
				toggle(t, st, users, shared[(w+i)%len(shared)])
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	for _, f := range followers {
		following.Go(func() {
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true
				default:
				}
				f.sequence(t)
			}
		})
	}
	killed := 0
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
			if killed < 9 {
				killed += int(execute(t, url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 758725"+
					" AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1"))
			}
		}
	}
	following.Wait()
	t.Logf("%d connections were terminated", killed)
	changes := countChanges(t, followers[0].store)
	if changes < writers*each/3 {
		t.Errorf("there are %d changes only", changes)
	}
	for _, f := range followers {
		f.expectLog(t, changes)
	}
}

// toggle deletes a resource, or creates it again.
func toggle(t *testing.T, st *Store, users *model.Collection, record model.Record) {
	t.Helper()
	err := st.Write(context.Background(), func(tx *Tx) error {
		found, err := tx.Get(users, nil, record.ID(model.IDColumn))
		if err != nil {
			return err
		}
		if found != nil {
			_, err = tx.Delete(users, found)
			return err
		}
		_, conflicts, err := tx.InsertAll(users, []model.Record{slices.Clone(record)})
		if err == nil && conflicts[0] != nil {
			return nil // another one was faster
		}
		return err
	})
	if err != nil && !strings.Contains(err.Error(), "Too many are writing") {
		t.Error(err)
	}
}

// TestTerminatedTick: the database ends the connection of a server in the middle of a tick. The
// tick is run again, and another server is not kept from its own.
func TestTerminatedTick(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	url := pgtest.URL(t)
	one, two := open(t, url, s), open(t, url, s)
	insert(t, one, users, `{"name":"A","email":"a@example.com"}`)
	blocker, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer blocker.Close(context.Background())
	if _, err := blocker.Exec(t.Context(), "BEGIN; LOCK TABLE "+db.SequenceTable+" IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	const waits = "FROM pg_locks WHERE NOT granted AND relation = '" + db.SequenceTable + "'::regclass"
	results := make([]int64, 2)
	var both sync.WaitGroup
	for i, st := range []*Store{one, two} {
		both.Go(func() {
			var err error
			if results[i], err = st.AssignNumbers(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	for execute(t, url, "SELECT "+"pg_terminate_backend(pid, 10000) "+waits) == 0 {
	}
	for execute(t, url, "SELECT 1 "+waits) == 0 { // it tries again, or the other one does
	}
	if _, err := blocker.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	both.Wait()
	if !slices.Equal(results, []int64{1, 1}) {
		t.Errorf("the last positions are %d", results)
	}
	f := &follower{store: two, from: two.db.PositionedLog()}
	f.read(t)
	f.expectLog(t, 1)
}

// TestSequenceInAnotherCluster: a dump was restored where transactions have lower or higher
// numbers.
func TestSequenceInAnotherCluster(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	for name, change := range map[string]string{
		"higher numbers there": "transaction = ('1' || lpad(transaction::text, 15, '0'))::xid8",
		"lower numbers there":  "transaction = '7'",
	} {
		t.Run(name, func(t *testing.T) {
			url := pgtest.URL(t)
			st := open(t, url, s)
			for i := range 4 {
				insert(t, st, users, fmt.Sprintf(`{"name":"A","email":"%d@example.com"}`, i))
			}
			if last, err := st.AssignNumbers(t.Context()); err != nil || last != 4 {
				t.Fatal(last, err)
			}
			// The last two have no position when the dump is made.
			execute(t, url, "UPDATE "+db.ChangesTable+" SET "+change)
			execute(t, url, "DELETE FROM "+db.SequenceTable+" WHERE position > 2")
			execute(t, url, "UPDATE "+db.TicksTable+" SET position = 2, seen = (SELECT format('%s:%s:', min(transaction::text::bigint), min(transaction::text::bigint)) FROM "+
				db.ChangesTable+")::pg_snapshot")
			f := &follower{store: open(t, url, s), from: st.db.PositionedLog()}
			f.sequence(t)
			f.expectLog(t, 4)
			insert(t, st, users, `{"name":"A","email":"new@example.com"}`)
			f.sequence(t)
			f.expectLog(t, 5)
			if f.last != 5 {
				t.Errorf("the last position is %d", f.last)
			}
		})
	}
}
