package pgtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

func TestURLConnects(t *testing.T) {
	conn := connect(t, URL(t))
	var one int
	var encoding string
	err := conn.QueryRow(t.Context(), "SELECT 1, current_setting('server_encoding')").Scan(&one, &encoding)
	if err != nil || one != 1 || encoding != "UTF8" {
		t.Fatalf("got %d, %q, %v", one, encoding, err)
	}
}

func TestURLsAreDifferentDatabases(t *testing.T) {
	a, b := connect(t, URL(t)), connect(t, URL(t))
	if _, err := a.Exec(t.Context(), "CREATE TABLE only_in_a (id int)"); err != nil {
		t.Fatal(err)
	}
	const tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
	for _, c := range []struct {
		name string
		conn *pgx.Conn
		want int
	}{{"a", a, 1}, {"b", b, 0}} {
		var got int
		if err := c.conn.QueryRow(t.Context(), tables).Scan(&got); err != nil || got != c.want {
			t.Errorf("database %s has %d tables, want %d (%v)", c.name, got, c.want, err)
		}
	}
}

func TestURLFromManyGoroutines(t *testing.T) {
	urls := make([]string, 8)
	var wg sync.WaitGroup
	for i := range urls {
		wg.Go(func() { urls[i] = URL(t) })
	}
	wg.Wait()
	slices.Sort(urls)
	if n := len(slices.Compact(urls)); n != 8 {
		t.Fatalf("8 calls gave %d databases", n)
	}
}

func TestDatabaseIsDropped(t *testing.T) {
	var left *pgx.Conn
	t.Run("user", func(t *testing.T) {
		var err error
		// Left open on purpose: a forgotten connection must not keep it.
		if left, err = pgx.Connect(t.Context(), URL(t)); err != nil {
			t.Fatal(err)
		}
	})
	defer left.Close(t.Context())
	if err := left.Ping(t.Context()); err == nil {
		t.Fatal("the database of a finished test still answers")
	}
}

func TestBinaries(t *testing.T) {
	root := t.TempDir()
	for _, version := range []string{"9.6", "10", "17", "15"} {
		install(t, filepath.Join(root, version, "bin"))
	}
	// The newest of all is not whole: a package with the client only.
	if err := os.MkdirAll(filepath.Join(root, "18", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	pattern := filepath.Join(root, "*", "bin")
	inPath := filepath.Join(t.TempDir(), "bin")
	install(t, inPath)

	for _, c := range []struct {
		name, env, path, pattern string
		want, wantErr            string
	}{
		{name: "the environment first", env: filepath.Join(root, "10", "bin"), path: inPath, pattern: pattern, want: filepath.Join(root, "10", "bin")},
		{name: "a wrong environment is not passed over", env: root, path: inPath, pattern: pattern, wantErr: "PLURAL_PG_BIN=" + root},
		{name: "then PATH", path: inPath, pattern: pattern, want: inPath},
		{name: "then the newest", path: root, pattern: pattern, want: filepath.Join(root, "17", "bin")},
		{name: "none", path: root, pattern: filepath.Join(root, "none"), wantErr: "apt-get install postgresql"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PLURAL_PG_BIN", c.env)
			t.Setenv("PATH", c.path)
			got, err := binaries(c.pattern)
			if got != c.want {
				t.Errorf("got %q, want %q (%v)", got, c.want, err)
			}
			if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("error %v, want %q", err, c.wantErr)
			}
		})
	}
}

func install(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStopRemovesEverything(t *testing.T) {
	if os.Getenv("PLURAL_TEST_POSTGRES") != "" {
		t.Skip("PLURAL_TEST_POSTGRES is set: the programs to start another server need not be here")
	}
	c, err := start()
	if err != nil {
		t.Fatal(err)
	}
	c.stop()
	if err := adminExec(c.url(), "SELECT 1"); err == nil {
		t.Error("the server still answers")
	}
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", c.dir, err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) }) // the test's own has ended by then
	return conn
}
