package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

const (
	copyBefore = `
collections:
  sqlite_things:
    singular: sqlite_thing
    attributes:
      ctid: {type: string, maxLength: 50, unique: true}
      integer: {type: integer, index: true}
      number: {type: number}
      boolean: {type: boolean}
      uuid: {type: string, format: uuid}
      date: {type: string, format: date}
      moment: {type: string, format: date-time}
      object: {type: object}
      array: {type: array}
      next: {references: {collection: sqlite_things, on_delete: set_null}}
  parts: {parent: sqlite_things, timestamps: false, attributes: {text: {type: string}}}
`
	copyNow = copyBefore + "  spares: {attributes: {note: {type: string}}}\n"
)

// otherKind is the URL of an empty database of the kind that another is not of.
func otherKind(t *testing.T, url string) string {
	t.Helper()
	if strings.HasPrefix(url, "sqlite:") {
		return pgtest.URL(t)
	}
	return sameKind(t, "sqlite:")
}

func sameKind(t *testing.T, url string) string {
	t.Helper()
	if strings.HasPrefix(url, "sqlite:") {
		return "sqlite:" + filepath.Join(t.TempDir(), "copy.db")
	}
	return pgtest.URL(t)
}

// fillForCopy makes a database that has something in every table, two schemas, and
// revisions that nothing remembers.
func fillForCopy(t *testing.T, url string) {
	t.Helper()
	ctx := context.Background()
	before, err := Open(ctx, url, parse(t, copyBefore))
	if err != nil {
		t.Fatal(err)
	}
	things, parts := before.schema.Collection("sqlite_things"), before.schema.Collection("parts")
	insert(t, before, things, `{}`)
	full := insert(t, before, things, `{"ctid":"Zürich 🦄 \u0001 \"\\","integer":-9223372036854775808,"number":5e-324,"boolean":true,"uuid":"ffffffff-ffff-ffff-ffff-ffffffffffff",`+
		`"date":"9999-12-31","moment":"1999-12-31T23:59:59.001+02:00","object":{"b":1,"a":{"c":[null,1.5,"x"]}},"array":[1,[2],{"z":1,"a":9007199254740993}]}`)
	parent := full.ID(model.IDColumn).String()
	empty := insert(t, before, things, `{"ctid":"","integer":0,"number":0,"boolean":false,"date":"0001-01-01","moment":"0000-01-01T00:00:00Z","object":{},"array":[],"next":"`+parent+`"}`)
	insert(t, before, parts, `{"sqlite_thing_id":"`+parent+`","text":"é"}`)
	write(t, before, func(tx *Tx) error { _, err := tx.Delete(things, empty); return err })
	closeStore(t, before)

	now, err := Open(ctx, url, parse(t, copyNow), MigrateAdditive(func(*migrate.Step) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, now)
	things, parts = now.schema.Collection("sqlite_things"), now.schema.Collection("parts")
	insert(t, now, now.schema.Collection("spares"), `{"note":"x"}`)
	gone := insert(t, now, parts, `{"sqlite_thing_id":"`+parent+`"}`)
	operations := []model.ID{{15: 1}, {15: 2}}
	if err := now.AddAPIKey(ctx, auth.StoredKey{Prefix: "aaaaaaaaaa", Hash: "1", Name: "é", Role: "r", Subject: "s", Created: "2026-11-15T08:00:00.000Z", Expires: "2027-11-15T08:00:00.000Z"}); err != nil {
		t.Fatal(err)
	}
	write(t, now, func(tx *Tx) error {
		tx.As("token:é")
		if _, err := tx.Delete(parts, gone); err != nil {
			return err
		}
		if err := tx.SaveRecord(IdempotencyKey{"", "key"}, &IdempotencyRecord{Fingerprint: "f", Outcome: []byte(`{"etag":"\"1.1\""}`), Body: []byte(`{"data":"ü"}`)}, Quota{Most: 1 << 20}); err != nil {
			return err
		}
		id := full.ID(model.IDColumn)
		if err := tx.Enqueue(Job{Operation: operations[0], Method: "DELETE", Collection: things.Name, Resource: id, IfMatch: `"1.1"`}, nil); err != nil {
			return err
		}
		return tx.Enqueue(Job{Operation: operations[1], Caller: "c", Method: "POST", Collection: parts.Name, Resource: model.ID{15: 9}, Parent: &id, Body: `{"text":"new"}`}, operations[:1])
	})
	now.now = func() time.Time { return time.Now().Add(time.Hour) }
	// What was given last is in no table now.
	last := insert(t, now, things, `{}`)
	write(t, now, func(tx *Tx) error { _, err := tx.Delete(things, last); return err })
	write(t, now, func(tx *Tx) error {
		_, err := tx.conn.Exec("DELETE FROM " + db.ChangesTable + " WHERE revision > 7")
		return err
	})
}

// contents is every row of every table in the words of the database itself.
func contents(t *testing.T, url string) []string {
	t.Helper()
	p, err := databases.OpenSource(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, release, err := p.Read()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	found, err := db.Describe(c, p)
	if err != nil {
		t.Fatal(err)
	}
	derived := []string{db.DeltasTable, db.OffsetsTable, db.SequenceTable, db.TicksTable}
	lines := []string{}
	if len(found) == 0 {
		return lines
	}
	for _, name := range db.SortedNames(found) {
		var columns []string
		for _, column := range found[name].Columns {
			switch {
			case column.Name == "transaction" || slices.Contains(derived, name):
			case strings.HasPrefix(url, "postgres"):
				columns = append(columns, "coalesce("+db.Quote(p, column.Name)+"::text, 'null')")
			default:
				columns = append(columns, "quote("+db.Quote(p, column.Name)+")")
			}
		}
		from := db.Quote(p, name)
		if slices.Contains(derived, name) {
			continue
		}
		if name == db.TotalsTable {
			from = lists.AllTotals()
		}
		err := db.Each(c, func(row model.Row) {
			if line := row.Text(0); name != db.MetaTable || !strings.Contains(line, "history") { // each has its own
				lines = append(lines, name+" "+line)
			}
		}, "SELECT "+strings.Join(columns, " || '|' || ")+" AS line FROM "+from+" ORDER BY line")
		if err != nil {
			t.Fatal(err)
		}
	}
	var last int64
	if _, err := db.One(c, func(row model.Row) { last = row.Int(0) }, p.LastGiven()); err != nil {
		t.Fatal(err)
	}
	return append(lines, fmt.Sprint("last revision ", last))
}

// TestCopyRoundTrip: a database that was moved to the other kind and back is
// the one that it was.
func TestCopyRoundTrip(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		fillForCopy(t, url)
		want := contents(t, url)
		if len(want) < 20 {
			t.Fatalf("there is too little to copy:\n%s", strings.Join(want, "\n"))
		}
		there, back, again := otherKind(t, url), sameKind(t, url), sameKind(t, url)
		first := copyDatabases(t, url, there)
		for _, hop := range [][2]string{{there, back}, {back, again}} {
			// The first table has the history id.
			if got := copyDatabases(t, hop[0], hop[1]); !slices.Equal(got.Tables[1:], first.Tables[1:]) {
				t.Errorf("got\n%v\nwant\n%v", got.Tables, first.Tables)
			}
		}
		for _, copied := range []string{back, again} {
			if got := contents(t, copied); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if got := contents(t, url); !slices.Equal(got, want) {
			t.Errorf("the source has changed:\n%s", strings.Join(got, "\n"))
		}
	})
}

func copyDatabases(t *testing.T, from, to string) *admin.Copied {
	t.Helper()
	copied, err := admin.Copy(context.Background(), from, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	if copied.Newer != 0 {
		t.Errorf("the source has given %d revisions", copied.Newer)
	}
	return copied
}

// TestNumbersContinueInACopy: revisions, versions of the schema, ids and the order of changes
// go on in the copy.
func TestNumbersContinueInACopy(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		fillForCopy(t, url)
		to := otherKind(t, url)
		copyDatabases(t, url, to)
		s := parse(t, copyNow)
		source, target := open(t, url, s), open(t, to, s)
		if got := fmt.Sprint(target.declaredIn); got != fmt.Sprint(source.declaredIn) || got != "map[parts:1 spares:2 sqlite_things:1]" {
			t.Errorf("the collections are as they are since %s, and were since %v", got, source.declaredIn)
		}
		if target.minter.mark != source.minter.mark || target.minter.mark == (model.ID{}) {
			t.Errorf("the mark is %s, and was %s", target.minter.mark, source.minter.mark)
		}
		things := s.Collection("sqlite_things")
		inserted := insert(t, target, things, `{}`)
		if got := inserted.Int(things.RevisionColumn()); got != 11 {
			t.Errorf("the next revision is %d", got)
		}
		if last, err := target.AssignNumbers(context.Background()); err != nil || last != 11 {
			t.Errorf("the last position is %d, %v", last, err)
		}
		var order []string
		read(t, target, func(tx *Tx) {
			err := db.Each(tx.conn, func(row model.Row) {
				if row.Int(0) < 11 && row.Int(1) != 0 {
					t.Errorf("a change that was copied has the transaction %d", row.Int(1))
				}
				order = append(order, fmt.Sprint(row.Int(0)))
			}, `SELECT position, "transaction" FROM `+target.db.PositionedLog()+" AS log ORDER BY position")
			if err != nil {
				t.Fatal(err)
			}
			expectTotals(t, tx, things, 3)
		})
		if got := strings.Join(order, " "); got != "1 2 3 4 5 6 7 11" {
			t.Errorf("the changes are %s", got)
		}
	})
}

// TestCopyOfADatabaseInUse: the copy is the database at one moment, and tells what
// came later.
func TestCopyOfADatabaseInUse(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		fillForCopy(t, url)
		want := contents(t, url)
		st := open(t, url, parse(t, copyNow))
		writes := 0
		back, there := sameKind(t, url), otherKind(t, url)
		copied, err := admin.Copy(context.Background(), url, back, func(p admin.CopyProgress) {
			if p.Stage == "copying" && p.Finished {
				insert(t, st, st.schema.Collection("spares"), `{}`)
				writes++
			}
		})
		if err != nil || copied.Newer != int64(writes) || writes != 13 {
			t.Errorf("%d writes: %+v, %v", writes, copied, err)
		}
		if got := contents(t, back); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		copyDatabases(t, url, there)
	})
}

// TestCopyOfLongLists: the offset indexes of a copy are those of its resources.
func TestCopyOfLongLists(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachDatabase(t, func(t *testing.T, url string) {
		st := openStore(t, url, s)
		write(t, st, func(tx *Tx) error {
			for i := range 3 * lists.BlockSize {
				r := record(t, users, fmt.Sprintf(`{"name":"%d","email":"%[1]d@example.com"}`, i))
				r[model.IDColumn] = model.IDValue(tx.NewID())
				r[users.CreatedColumn()], r[users.UpdatedColumn()] = tx.Now(), tx.Now()
				if _, err := tx.Insert(users, r); err != nil {
					return err
				}
			}
			return nil
		})
		closeStore(t, st)
		to := otherKind(t, url)
		copyDatabases(t, url, to)
		if findings, err := admin.Examine(context.Background(), to, admin.ExamineOptions{}); len(findings) > 0 || err != nil {
			t.Errorf("%v, %v", findings, err)
		}
		read(t, open(t, to, s), func(tx *Tx) {
			if divided, err := db.One(tx.conn, nil, "SELECT 1 FROM "+db.OffsetsTable); !divided || err != nil {
				t.Errorf("there is no offset index, %v", err)
			}
		})
	})
}
