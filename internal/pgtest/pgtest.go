// Package pgtest gives tests an empty PostgreSQL database each. It starts one
// throw-away cluster per test process, on first use, and needs nothing but the
// server binaries: no running service, no password, no free port.
//
// A package that uses it hands its tests to [Run], so that the cluster goes
// when they are done:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
//
// Environment:
//
//	PLURAL_TEST_POSTGRES  URL of a running server to create the databases in,
//	                      instead of starting one; its user must be allowed to
//	PLURAL_PG_BIN         directory of initdb and postgres, if they are neither
//	                      in PATH nor where Debian puts them
//	PLURAL_PG_TEMPLATE    absolute path of a directory of which new clusters are
//	                      copies; the first one makes it
package pgtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/pgserver"
)

// One statement on an idle server takes milliseconds; this only keeps a server
// that hangs from holding the tests until their own timeout.
const adminTimeout = 5 * time.Minute

// maxWait is how long a server waits for a connection, instead of seconds: tests on a busy machine do not
// expect that it gives up.
const maxWait = 2 * time.Minute

var (
	running atomic.Bool // inside Run, which stops the cluster
	serial  atomic.Int64

	mu      sync.Mutex
	started *pgserver.Server // for Run to stop; nil until the first URL
	admin   *pgx.Conn        // creates and drops databases; nil until the first URL
)

// Run runs the tests of a package and then stops the cluster, if one was
// started, and removes its files. It returns the exit code.
func Run(m *testing.M) int {
	running.Store(true)
	db.MaxWait = maxWait
	// Tests leave much garbage and keep little. Go would collect it whenever a heap of a few MiB has doubled, which
	// takes a sixth of their CPU time.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	// Most cases create a database or two, so only 25 are drawn. make test-properties draws many.
	if checks := flag.Lookup("rapid.checks"); checks != nil {
		if err := checks.Value.Set("25"); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest:", err)
			return 1
		}
	}
	defer stop()
	return m.Run()
}

// Databases are functions that make an empty database and return its URL, by the names of their kinds: a
// test runs on each.
func Databases() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{
		"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
		"postgres": URL,
	}
}

// URL returns the URL of a new, empty database, which is dropped at the end of
// the test, connections or not. A machine without PostgreSQL fails the test: a
// skipped test looks too much like one that passed.
func URL(t testing.TB) string {
	t.Helper()
	if !running.Load() {
		// Without Run the files of the cluster would pile up in the temporary
		// directory, a few dozen megabytes with each test run.
		t.Fatal("pgtest: the package needs func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }")
	}
	server, err := serverURL()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}

	// The process id and the time keep apart processes that share a server.
	name := fmt.Sprintf("plural_test_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), serial.Add(1))
	if err := adminExec(server, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := adminExec(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})

	u := *server
	u.Path = "/" + name
	query := u.Query()
	query.Set("connect_timeout", strconv.Itoa(int(maxWait.Seconds()))) // for servers in other processes
	u.RawQuery = query.Encode()
	return u.String()
}

// Cluster returns the URL of an empty database in a cluster of the test's own, for what
// would disturb others. It takes a second or two. Settings are of the form name=value.
func Cluster(t testing.TB, settings ...string) string {
	t.Helper()
	return pgserver.URL("postgres", cluster(t, settings...))
}

// Pooled is Cluster with a PgBouncer, which has a pool mode. It also returns the URL through that.
func Pooled(t testing.TB, mode string) (direct, through string) {
	t.Helper()
	c := cluster(t)
	through, stop, err := c.StartPooler(t.Context(), mode)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(stop)
	return pgserver.URL("postgres", c), through
}

func cluster(t testing.TB, settings ...string) *pgserver.Server {
	t.Helper()
	c, err := start(settings...)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() { stopServer(c) })
	return c
}

// serverURL is the URL of a database from which others can be created. The
// first call decides for the whole process, also when it fails: a server that
// did not start once is not waited for again by every test.
var serverURL = sync.OnceValues(func() (*url.URL, error) {
	if env := os.Getenv("PLURAL_TEST_POSTGRES"); env != "" {
		u, err := url.Parse(env)
		if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
			// Not the error itself: it quotes the URL, password and all.
			return nil, errors.New("PLURAL_TEST_POSTGRES is not a postgres:// URL")
		}
		return u, nil
	}
	c, err := start()
	if err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	started = c
	return url.Parse(pgserver.URL("postgres", c))
})

// start makes a server that has to survive nothing.
func start(settings ...string) (*pgserver.Server, error) {
	c, err := pgserver.New()
	if err != nil {
		return nil, err
	}
	if err = c.Init(); err == nil {
		err = c.Start(context.Background(), append([]string{
			"max_connections=200", // parallel tests, each with its own pool
			"fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off",
			"jit=off", // compiling a query takes longer than the few rows of a test
		}, settings...)...)
	}
	if err != nil {
		stopServer(c)
		return nil, err
	}
	return c, nil
}

func stopServer(c *pgserver.Server) {
	if err := c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
	}
}

func stop() {
	mu.Lock()
	defer mu.Unlock()
	if admin != nil {
		_ = admin.Close(context.Background()) // an error changes nothing: the server stops next, or is not ours
	}
	if started != nil {
		stopServer(started)
	}
}

// adminExec runs one statement on a connection that all tests share: CREATE and DROP DATABASE
// cannot be in a transaction.
func adminExec(server *url.URL, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	mu.Lock()
	defer mu.Unlock()
	if admin == nil || admin.IsClosed() {
		var err error
		if admin, err = pgx.Connect(ctx, server.String()); err != nil {
			return err
		}
	}
	if _, err := admin.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
