package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// insertPair stores a shop and a good in one transaction, so that there are
// always as many of the one as of the other.
func insertPair(st *Store) error {
	shops, goods := st.schema.Collection("shops"), st.schema.Collection("goods")
	return st.Write(context.Background(), func(tx *Tx) error {
		shop := tx.NewID()
		for _, c := range []*model.Collection{shops, goods} {
			record := make(model.Record, len(c.Columns()))
			record[model.IDColumn] = model.IDValue(tx.NewID())
			record[c.CreatedColumn()], record[c.UpdatedColumn()] = tx.Now(), tx.Now()
			if c == shops {
				record[model.IDColumn] = model.IDValue(shop)
			} else {
				record[c.ParentLink().Column] = model.IDValue(shop)
			}
			if _, err := tx.Insert(c, record); err != nil {
				return err
			}
		}
		return nil
	})
}

// pairs counts the shops in one snapshot, of which there must be as many goods.
func pairs(t *testing.T, st *Store) (n int64) {
	t.Helper()
	read(t, st, func(tx *Tx) {
		var err error
		if n, err = tx.Count(st.schema.Collection("shops"), nil); err != nil {
			t.Error(err)
		}
		goods, err := tx.Count(st.schema.Collection("goods"), nil)
		if err != nil || goods != n {
			t.Errorf("%d shops and %d goods, %v", n, goods, err)
		}
	})
	return n
}

func TestBackupWhileWriting(t *testing.T) {
	dir := t.TempDir()
	url, file := "sqlite:"+filepath.Join(dir, "live.db"), filepath.Join(dir, "copy.db")
	st := open(t, url, parse(t, shopsBefore))
	for range 200 {
		if err := insertPair(st); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := insertPair(st); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 5 {
		before := pairs(t, st)
		name := fmt.Sprint(file, i)
		if err := admin.Backup(context.Background(), url, name); err != nil {
			t.Fatal(err)
		}
		copied := open(t, "sqlite:"+name, parse(t, shopsBefore))
		if n := pairs(t, copied); n < before || n > pairs(t, st) {
			t.Errorf("the backup has %d, and there were %d when it began", n, before)
		}
		closeStore(t, copied)
	}
	close(done)
	writer.Wait()
}

func TestBackupIsOneFileAndOverwritesNone(t *testing.T) {
	dir := t.TempDir()
	url, file := "sqlite:"+filepath.Join(dir, "live.db"), filepath.Join(dir, "copies", "copy.db")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, url, parse(t, shopsBefore))
	if err := admin.Backup(context.Background(), url, file); err != nil {
		t.Fatal(err)
	}
	// A backup of the same name must not harm the one that is there.
	want, _ := os.ReadFile(file)
	err := admin.Backup(context.Background(), url, file)
	if err == nil || err.Error() != file+" exists already; a backup never overwrites a file" {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(file); string(got) != string(want) {
		t.Error("the first backup is not what it was")
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestRestoreIntoALiveDatabase: whoever reads while it is replaced sees the old or
// the new.
func TestRestoreIntoALiveDatabase(t *testing.T) {
	dir := t.TempDir()
	url, file := "sqlite:"+filepath.Join(dir, "live.db"), filepath.Join(dir, "copy.db")
	st := open(t, url, parse(t, shopsBefore))
	for i := range 150 {
		if err := insertPair(st); err != nil {
			t.Fatal(err)
		}
		if i == 49 {
			if err := admin.Backup(context.Background(), url, file); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := admin.Restore(context.Background(), url, file, admin.RestoreOptions{}); err == nil || err.Error() != filepath.Join(dir, "live.db")+" has 300 resources, which would be replaced; --force permits it" {
		t.Fatalf("got %v", err)
	}
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if n := pairs(t, st); n != 150 && n != 50 {
				t.Errorf("saw %d", n)
				return
			}
		}
	})
	if err := admin.Restore(context.Background(), url, file, admin.RestoreOptions{Overwrite: true}); err != nil {
		t.Error(err)
	}
	close(done)
	reader.Wait()
	if n := pairs(t, st); n != 50 {
		t.Errorf("has %d", n)
	}
	// The server goes on writing.
	if err := insertPair(st); err != nil {
		t.Fatal(err)
	}
	if n := pairs(t, st); n != 51 {
		t.Errorf("has %d", n)
	}
}

func TestRestoreRefuses(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	st, err := Open(context.Background(), "sqlite:"+path("live.db"), parse(t, shopsBefore))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := insertPair(st); err != nil {
			t.Fatal(err)
		}
	}
	if err := admin.Backup(context.Background(), "sqlite:"+path("live.db"), path("good.db")); err != nil {
		t.Fatal(err)
	}
	write(t, st, func(tx *Tx) error {
		return db.ExecAll(tx.conn, "UPDATE "+db.TotalsTable+" SET total = 99 WHERE collection = 'goods' AND parent = ''",
			"DELETE FROM "+db.DeltasTable+" WHERE collection = 'goods'")
	})
	closeStore(t, st)
	good, err := os.ReadFile(path("good.db"))
	if err != nil {
		t.Fatal(err)
	}
	cut := good[:len(good)-3*4096]
	flipped := append([]byte{}, good...)
	for i := len(flipped) / 2; i < len(flipped)/2+4096; i++ {
		flipped[i] ^= 0x5a
	}
	for name, text := range map[string]string{"cut.db": string(cut), "flipped.db": string(flipped), "text.db": strings.Repeat("no database ", 1000), "empty.db": ""} {
		if err := os.WriteFile(path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"cut.db", "flipped.db", "text.db", "empty.db", "none.db"} {
		if err := admin.Restore(context.Background(), "sqlite:"+path("new.db"), path(name), admin.RestoreOptions{Overwrite: true}); err == nil {
			t.Errorf("%s was restored", name)
		}
	}
	if _, err := os.Stat(path("new.db")); err == nil {
		t.Error("a refused restore made a database")
	}
	err = admin.Restore(context.Background(), "sqlite:"+path("new.db"), path("live.db"), admin.RestoreOptions{})
	if want := path("live.db") + " cannot be restored: goods should have 99 resources, but has 100"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := admin.Backup(context.Background(), "sqlite:"+path("live.db"), path("other.db")); err == nil {
		t.Error("a database with wrong totals was backed up without a word")
	}
	if err := admin.Restore(context.Background(), "sqlite:"+path("good.db"), path("good.db"), admin.RestoreOptions{Overwrite: true}); err == nil {
		t.Error("a backup was restored into itself")
	}
	if err := admin.Restore(context.Background(), "sqlite:"+path("new.db"), path("good.db"), admin.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := pairs(t, open(t, "sqlite:"+path("new.db"), parse(t, shopsBefore))); n != 100 {
		t.Errorf("restored %d", n)
	}
	err = admin.Restore(context.Background(), "sqlite:"+path("text.db"), path("good.db"), admin.RestoreOptions{Overwrite: true})
	if want := path("text.db") + " cannot be opened: it is not an SQLite database; move it away first"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	err = admin.Backup(context.Background(), "sqlite:"+path("good.db"), path("no/copy.db"))
	if want := path("no/copy.db") + " cannot be written: there is no directory " + path("no"); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if left, err := filepath.Glob(path("*.partial*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestRestoreRenewsTheHistory: revisions and versions of the schema that were given after the
// backup are given again, so that each restore begins another history, which a server that runs
// notices.
func TestRestoreRenewsTheHistory(t *testing.T) {
	dir := t.TempDir()
	url, file := "sqlite:"+filepath.Join(dir, "live.db"), filepath.Join(dir, "copy.db")
	st := open(t, url, parse(t, shopsBefore))
	shops := st.schema.Collection("shops")
	insert(t, st, shops, `{"name":"A"}`)
	if err := admin.Backup(context.Background(), url, file); err != nil {
		t.Fatal(err)
	}
	histories, marks := map[model.ID]bool{}, map[string]bool{}
	for range 3 {
		insert(t, st, shops, `{"name":"B"}`)
		read(t, st, func(tx *Tx) {
			point, err := tx.Point()
			if err != nil {
				t.Fatal(err)
			}
			histories[point.History], marks[st.HistoryTag()] = true, true
			entries, _, _, err := tx.Log(changelog.Query{Most: 10})
			if err != nil || len(entries) != 2 {
				t.Errorf("the log has %v, %v", entries, err)
			}
		})
		if err := admin.Restore(context.Background(), url, file, admin.RestoreOptions{Overwrite: true}); err != nil {
			t.Fatal(err)
		}
	}
	if len(histories) != 3 || len(marks) != 3 {
		t.Errorf("the histories are %v, and their marks %v", histories, marks)
	}
}

// TestDamageIsDetected: an index that leads elsewhere is found by nothing but
// SQLite's own check.
func TestDamageIsDetected(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "live.db")
	st, err := Open(context.Background(), url, parse(t, shopsBefore))
	if err != nil {
		t.Fatal(err)
	}
	if err := insertPair(st); err != nil {
		t.Fatal(err)
	}
	write(t, st, func(tx *Tx) error {
		return db.ExecAll(tx.conn, "PRAGMA writable_schema = ON",
			"UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = '"+db.TotalsTable+"') WHERE name = '_index.goods.shop_id.id'")
	})
	closeStore(t, st)
	err = admin.Backup(context.Background(), url, strings.TrimPrefix(url, "sqlite:")+".copy")
	if err == nil || !strings.HasPrefix(err.Error(), "no backup was written, because the copy of the database failed its check: it is damaged: ") {
		t.Errorf("got %v", err)
	}
}

func TestBackupIsForSQLite(t *testing.T) {
	want := "this is for SQLite databases; PostgreSQL has pg_dump and pg_restore"
	if err := admin.Backup(context.Background(), "postgres://localhost/x", "x"); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if err := admin.Restore(context.Background(), "postgres://localhost/x", "x", admin.RestoreOptions{Overwrite: true}); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestDatabasesArePrivate: what is created can be read by the server's user only; the mode of what
// is there is the operator's.
func TestDatabasesArePrivate(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	modes := func(files ...string) (all []os.FileMode) {
		t.Helper()
		for _, file := range files {
			info, err := os.Stat(at(file))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, info.Mode().Perm())
		}
		return all
	}
	if err := os.WriteFile(at("shared.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at("shared.db"), 0o640); err != nil { // whatever the umask
		t.Fatal(err)
	}
	ctx, s := context.Background(), (*model.Schema)(schema.Example())
	for name, want := range map[string]os.FileMode{"new.db": 0o600, "shared.db": 0o640} {
		st := open(t, "sqlite:"+at(name), s)
		insert(t, st, s.Collection("users"), `{"name":"Ada","email":"ada@example.com"}`)
		if got := modes(name, name+"-wal", name+"-shm"); !slices.Equal(got, []os.FileMode{want, want, want}) {
			t.Errorf("%s and the files beside it have the modes %o, want %o", name, got, want)
		}
		if err := admin.Backup(ctx, "sqlite:"+at(name), at("backup-"+name)); err != nil {
			t.Fatal(err)
		}
		if err := admin.Restore(ctx, "sqlite:"+at("restored-"+name), at("backup-"+name), admin.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := modes("backup-"+name, "restored-"+name); !slices.Equal(got, []os.FileMode{0o600, 0o600}) {
			t.Errorf("the backup of %s and what is restored of it have the modes %o", name, got)
		}
	}
}

// TestForeignObjectsAreRefused: a backup with anything that Plural does not create is not restored, and none is made of
// such a database. Each change is the only one of its file.
func TestForeignObjectsAreRefused(t *testing.T) {
	const schemaOf = `
collections:
  shops:
    search: [name]
    index: [tags]
    attributes:
      name: {type: string}
      tags: {type: array, items: {type: string}}
`
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	st, err := Open(context.Background(), "sqlite:"+at("live.db"), parse(t, schemaOf))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, st, st.schema.Collection("shops"), `{"name":"A","tags":["b"]}`)
	closeStore(t, st)
	if err := admin.Backup(context.Background(), "sqlite:"+at("live.db"), at("good.db")); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(at("good.db"))
	if err != nil {
		t.Fatal(err)
	}
	redefine := func(table, old, now string) []string {
		return []string{"PRAGMA writable_schema = ON", fmt.Sprintf("UPDATE sqlite_schema SET sql = replace(sql, %s, %s) WHERE name = '%s'", db.Literal(old), db.Literal(now), table)}
	}
	for name, c := range map[string]struct {
		statements []string
		want       string // of the differences, after a dash
	}{
		"a trigger":      {[]string{"CREATE TRIGGER mine AFTER INSERT ON shops BEGIN DELETE FROM shops; END"}, `the trigger "mine" of the table "shops": Plural does not create it`},
		"another action": {[]string{`DROP TRIGGER "_search.shops.delete"`, `CREATE TRIGGER "_search.shops.delete" AFTER DELETE ON "_search.shops" BEGIN DELETE FROM shops; END`}, `the trigger "_search.shops.delete" of the table "_search.shops" is defined otherwise: "CREATE TRIGGER \"_search.shops.delete\" AFTER DELETE ON \"_search.shops\" BEGIN DELETE FROM shops; END"`},
		"a lost trigger": {[]string{`DROP TRIGGER "_search.shops.insert"`}, `the trigger "_search.shops.insert" of the table "_search.shops" is missing`},
		"a view":         {[]string{"CREATE VIEW mine AS SELECT * FROM shops"}, `the view "mine": Plural does not create it`},
		"a hidden table": {[]string{`CREATE TABLE "_items.mine" (a)`}, `the table "_items.mine": Plural does not create it`},
		"an index":       {[]string{"CREATE INDEX mine ON _plural_meta (value)"}, `the index "mine" of the table "_plural_meta": Plural does not create it`},
		"part of an index": {redefine("_plural_answers_at", "(at)", "(at) WHERE at > ''"),
			`the index "_plural_answers_at" of the table "_plural_answers" is defined otherwise: "CREATE INDEX _plural_answers_at ON _plural_answers (at) WHERE at > ''"`},
		"a default":   {redefine("shops", `"name" TEXT`, `"name" TEXT DEFAULT (hex(randomblob(9)))`), `the table "shops" is defined otherwise: ["\"name\" TEXT DEFAULT (hex(randomblob(9)))"]`},
		"a collation": {redefine("shops", `"name" TEXT`, `"name" TEXT COLLATE NOCASE`), `the table "shops" is defined otherwise: ["\"name\" TEXT COLLATE NOCASE"]`},
		"a conflict":  {redefine("shops", `PRIMARY KEY ("id")`, `PRIMARY KEY ("id") ON CONFLICT REPLACE`), `the table "shops" is defined otherwise: ["PRIMARY KEY (\"id\") ON CONFLICT REPLACE"]`},
		"a check":     {redefine("shops", `PRIMARY KEY ("id")`, `PRIMARY KEY ("id"), CHECK (name <> ',')`), `the table "shops" is defined otherwise: ["CHECK (name <> ',')"]`},
		"a type":      {redefine("shops", ") STRICT, WITHOUT", ") WITHOUT"), `the table "shops" is defined otherwise: ["WITHOUT ROWID"]`},
		"a computed column": {redefine("_plural_meta", `value TEXT NOT NULL`, `value TEXT NOT NULL, more TEXT AS (value)`),
			`the table "_plural_meta" is defined otherwise: ["more TEXT AS (value)"]`},
	} {
		t.Run(name, func(t *testing.T) {
			file := at(strings.ReplaceAll(name, " ", "-") + ".db")
			if err := os.WriteFile(file, good, 0o600); err != nil {
				t.Fatal(err)
			}
			runSQLite(t, file, c.statements...)
			misfit := "its tables, indexes, views and triggers are not those that Plural creates:\n  - " + c.want +
				"\nUndo these changes with the program sqlite3 (such as DROP TRIGGER, DROP VIEW), in the database or in a copy of the file. To copy a database with them, use VACUUM INTO of sqlite3 instead of \"plural backup\"."
			err := admin.Restore(context.Background(), "sqlite:"+at("live.db"), file, admin.RestoreOptions{Overwrite: true})
			if want := file + " cannot be restored: " + misfit; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			err = admin.Backup(context.Background(), "sqlite:"+file, file+".copy")
			if want := "no backup was written, because the copy of the database failed its check: " + misfit; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	if left, err := filepath.Glob(at("*.copy*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
