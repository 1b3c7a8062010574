package store

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
)

var update = flag.Bool("update", false, "write the golden files anew")

// recorder keeps the statements that are sent to a database.
type recorder struct {
	mutex      sync.Mutex
	statements []string
}

func (r *recorder) trace(sql string) {
	if strings.HasPrefix(sql, "PRAGMA wal_checkpoint") {
		return // it comes after the answer, at any time
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.statements = append(r.statements, sql)
}

// take returns what was recorded since the last time.
func (r *recorder) take() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	taken := r.statements
	r.statements = nil
	return taken
}

// TestStatements compares the statements that are sent with those in testdata/statements.golden. A
// line with ? is a query whose page is read, one with ! an operation of the table below.
func TestStatements(t *testing.T) {
	const file = "testdata/statements.golden"
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	datasets := map[string]*sqlDataset{
		"sqlite":   newSQLDataset(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db")),
		"postgres": newSQLDataset(t, pgtest.URL(t)),
	}
	var got strings.Builder
	for line := range strings.Lines(string(golden)) {
		mark, what := line[:1], strings.TrimSpace(line[1:])
		if mark == "#" || mark == "?" || mark == "!" {
			got.WriteString(line)
		}
		for _, name := range []string{"sqlite", "postgres"} {
			dataset := datasets[name]
			var statements []string
			switch mark {
			case "?":
				statements = dataset.withoutFrame(dataset.page(t, what))
			case "!":
				statements = dataset.run(t, what)
			}
			for _, statement := range statements {
				fmt.Fprintf(&got, "  %-8s  %s\n", name, strings.NewReplacer(dataset.store.bound().table(dataset.things).All, "<columns>",
					lists.TotalSQL("$1", "$2"), "<total>", lists.TotalSQL("'things'", "''"), "<total>").Replace(statement))
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got.String() != string(golden) {
		t.Errorf("got\n%s\nwant\n%s", &got, golden)
	}
}

// sqlDataset is a store whose statements are recorded. It has two resources; cursors stand at the first.
type sqlDataset struct {
	recorder
	store  *Store
	things *model.Collection
	frame  []string // of every transaction that reads
}

func newSQLDataset(t *testing.T, url string) *sqlDataset {
	t.Helper()
	s := parse(t, strings.Replace(everyKind, "integer: {type: integer}", "integer: {type: integer, index: true}", 1))
	w := &sqlDataset{things: s.Collection("things")}
	var err error
	if w.store, err = Open(context.Background(), url, s, func(o *opening) { o.trace = w.trace }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, w.store) })
	at := time.Now()
	w.store.now = func() time.Time { return at } // or the mark of the ids would be moved on at any time
	write(t, w.store, func(tx *Tx) error {
		var records []model.Record
		for _, id := range []string{"01936f2e-7d3c-7a4b-9c5d-0123456789ab", "01936f2e-7d3c-7a4b-9c5d-0123456789ac"} {
			r := record(t, w.things, `{"id":"`+id+`","integer":7}`)
			r[w.things.CreatedColumn()], r[w.things.UpdatedColumn()] = tx.Now(), tx.Now()
			records = append(records, r)
		}
		tx.NewID()
		_, _, err := tx.InsertAll(w.things, records)
		return err
	})
	if err := w.store.MergeDeltas(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.take()
	tx, err := w.store.Read(context.Background())
	if err == nil {
		_, err = tx.Backlog(1)
		tx.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	w.frame = slices.DeleteFunc(w.take(), func(sql string) bool { return strings.Contains(sql, db.QueueTable) })
	return w
}

func (w *sqlDataset) withoutFrame(statements []string) []string {
	return slices.DeleteFunc(statements, func(sql string) bool { return slices.Contains(w.frame, sql) })
}

// page reads the page of a query.
func (w *sqlDataset) page(t *testing.T, raw string) []string {
	t.Helper()
	q, err := query.Parse(query.OfList, w.things, raw, query.Limits{DefaultLimit: 100})
	if err != nil {
		t.Fatalf("?%s: %v", raw, err)
	}
	page, err := w.store.Page(context.Background(), PageQuery{Collection: w.things, Filter: q.Filter, Sort: q.Sort, Range: q.Range, Unfiltered: q.Filter == nil})
	if err != nil {
		t.Fatalf("?%s: %v", raw, err)
	}
	if err := readPage(page, func(model.Row) {}); err != nil {
		t.Fatalf("?%s: %v", raw, err)
	}
	page.Close()
	return w.take()
}

// run does an operation, whose transaction is recorded as a whole.
func (w *sqlDataset) run(t *testing.T, name string) []string {
	t.Helper()
	ctx, id := context.Background(), model.ID{1}
	inTransaction := func(fn func(tx *Tx) error) error { return w.store.Write(ctx, fn) }
	thing := func(tx *Tx, id model.ID) model.Record {
		r := record(t, w.things, `{}`)
		r[model.IDColumn], r[w.things.CreatedColumn()], r[w.things.UpdatedColumn()] = model.IDValue(id), tx.Now(), tx.Now()
		return r
	}
	operations := map[string]func() error{
		"get": func() error {
			tx, err := w.store.ReadOne(ctx)
			if err != nil {
				return err
			}
			defer tx.Close()
			_, err = tx.View(w.things, nil, id, func(model.Row) {})
			return err
		},
		"create": func() error {
			return inTransaction(func(tx *Tx) error {
				_, err := tx.Insert(w.things, thing(tx, id))
				return err
			})
		},
		"create three, of which one is taken": func() error {
			return inTransaction(func(tx *Tx) error {
				_, _, err := tx.InsertAll(w.things, []model.Record{thing(tx, model.ID{2}), thing(tx, model.ID{3}), thing(tx, id)})
				return err
			})
		},
		"update": func() error {
			return inTransaction(func(tx *Tx) error {
				before, err := tx.Get(w.things, nil, id)
				if err == nil {
					_, err = tx.Update(w.things, before, slices.Clone(before))
				}
				return err
			})
		},
		"delete": func() error {
			return inTransaction(func(tx *Tx) error {
				before, err := tx.Get(w.things, nil, id)
				if err == nil {
					_, err = tx.Delete(w.things, before)
				}
				return err
			})
		},
		"create under an idempotency key": func() error {
			return inTransaction(func(tx *Tx) error {
				key := IdempotencyKey{Caller: "a", Value: "b"}
				if _, _, _, err := tx.LockKey(key); err != nil {
					return err
				}
				err := tx.Savepoint(func() error {
					_, err := tx.Insert(w.things, thing(tx, id))
					return err
				})
				return errors.Join(err, tx.SaveRecord(key, &IdempotencyRecord{}, Quota{Most: 64 << 20}))
			})
		},
		"merge the deltas": func() error { return w.store.MergeDeltas(ctx) },
		"claim operations": func() error {
			return inTransaction(func(tx *Tx) error {
				_, err := tx.Claim(1, time.Minute)
				return err
			})
		},
		"read changes": func() error {
			tx, err := w.store.Read(ctx)
			if err != nil {
				return err
			}
			defer tx.Close()
			_, err = positioned(tx, 0, 10)
			return err
		},
	}
	if operations[name] == nil {
		t.Fatalf("there is no operation %q", name)
	}
	if err := operations[name](); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return w.take()
}
