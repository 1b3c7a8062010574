package postgres

import (
	"context"
	"errors"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// open opens a database that has the tables of the example.
func open(t *testing.T, url string) *Database {
	t.Helper()
	d, err := Open(context.Background(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	err = d.Migrate(context.Background(), func(c db.Conn) error {
		tables, additions := db.Definitions(d, (*model.Schema)(schema.Example()))
		return db.ExecAll(c, append(append(tables, additions...), "INSERT INTO "+db.SchemasTable+" (version, at, document, numbers) VALUES (1, now(), '', '')")...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// versionOf is the version that transactions expect.
func versionOf(t *testing.T, d *Database) (v db.Version) {
	t.Helper()
	err := db.Write(context.Background(), d, func(c db.Conn) (err error) {
		v, err = db.ReadVersion(c)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// taskOf is a task that begins as those of the store do. Begun gets its connection.
func taskOf(v db.Version, begun func(*connection), fn func(t *db.Task, c db.Conn) error) *db.Task {
	task := &db.Task{}
	task.Run = func(c db.Conn, _ []*db.Task) error {
		if err := c.Expect(v, func(db.Conn) error { return errors.New("the schema has another version") }); err != nil {
			return err
		}
		begun(connectionOf(c))
		return fn(task, c)
	}
	return task
}

// connectionOf is the connection of a transaction.
func connectionOf(c db.Conn) *connection {
	if shared, ok := c.(*gatheredTask); ok {
		return shared.connection
	}
	return c.(*connection)
}

// create writes a change of a resource.
func create(t *db.Task, c db.Conn, id byte) error {
	key := model.IDValue(model.ID{id})
	_, err := c.Exec("INSERT INTO "+db.ChangesTable+" (collection, id, kind, at, caller, schema, previous) VALUES (1, $1, 'created', $2, '', 1, '')",
		key, model.TimeValue("2026-01-01T00:00:00.000Z"))
	t.Evidence = func() *db.Statement {
		return &db.Statement{SQL: "collection = 1 AND id = $1", Args: []model.Value{key}}
	}
	return err
}

// keep writes something that is no change of a resource.
func keep(c db.Conn, key string) error {
	_, err := c.Exec("INSERT INTO "+db.MetaTable+" (key, value) VALUES ($1, '')", model.TextValue(key))
	return err
}

// TestOutcomeOfACommit: what is found out about a transaction whose commit was not
// answered. A database that has crashed gives its number to another.
func TestOutcomeOfACommit(t *testing.T) {
	t.Parallel()
	d := open(t, pgtest.URL(t))
	v := versionOf(t, d)
	errLost := errors.New("the connection is lost")
	var other *connection
	if err := d.Write(context.Background(), taskOf(v, func(begun *connection) { other = begun }, func(t *db.Task, c db.Conn) error { return create(t, c, 1) })); err != nil {
		t.Fatal(err)
	}
	undone := func(task *db.Task, c db.Conn, id byte) error {
		before := task.Evidence
		var failed error
		err := c.Savepoint(func() bool { failed = create(task, c, id); return false })
		task.Evidence = before
		return errors.Join(failed, err)
	}
	for name, c := range map[string]struct {
		fn     func(*db.Task, db.Conn) error
		number int64 // of the transaction, if another has it now
		want   error
	}{
		"committed": {fn: func(t *db.Task, c db.Conn) error { return create(t, c, 2) }},
		"committed, a part undone": {fn: func(t *db.Task, c db.Conn) error {
			return errors.Join(create(t, c, 3), undone(t, c, 4))
		}},
		"rolled back":                 {fn: func(t *db.Task, c db.Conn) error { return errors.Join(create(t, c, 5), errLost) }, want: errLost},
		"another has its number":      {fn: func(t *db.Task, c db.Conn) error { return create(t, c, 6) }, number: other.transaction, want: errLost},
		"its number is not given yet": {fn: func(t *db.Task, c db.Conn) error { return create(t, c, 7) }, number: other.transaction + 1<<20, want: errLost},
		"committed without changes":   {fn: func(_ *db.Task, c db.Conn) error { return keep(c, "kept") }, want: errRunAgain},
		"committed, all changes undone": {
			fn: func(t *db.Task, c db.Conn) error { return errors.Join(undone(t, c, 8), keep(c, "refused")) }, want: errRunAgain,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var conn *connection
			task := taskOf(v, func(begun *connection) { conn = begun }, c.fn)
			if err := d.Write(context.Background(), task); (err != nil) != (name == "rolled back") {
				t.Fatal(err)
			}
			if c.number != 0 {
				conn.transaction = c.number
			}
			if got := d.resolve(conn, task.Evidence, errLost); !errors.Is(got, c.want) || errors.Is(got, errUnknownOutcome) || errors.Is(got, errRunAgain) != (c.want == errRunAgain) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	t.Run("going on", func(t *testing.T) {
		outcome := make(chan error, 1)
		if err := d.Write(context.Background(), taskOf(v, func(*connection) {}, func(task *db.Task, c db.Conn) error {
			if err := create(task, c, 9); err != nil {
				return err
			}
			conn, going := *c.(*connection), *task
			go func() { outcome <- d.resolve(&conn, going.Evidence, errLost) }()
			return nil
		})); err != nil {
			t.Fatal(err)
		}
		if err := <-outcome; err != nil {
			t.Error(err)
		}
	})
}

// TestCommitsWithoutTheirStandby: a write is not acknowledged that only the primary has,
// whichever way the wait for its synchronous standby ends.
func TestCommitsWithoutTheirStandby(t *testing.T) {
	t.Parallel()
	url := pgtest.Cluster(t, "synchronous_commit=on")
	// With one connection, who asks for the outcome must have given back the one that was lost.
	d := open(t, with(t, url, "pool_max_conns", "1"))
	v := versionOf(t, d)
	standby := func(names string) {
		execute(t, url, "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'")
		execute(t, url, "SELECT pg_reload_conf()")
		// Each session learns of it by itself; a new one has it from the beginning.
		for execute(t, url, "SELECT 1 WHERE current_setting('synchronous_standby_names') = '"+names+"'") == 0 {
		}
		// Commits wait from when the checkpointer has learned of it. It looks whether settings have changed
		// between two checkpoints.
		execute(t, url, "CHECKPOINT")
		execute(t, url, "CHECKPOINT")
		d.pool.Reset()
	}
	// waiting does something to the sessions that wait for the standby, once there is one.
	waiting := func(do string) {
		for execute(t, url, "SELECT "+do+"(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 0 {
		}
	}
	id := byte(0)
	insert := func() error {
		id++
		return d.Write(context.Background(), taskOf(v, func(*connection) {}, func(t *db.Task, c db.Conn) error { return create(t, c, id) }))
	}
	begin := func(write func() error) <-chan error {
		done := make(chan error, 1)
		go func() { done <- write() }()
		return done
	}
	d.replyTimeout = time.Second
	for name, disturb := range map[string]func(){
		"patience":   func() {},
		"cancelled":  func() { waiting("pg_cancel_backend") },
		"terminated": func() { waiting("pg_terminate_backend") },
	} {
		t.Run(name, func(t *testing.T) {
			standby("ghost")
			written := begin(insert)
			disturb()
			if err := <-written; !errors.Is(err, errUnknownOutcome) {
				t.Errorf("the standby is away: got %v", err)
			}
		})
	}
	d.replyTimeout = defaultReplyTimeout
	for name, c := range map[string]struct {
		write func() error
		do    string
	}{
		"cancelled, comes back":  {insert, "pg_cancel_backend"},
		"terminated, comes back": {insert, "pg_terminate_backend"},
		"terminated without changes, comes back": {func() error {
			return d.Write(context.Background(), taskOf(v, func(*connection) {}, func(_ *db.Task, c db.Conn) error {
				_, err := c.Exec("INSERT INTO " + db.MetaTable + " (key, value) VALUES ('k', '') ON CONFLICT (key) DO UPDATE SET value = ''")
				return err
			}))
		}, "pg_terminate_backend"},
	} {
		t.Run(name, func(t *testing.T) {
			standby("ghost")
			written := begin(c.write)
			waiting(c.do)
			standby("")
			if err := <-written; err != nil {
				t.Errorf("the standby is not needed any more: got %v", err)
			}
		})
	}
}

// TestLostRaces: conflicts on a known resource are retried until the deadline, however many they are. Violations of
// unique keys are retried writeAttempts times at most.
func TestLostRaces(t *testing.T) {
	t.Parallel()
	d := open(t, pgtest.URL(t))
	d.replyTimeout = time.Hour // it must not pass
	const fails = 3 * writeAttempts
	for _, c := range []struct {
		code string
		ran  int
		want bool
	}{{"40001", fails + 1, true}, {"40P01", fails + 1, true}, {"23505", writeAttempts, false}} {
		ran := 0
		err := db.Write(context.Background(), d, func(conn db.Conn) error {
			if err := conn.Announce(userAt(1)); err != nil {
				return err
			}
			if ran++; ran <= fails {
				return &pgconn.PgError{Code: c.code}
			}
			return keep(conn, c.code)
		})
		if (err == nil) != c.want || ran != c.ran {
			t.Errorf("%s: ran %d times, and then %v", c.code, ran, err)
		}
	}
}

// TestContendedResource: a transaction that has not lost yet leaves a resource to those that have, also
// if nobody looks at the error.
func TestContendedResource(t *testing.T) {
	t.Parallel()
	d := open(t, pgtest.URL(t))
	d.replyTimeout = 500 * time.Millisecond // of somebody who has to wait in vain
	write := func() error {
		return db.Write(context.Background(), d, func(c db.Conn) error {
			_ = c.Announce(userAt(1))
			return keep(c, "k")
		})
	}
	lock, err := d.locks.acquire(context.Background(), []stripe{stripeOf(userAt(1))}, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if err := write(); !fault.Is(d.Fault(err), problem.CodeUnavailable) {
		t.Errorf("others wait: got %v", err)
	}
	lock.release()
	d.replyTimeout = defaultReplyTimeout
	if err := write(); err != nil {
		t.Errorf("nobody waits: got %v", err)
	}
}

// TestServerThatKeepsItsLock: it may hang between its lock and its transaction, and nobody
// waits for it for long.
func TestServerThatKeepsItsLock(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	d := open(t, url)
	d.replyTimeout = 2 * time.Second
	hangs, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close(context.Background())
	if _, err := hangs.Exec(context.Background(), "SELECT pg_advisory_lock("+retryClass+", $1)", stripeOf(userAt(1))%advisoryLocks); err != nil {
		t.Fatal(err)
	}
	runs := 0
	err = db.Write(context.Background(), d, func(c db.Conn) error {
		if runs++; runs == 1 {
			return errors.Join(c.Announce(userAt(1)), &pgconn.PgError{Code: "40001"})
		}
		return nil
	})
	if err != nil || runs != 2 {
		t.Errorf("%d runs, got %v", runs, err)
	}
}

// execute runs a statement from outside, and counts its rows.
func execute(t *testing.T, url, sql string) int64 {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tag, err := conn.Exec(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	return tag.RowsAffected()
}

// with is a URL with one more parameter, or another value of it.
func with(t *testing.T, database, name, value string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestCancelledReadKeepsConnections: a client that has gone does not replace the connections of others.
func TestCancelledReadKeepsConnections(t *testing.T) {
	d := open(t, pgtest.URL(t))
	ctx, cancel := context.WithCancel(context.Background())
	c, release, err := d.Read(ctx, db.ShortRead)
	if err != nil {
		t.Fatal(err)
	}
	before := d.pool.Stat().NewConnsCount()
	cancel()
	if _, err := db.One(c, nil, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	release()
	if err := db.Write(context.Background(), d, func(c db.Conn) error { return db.ExecAll(c, "SELECT 1") }); err != nil {
		t.Error(err)
	}
	if after := d.pool.Stat().NewConnsCount(); after != before {
		t.Errorf("%d new connections", after-before)
	}
}
