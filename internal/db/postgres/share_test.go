package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// sharing is a database with one goroutine that runs short tasks, which is busy until release is
// called: the tasks that are written meanwhile share a transaction.
type sharing struct {
	*Database
	version db.Version
	release func()
	writing sync.WaitGroup
	errs    map[byte]error // of the tasks, by their ids
	mutex   sync.Mutex     // of errs
}

func newSharing(t *testing.T, url string) *sharing {
	t.Helper()
	s := &sharing{Database: open(t, with(t, url, "pool_max_conns", "4")), errs: map[byte]error{}}
	s.version = versionOf(t, s.Database)
	begun, release := make(chan struct{}), make(chan struct{})
	s.release = sync.OnceFunc(func() { close(release) })
	t.Cleanup(s.release)
	s.write(t.Context(), 0, func(*db.Task, db.Conn) error {
		close(begun)
		<-release
		return nil
	})
	<-begun
	return s
}

func (s *sharing) write(ctx context.Context, id byte, fn func(*db.Task, db.Conn) error) {
	task := taskOf(s.version, func(*connection) {}, fn)
	task.Short = true
	s.writing.Go(func() {
		err := s.Write(ctx, task)
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.errs[id] = err
	})
}

// await waits until tasks are queued.
func (s *sharing) await(tasks int) {
	for s.short.Waiting() < tasks {
		runtime.Gosched()
	}
}

// expect checks the errors of the tasks, and which ids are stored, by transaction.
func (s *sharing) expect(t *testing.T, errs map[byte]error, stored ...[]byte) {
	t.Helper()
	s.release()
	s.writing.Wait()
	delete(s.errs, 0)
	for id, err := range s.errs {
		if !errors.Is(err, errs[id]) || (err == nil) != (errs[id] == nil) {
			t.Errorf("task %d: got %v, want %v", id, err, errs[id])
		}
	}
	got := map[int64][]byte{}
	query(t, s.Database, func(row model.Row) {
		id := row.ID(1)
		got[row.Int(0)] = append(got[row.Int(0)], id[0])
	}, "SELECT transaction::text::bigint, id FROM "+db.ChangesTable+" ORDER BY id")
	found := make([][]byte, 0, len(got))
	for _, ids := range got {
		found = append(found, ids)
	}
	slices.SortFunc(found, func(a, b []byte) int { return slices.Compare(a, b) })
	if fmt.Sprint(found) != fmt.Sprint(stored) {
		t.Errorf("stored by transaction: got %v, want %v", found, stored)
	}
}

func TestTasksShareATransaction(t *testing.T) {
	t.Parallel()
	errOwn := errors.New("a task has failed")
	one := func(id byte) func(*db.Task, db.Conn) error {
		return func(t *db.Task, c db.Conn) error { return create(t, c, id) }
	}
	for name, c := range map[string]struct {
		second func(*db.Task, db.Conn) error
		err    error
		stored [][]byte
	}{
		"all succeed": {second: one(2), stored: [][]byte{{1, 2, 3}}},
		"one fails before it writes": {
			second: func(*db.Task, db.Conn) error { return errOwn }, err: errOwn, stored: [][]byte{{1, 3}},
		},
		"one fails after it has written": {
			second: func(t *db.Task, c db.Conn) error { return errors.Join(create(t, c, 2), errOwn) }, err: errOwn, stored: [][]byte{{1}, {3}},
		},
		"one fails after it has queued something": {
			second: func(_ *db.Task, c db.Conn) error {
				return errors.Join(c.Defer(db.Statement{SQL: "DELETE FROM " + db.ChangesTable}), errOwn)
			}, err: errOwn, stored: [][]byte{{1}, {3}},
		},
		"one lets others go first": {
			second: func() func(*db.Task, db.Conn) error {
				refused := false
				return func(t *db.Task, c db.Conn) error {
					if !refused {
						refused = true
						connectionOf(c).yielded = true
						return errContended
					}
					return create(t, c, 2)
				}
			}(), stored: [][]byte{{1, 3}, {2}},
		},
		"one that should let others go first goes on": {
			second: func() func(*db.Task, db.Conn) error {
				refused := false
				return func(t *db.Task, c db.Conn) error {
					if !refused {
						refused = true
						connectionOf(c).yielded = true
					}
					return create(t, c, 2)
				}
			}(), stored: [][]byte{{1}, {2}, {3}},
		},
		"a statement of one fails": {
			second: func(_ *db.Task, c db.Conn) error {
				_, err := db.One(c, nil, "SELECT 1 / 0")
				return errors.Join(errOwn, err)
			}, err: errOwn, stored: [][]byte{{1}, {3}},
		},
		"the connection of one is lost, once": {
			second: func() func(*db.Task, db.Conn) error {
				lost := false
				return func(t *db.Task, c db.Conn) error {
					if !lost {
						lost = true
						_, _ = db.One(c, nil, "SELECT pg_terminate_backend(pg_backend_pid())")
					}
					return create(t, c, 2)
				}
			}(), stored: [][]byte{{1}, {2}, {3}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, pgtest.URL(t))
			for id, fn := range []func(*db.Task, db.Conn) error{one(1), c.second, one(3)} {
				s.write(t.Context(), byte(id+1), fn)
				s.await(id + 1)
			}
			s.expect(t, map[byte]error{2: c.err}, c.stored...)
		})
	}
}

// TestTasksInsertTogether: the rows of tasks that share a transaction are inserted by one statement if they have a
// collection, a time and a caller in common. Each task gets its revision, or none if its row is in conflict with another. A row within
// a savepoint is inserted by itself, or what is undone with it would be that of others as well.
func TestTasksInsertTogether(t *testing.T) {
	t.Parallel()
	users := (*model.Schema)(schema.Example()).Collection("users")
	errConflict := errors.New("another row has this id")
	for name, c := range map[string]struct {
		ids        []byte   // of the rows of tasks 1, 2, …
		callers    []string // of the tasks
		undone     byte     // the task that undoes its row, and inserts it again
		large      byte     // the row with a long text
		statements []string // by how many rows they insert
		errs       map[byte]error
		stored     [][]byte
	}{
		"all in common":   {ids: []byte{1, 2, 3}, callers: []string{"", "", ""}, statements: []string{"many"}, stored: [][]byte{{1, 2, 3}}},
		"two callers":     {ids: []byte{1, 2, 3}, callers: []string{"a", "b", "a"}, statements: []string{"many", "one"}, stored: [][]byte{{1, 2, 3}}},
		"one in conflict": {ids: []byte{1, 9, 3}, callers: []string{"", "", ""}, statements: []string{"many", "one", "one", "one"}, errs: map[byte]error{2: errConflict}, stored: [][]byte{{1}, {3}}},
		"one is undone":   {ids: []byte{1, 2, 3}, callers: []string{"", "", ""}, undone: 2, statements: []string{"one", "many"}, stored: [][]byte{{1, 2, 3}}},
		"one is large":    {ids: []byte{1, 2, 3}, callers: []string{"", "", ""}, large: 2, statements: []string{"one", "many"}, stored: [][]byte{{1, 2, 3}}},
		"only one":        {ids: []byte{1}, callers: []string{""}, statements: []string{"one"}, stored: [][]byte{{1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, pgtest.URL(t))
			sql, at := s.InsertSQL(db.NewTable(s.Database, users), 1, 1), model.TimeValue("2026-01-01T00:00:00.000Z")
			insertion := func(id byte, caller string) *db.Insertion {
				record := make(model.Record, len(users.Columns()))
				record[model.IDColumn], record[users.CreatedColumn()], record[users.UpdatedColumn()] = model.IDValue(model.ID{id}), at, at
				record[users.Field("name").Column], record[users.Field("email").Column] = model.TextValue("A"), model.TextValue("a@example.com")
				if id == c.large {
					record[users.Field("name").Column] = model.TextValue(strings.Repeat("A", maxGathered+1))
				}
				return &db.Insertion{SQL: sql, Collection: users, Records: []model.Record{record}, At: at, Caller: model.TextValue(caller), New: true}
			}
			err := db.Write(t.Context(), s.Database, func(c db.Conn) error {
				if err := c.Insert(insertion(9, "")); err != nil {
					return err
				}
				_, err := c.Exec("DELETE FROM " + db.ChangesTable)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			var mutex sync.Mutex
			var statements []string
			s.options.Trace = func(statement string) {
				mutex.Lock()
				defer mutex.Unlock()
				switch statement {
				case sql[insertNew]:
					statements = append(statements, "one")
				case sql[insertManyNew]:
					statements = append(statements, "many")
				}
			}
			for i, id := range c.ids {
				number := byte(i + 1)
				s.write(t.Context(), number, func(task *db.Task, conn db.Conn) error {
					n := insertion(id, c.callers[i])
					insert := func() error { return conn.Insert(n) }
					if c.undone == number {
						var failed error
						if err := conn.Savepoint(func() bool { failed = insert(); return false }); err != nil || failed != nil {
							return errors.Join(err, failed)
						}
					}
					if err := insert(); err != nil {
						return err
					}
					if n.Records[0].Null(users.RevisionColumn()) {
						return errConflict
					}
					return nil
				})
				s.await(i + 1)
			}
			s.expect(t, c.errs, c.stored...)
			if !slices.Equal(statements, c.statements) {
				t.Errorf("got the statements %q, want %q", statements, c.statements)
			}
		})
	}
}

// TestInsertsThatFail: the error of an insert is that of its task only, and no goroutine is left of the tasks.
func TestInsertsThatFail(t *testing.T) {
	users := (*model.Schema)(schema.Example()).Collection("users")
	for name, ids := range map[string][]byte{"one task": {7}, "the first": {7, 1, 2}, "the last": {1, 2, 7}} {
		t.Run(name, func(t *testing.T) {
			s := newSharing(t, pgtest.URL(t))
			sql, at := s.InsertSQL(db.NewTable(s.Database, users), 1, 1), model.TimeValue("2026-01-01T00:00:00.000Z")
			var want [][]byte
			for i, id := range ids {
				if id != 7 {
					want = append(want, []byte{id})
				}
				s.write(t.Context(), id, func(task *db.Task, conn db.Conn) error {
					record := make(model.Record, len(users.Columns()))
					record[model.IDColumn], record[users.CreatedColumn()], record[users.UpdatedColumn()] = model.IDValue(model.ID{id}), at, at
					record[users.Field("email").Column] = model.TextValue(fmt.Sprint(id, "@example.com"))
					if id != 7 { // it has no name, which the table requires
						record[users.Field("name").Column] = model.TextValue("A")
					}
					return conn.Insert(&db.Insertion{SQL: sql, Collection: users, Records: []model.Record{record}, At: at, Caller: model.TextValue(""), New: true})
				})
				s.await(i + 1)
			}
			s.release()
			s.writing.Wait()
			if err := s.errs[7]; !hasCode(err, "23502") {
				t.Errorf("the task that failed got %v", err)
			}
			delete(s.errs, 7)
			s.expect(t, nil, want...)
			var stacks [1 << 20]byte
			if all := string(stacks[:runtime.Stack(stacks[:], true)]); strings.Contains(all, "(*gathering).start") {
				t.Errorf("a task is left: %s", all)
			}
		})
	}
}

// TestTasksThatNoLongerWait: a task whose caller has gone is not run. Those that wait when the database
// is closed are refused, as later ones are.
func TestTasksThatNoLongerWait(t *testing.T) {
	t.Parallel()
	s := newSharing(t, pgtest.URL(t))
	for id := range byte(2) {
		s.write(t.Context(), id+1, func(t *db.Task, c db.Conn) error { return create(t, c, id+1) })
		s.await(int(id) + 1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.write(ctx, 3, func(t *db.Task, c db.Conn) error { return create(t, c, 3) })
	s.await(3)
	cancel()
	for {
		s.mutex.Lock()
		err := s.errs[3]
		s.mutex.Unlock()
		if errors.Is(err, context.Canceled) {
			break
		}
	}
	s.expect(t, map[byte]error{3: context.Canceled}, []byte{1, 2})

	s = newSharing(t, pgtest.URL(t))
	s.write(t.Context(), 1, func(t *db.Task, c db.Conn) error { return create(t, c, 1) })
	s.await(1)
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	for !s.closed.Load() {
	}
	s.release()
	s.writing.Wait()
	if err := s.errs[1]; !errors.Is(err, db.ErrClosed) {
		t.Errorf("a task that waits gets %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := s.Write(t.Context(), &db.Task{Short: true}); !errors.Is(err, db.ErrClosed) {
		t.Errorf("a task after Close gets %v", err)
	}
}

// TestTasksDoNotWaitForTheLocksOfOthers: a task that has to wait for another transaction does so alone.
func TestTasksDoNotWaitForTheLocksOfOthers(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	s := newSharing(t, database)
	blocker := connect(t, database)
	run(t, blocker, "INSERT INTO "+db.MetaTable+" (key, value) VALUES ('locked', '')", "BEGIN", "UPDATE "+db.MetaTable+" SET value = 'a' WHERE key = 'locked'")
	for id := byte(1); id <= 3; id++ {
		s.write(t.Context(), id, func(task *db.Task, c db.Conn) error {
			if id == 2 {
				if _, err := c.Exec("UPDATE " + db.MetaTable + " SET value = value WHERE key = 'locked'"); err != nil {
					return err
				}
			}
			return create(task, c, id)
		})
		s.await(int(id))
	}
	s.release()
	for {
		s.mutex.Lock()
		_, one := s.errs[1]
		_, two := s.errs[2]
		_, three := s.errs[3]
		s.mutex.Unlock()
		if two {
			t.Fatal("a task did not wait for a lock")
		}
		if one && three {
			break
		}
		runtime.Gosched()
	}
	run(t, blocker, "ROLLBACK")
	s.expect(t, nil, []byte{1}, []byte{2}, []byte{3})
}

// TestOneTaskWaitsForALockAlone: also if it fails in a savepoint, so that its transaction could go on.
func TestOneTaskWaitsForALockAlone(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	s := newSharing(t, database)
	blocker := connect(t, database)
	run(t, blocker, "INSERT INTO "+db.MetaTable+" (key, value) VALUES ('locked', '')", "BEGIN", "UPDATE "+db.MetaTable+" SET value = 'a' WHERE key = 'locked'")
	failed := make(chan error, 2)
	s.write(t.Context(), 1, func(task *db.Task, c db.Conn) (err error) {
		attempt := c.Savepoint(func() bool {
			_, err = c.Exec("UPDATE " + db.MetaTable + " SET value = value WHERE key = 'locked'")
			return err == nil
		})
		failed <- err
		if err := errors.Join(err, attempt); err != nil {
			return err
		}
		return create(task, c, 1)
	})
	s.release()
	if err := <-failed; !hasCode(err, "55P03") {
		t.Errorf("the wait for a lock ended with %v", err)
	}
	run(t, blocker, "ROLLBACK")
	s.expect(t, nil, []byte{1})
}

// TestUnknownOutcomeIsShared: if a commit has no reply and the database cannot be asked, each task has an
// unknown outcome, and none is run again.
func TestUnknownOutcomeIsShared(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	s := newSharing(t, database)
	runs := make([]int, 3)
	for id := byte(1); id <= 2; id++ {
		s.write(t.Context(), id, func(t *db.Task, c db.Conn) error {
			runs[id]++
			return create(t, c, id)
		})
		s.await(int(id))
	}
	name := databaseOf(t, database)
	elsewhere := with(t, database, "dbname", "postgres")
	s.replyTimeout = time.Second
	s.options.Finish = func(c db.Conn, tasks []*db.Task) (func(), error) {
		if len(tasks) == 2 {
			execute(t, elsewhere, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false")
			execute(t, elsewhere, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '"+name+"'")
		}
		return func() {}, nil
	}
	s.release()
	s.writing.Wait()
	execute(t, elsewhere, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true")
	s.expect(t, map[byte]error{1: errUnknownOutcome, 2: errUnknownOutcome})
	if runs[1] != 1 || runs[2] != 1 {
		t.Errorf("the tasks have run %d times", runs[1:])
	}
}

// databaseOf is the name of the database of a URL.
func databaseOf(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	return u.Path[1:]
}
