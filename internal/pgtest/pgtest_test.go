package pgtest

import (
	"context"
	"os"
	"slices"
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

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) }) // the test's own has ended by then
	return conn
}
