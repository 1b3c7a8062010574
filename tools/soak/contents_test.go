//go:build linux

package soak

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/tools/soak/stored"
)

// A database that was tampered with is found to be at odds with itself, wherever
// it was.
func TestTamperedSQLiteIsDetected(t *testing.T) {
	t.Parallel()
	original := databaseOfSomeWrites(t)
	for name, c := range map[string]struct{ sql, want string }{
		"nothing":            {"SELECT 1", ""},
		"a row is gone":      {"DELETE FROM notes WHERE id = (SELECT id FROM notes LIMIT 1)", "is in the change log, and not in its table"},
		"a row too many":     {"INSERT INTO counters SELECT randomblob(16), token, text, count, _revision FROM counters LIMIT 1", "is in its table, and not in the change log"},
		"another value":      {"UPDATE accounts SET text = 'other' WHERE id = (SELECT id FROM accounts LIMIT 1)", "is torn: "},
		"another revision":   {"UPDATE accounts SET _revision = 0 WHERE id = (SELECT id FROM accounts LIMIT 1)", "has revision 0, and its last change is"},
		"a change is gone":   {"DELETE FROM _plural_changes WHERE revision = (SELECT _revision FROM counters LIMIT 1)", "and its last change is"},
		"no creation":        {"DELETE FROM _plural_changes WHERE kind = 'created' AND id IN (SELECT id FROM counters)", "updated of {counters"},
		"another past":       {"UPDATE _plural_changes SET previous = replace(previous, ' ', '-') WHERE kind = 'updated'", "is torn: "},
		"a wrong total":      {"UPDATE _plural_totals SET total = total + 1 WHERE collection = 'orders' AND parent = ''", "the total of {orders } is kept as"},
		"a wrong small one":  {"UPDATE _plural_totals SET total = total + 1 WHERE collection = 'orders' AND parent <> ''", "is kept as"},
		"a total of nobody":  {"INSERT INTO _plural_totals VALUES ('orders', 'x', 1)", "the total of {orders x} is kept as 1, and none are there"},
		"a broken reference": {"PRAGMA foreign_keys = OFF; UPDATE orders SET account_id = randomblob(16)", "foreign_key_check: a row of orders refers to none in accounts"},
		"an undeclared step": {"UPDATE tickets SET state = 'gone' WHERE id = (SELECT id FROM tickets LIMIT 1)", "change log: the state of {tickets "},
		"a broken index":     {"PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name LIKE '_unique.accounts%'", "integrity_check: "},
		"a table is gone":    {"DROP TABLE _plural_totals", "the database cannot be read: "},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), databaseFile)
			if err := os.WriteFile(file, original, 0o644); err != nil {
				t.Fatal(err)
			}
			tamper(t, file, c.sql)
			contents, err := stored.ReadSQLite(file)
			if err != nil {
				t.Fatal(err)
			}
			problems := strings.Join(contents.Problems, "\n")
			if c.want == "" && problems != "" || !strings.Contains(problems, c.want) {
				t.Errorf("%s\nwanted: %s", problems, c.want)
			}
		})
	}
	t.Run("a page is overwritten", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), databaseFile)
		broken := append([]byte{}, original...)
		for i := 3 * 4096; i < len(broken) && i < 12*4096; i++ {
			broken[i] = 0xa5
		}
		if err := os.WriteFile(file, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		contents, err := stored.ReadSQLite(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(contents.Problems) == 0 {
			t.Error("it was not noticed")
		}
	})
	t.Run("an error of the machine is no damage", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), databaseFile)
		if err := os.WriteFile(file, original, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(file+"-wal", 0o755); err != nil { // where SQLite opens a file
			t.Fatal(err)
		}
		if contents, err := stored.ReadSQLite(file); err == nil {
			t.Errorf("found %q", contents.Problems)
		}
	})
}

// databaseOfSomeWrites lets a server write something and stop, and returns its file.
func databaseOfSomeWrites(t *testing.T) []byte {
	t.Helper()
	s, err := NewSQLite(server(t, Linked{}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := NewRun(s, 8, testSeed)
	writeEverything(t, r)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	files, err := s.files()
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files[databaseFile]
}

// writeEverything lets the writers of a run write, which they do at random, until there is something of
// everything that a test tampers with.
func writeEverything(t *testing.T, r *Run) {
	t.Helper()
	c, err := r.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for missing := true; missing; {
		if err := settle(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		missing = false
		for _, path := range []string{"/accounts", "/orders", "/notes", "/counters", "/tickets", "/operations"} {
			found, _, err := c.list(t.Context(), path+"?limit=1")
			if err != nil {
				t.Fatal(err)
			}
			missing = missing || len(found) == 0
		}
		if missing {
			if err := r.writeSome(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func tamper(t *testing.T, file, sql string) {
	t.Helper()
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range strings.Split(sql, "; ") {
		if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}
