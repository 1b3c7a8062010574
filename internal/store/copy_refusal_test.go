package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// alter runs statements on a database behind Plural's back.
func alter(t *testing.T, url string, statements ...string) {
	t.Helper()
	b, err := databases.Open(context.Background(), url, db.Options{})
	if err == nil {
		err = db.Write(context.Background(), b, func(c db.Conn) error { return db.ExecAll(c, statements...) })
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// nameless takes the names of databases out of an error.
func nameless(err error, from, to string) string {
	if err == nil {
		return "no error"
	}
	return strings.NewReplacer(databases.Name(from), "SOURCE", databases.Name(to), "TARGET").Replace(err.Error())
}

func expectNoCopy(t *testing.T, from, to, want string) {
	t.Helper()
	copied, err := admin.Copy(context.Background(), from, to, nil)
	if got := nameless(err, from, to); copied != nil || !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCopyRefuses(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		to := otherKind(t, url)
		s := (*model.Schema)(schema.Example())
		if !strings.HasPrefix(url, "sqlite:") { // it has no empty one yet
			expectNoCopy(t, url, to, "copying from SOURCE: it is empty: there is nothing to copy")
		}
		closeStore(t, openStore(t, url, s))
		expectNoCopy(t, url, url, "SOURCE cannot be copied to itself")

		full := sameKind(t, url)
		closeStore(t, openStore(t, full, s))
		expectNoCopy(t, url, full, "copying to TARGET: it is not empty (it has the tables _plural_answers, _plural_changes, _plural_")
		foreign := sameKind(t, url)
		if strings.HasPrefix(url, "sqlite:") {
			runSQLite(t, strings.TrimPrefix(foreign, "sqlite:"), "CREATE TABLE theirs (a)")
		} else {
			alter(t, foreign, "CREATE TABLE theirs (a int)")
		}
		expectNoCopy(t, url, foreign, "copying to TARGET: it is not empty (it has the tables theirs), and a copy never overwrites data: use a database without tables")
		expectNoCopy(t, foreign, to, "copying from SOURCE: it belongs to another program: it has tables that Plural did not create (theirs), and none of Plural's own")

		alter(t, url, "CREATE TABLE _plural_more (a int)")
		expectNoCopy(t, url, to, "copying from SOURCE: the tables of the database were changed outside Plural:\n  - table _plural_more")
		alter(t, url, "DROP TABLE _plural_more", "ALTER TABLE "+db.QueueTable+" ADD COLUMN more int")
		expectNoCopy(t, url, to, "copying from SOURCE: the column more of _plural_queue would not be copied")
		alter(t, url, "ALTER TABLE "+db.QueueTable+" DROP COLUMN more", "UPDATE "+db.MetaTable+" SET value = '99' WHERE key = 'format'")
		expectNoCopy(t, url, to, `copying from SOURCE: the database has format "99", but this version of Plural supports only format "`+catalog.Format+`"`)
		alter(t, url, "UPDATE "+db.MetaTable+" SET value = '"+catalog.Format+"' WHERE key = 'format'")

		// Nothing of all this has left anything there.
		expectEmpty(t, to)
		copyDatabases(t, url, to)
	})
}

func openStore(t *testing.T, url string, s *model.Schema) *Store {
	t.Helper()
	st, err := Open(context.Background(), url, s)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// expectEmpty: there are no tables, and no file either.
func expectEmpty(t *testing.T, url string) {
	t.Helper()
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		left, err := filepath.Glob(file + "*")
		if err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
		return
	}
	if got := contents(t, url); len(got) != 0 {
		t.Errorf("%v is left", got)
	}
}

// runSQLite runs statements on a file, as another program does.
func runSQLite(t *testing.T, file string, statements ...string) {
	t.Helper()
	c, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate)
	for _, statement := range statements {
		if err == nil {
			err = sqlitex.ExecuteTransient(c, statement, nil)
		}
	}
	if err = errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestCopyRefusesFiles(t *testing.T) {
	dir := t.TempDir()
	source := "sqlite:" + filepath.Join(dir, "source.db")
	closeStore(t, openStore(t, source, (*model.Schema)(schema.Example())))
	alias := filepath.Join(dir, "alias.db")
	if err := os.Symlink("source.db", alias); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"sqlite:" + dir + "/none.db", "sqlite:" + dir + "/new.db", "copying from SOURCE: there is no database " + dir + "/none.db"},
		{source, "sqlite:" + dir + "/no/new.db", "copying to TARGET: the database " + dir + "/no/new.db cannot be opened: there is no directory " + dir + "/no"},
		{source, "sqlite:" + dir, "copying to TARGET: the database " + dir + " cannot be opened: it is a directory"},
		{source, "sqlite:" + alias, "SOURCE cannot be copied to itself"},
		{source, "sqlite:" + text, "copying to TARGET: " + text + " cannot be opened: it is not an SQLite database"},
		{"sqlite:" + text, "sqlite:" + dir + "/new.db", "copying from SOURCE: " + text + " cannot be opened: it is not an SQLite database"},
		{source, "mysql://somewhere", "copying to TARGET: TARGET URL must be sqlite:FILE or postgres://HOST/DATABASE"},
		{"plural.db", source, "copying from SOURCE: SOURCE URL must be sqlite:FILE or postgres://HOST/DATABASE"},
		{source, "postgres://127.0.0.1:1/x?connect_timeout=5&user=u&password=secret", "copying to TARGET: connecting to PostgreSQL: failed to connect to `user=u database=x`"},
		// One who may read and not write.
		{source, pgtest.URL(t) + "&default_transaction_read_only=on", "copying to TARGET: ERROR: cannot execute CREATE TABLE in a read-only transaction (SQLSTATE 25006)"},
	} {
		expectNoCopy(t, c.from, c.to, c.want)
		if _, err := admin.Copy(context.Background(), c.from, c.to, nil); strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
	expectEmpty(t, "sqlite:"+dir+"/new.db")
}

// TestCopyInterrupted: whenever it ends, the target is as it was.
func TestCopyInterrupted(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		fillForCopy(t, url)
		to := otherKind(t, url)
		for _, stage := range []string{"copying", "indexing", "checking"} {
			ctx, cancel := context.WithCancel(context.Background())
			_, err := admin.Copy(ctx, url, to, func(p admin.CopyProgress) {
				if p.Stage == stage {
					cancel()
				}
			})
			if got := nameless(err, url, to); got != "copying to TARGET was interrupted" {
				t.Errorf("%s: %s", stage, got)
			}
			expectEmpty(t, to)
		}
		copyDatabases(t, url, to)
	})
}

// TestCopyDetectsDifferences: a database that stores something else than it is
// given is found out, and nothing of it stays.
func TestCopyDetectsDifferences(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		fillForCopy(t, url)
		for _, c := range []struct{ does, want string }{
			{"NEW.text := NULL; RETURN NEW;", "copying to TARGET: parts: the rows written differ from the rows read: 1 row with the checksum "},
			{"RETURN NULL;", "copying to TARGET: parts: the rows written differ from the rows read: 1 row with the checksum "},
		} {
			to := pgtest.URL(t)
			alter(t, to, `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN `+c.does+` END $$`,
				`CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
					IF to_regclass('parts') IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgname = 'spoil') THEN
						CREATE TRIGGER spoil BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION spoil();
					END IF; END $$`,
				`CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION watch()`)
			expectNoCopy(t, url, to, c.want)
			expectEmpty(t, to)
		}
	})
}
