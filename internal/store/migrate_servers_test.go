package store

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/problem"
)

// These tests are about those who use a database while somebody migrates it.

// TestServerOfAnOldSchema: a server that is running while its database is migrated
// goes on if it can do no harm and finds what it knows, and else refuses.
func TestServerOfAnOldSchema(t *testing.T) {
	change := func(old, now string) string {
		if !strings.Contains(shopsBefore, old) {
			t.Fatalf("there is no %s", old)
		}
		return strings.Replace(shopsBefore, old, now, 1)
	}
	for name, c := range map[string]struct {
		after         string
		reads, writes bool
	}{
		"a new collection":       {shopsBefore + "  extras: {parent: shops}\n", true, true},
		"a new attribute":        {change("code: {type: string}", "code: {type: string}\n      kind: {type: string}"), true, true},
		"fewer restrictions":     {change("maxLength: 100", "maxLength: 200"), true, true},
		"a new default":          {change("code: {type: string}", "code: {type: string}\n      kind: {type: string, default: x}"), true, true},
		"another default":        {change("code: {type: string}", "code: {type: string, default: x}"), true, true},
		"another on_delete":      {change("parent: shops", "parent: {collection: shops, on_delete: cascade}"), true, false},
		"a restriction":          {change("code: {type: string}", "code: {type: string, maxLength: 2}"), true, false},
		"required":               {change("    parent: shops", "    parent: shops\n    required: [shop_id]"), true, false},
		"a computed attribute":   {change("code: {type: string}", "code: {type: string}\n      size2: {type: string, computed: resource.size}"), true, false},
		"computed by a write":    {change("code: {type: string}", "code: {type: string}\n      by: {type: string, computed: auth.sub}"), true, false},
		"computed from now on":   {change("code: {type: string}", "code: {type: string, computed: resource.size}"), true, false},
		"a check":                {change("    parent: shops", "    parent: shops\n    checks: [{rule: size(resource.title) > 0, message: No title.}]"), true, false},
		"a check of writes":      {change("    parent: shops", "    parent: shops\n    checks: [{rule: auth.sub != null, message: Nobody.}]"), true, false},
		"written once":           {change("code: {type: string}", "code: {type: string, write_once: true}"), true, false},
		"a lifecycle":            {change("code: {type: string}", "code: {type: string, enum: [a, b], transitions: {a: [b]}, default: a}"), true, false},
		"another type":           {change("code: {type: string}", "code: {type: integer}"), false, false},
		"an attribute removed":   {change("      code: {type: string}\n", ""), false, false},
		"an attribute renamed":   {change("code: {type: string}", "zip: {type: string, renamed_from: code}"), false, false},
		"a collection renamed":   {change("shops:", "stores:\n    renamed_from: shops\n    singular: shop"), false, false},
		"a collection removed":   {change(shopsBefore[strings.Index(shopsBefore, "  goods:"):], ""), false, false},
		"no sub-collection":      {change("parent: shops", "attributes: {shop_id: {references: shops}}"), false, false},
		"a removed timestamp":    {change("    parent: shops", "    parent: shops\n    timestamps: false"), false, false},
		"another type elsewhere": {change("title: {type: string}", "title: {type: array}"), false, false},
	} {
		if name == "a collection renamed" {
			c.after = strings.Replace(c.after, "parent: shops", "parent: stores", 1)
		}
		if name == "no sub-collection" {
			c.after = strings.Replace(c.after, "    attributes:\n      title: {type: string}\n", "", 1)
		}
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, url string) {
				st := open(t, url, parse(t, shopsBefore))
				if err := insertPair(st); err != nil {
					t.Fatal(err)
				}
				if _, err := migrate.Run(context.Background(), url, parse(t, c.after), migrate.Options{AllowLoss: true}); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					expectAllowed(t, "write", c.writes, insertPair(st))
					expectAllowed(t, "ping", c.writes, st.Ping(context.Background()))
					expectAllowed(t, "read", c.reads, readShops(st))
					expectAllowed(t, "look", c.reads, lookAtShop(st))
					expectAllowed(t, "page", c.reads, pageOfShops(st))
				}
			})
		})
	}
}

func expectAllowed(t *testing.T, what string, allowed bool, err error) {
	t.Helper()
	if allowed && err != nil || !allowed && !fault.Is(err, problem.CodeUnavailable) {
		t.Errorf("%s: got %v", what, err)
	}
}

func readShops(st *Store) error {
	tx, err := st.Read(context.Background())
	if err != nil {
		return err
	}
	defer tx.Close()
	shops := st.schema.Collection("shops")
	return db.Each(tx.conn, func(row model.Row) {
		shops.Append(nil, row)
	}, "SELECT "+st.bound().table(shops).All+" FROM "+st.bound().table(shops).Name)
}

// prepareAll has more connections than a test uses, each with the plans of the statements
// that are sent without a transaction.
func prepareAll(t *testing.T, st *Store) {
	t.Helper()
	for range 8 {
		tx, err := st.ReadOne(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Close()
		for range 7 {
			expectAllowed(t, "look", true, lookAt(tx))
			expectAllowed(t, "page", true, pageOf(tx))
		}
	}
}

func lookAtShop(st *Store) error { return inside(st.ReadOne, lookAt) }

func pageOfShops(st *Store) error { return inside(st.lookAtPage, pageOf) }

func (s *Store) lookAtPage(ctx context.Context) (*Tx, error) { return s.read(ctx, db.PageInOne) }

func inside(open func(context.Context) (*Tx, error), fn func(*Tx) error) error {
	tx, err := open(context.Background())
	if err != nil {
		return err
	}
	defer tx.Close()
	return fn(tx)
}

func lookAt(tx *Tx) error {
	shops := tx.store.schema.Collection("shops")
	_, err := tx.View(shops, nil, model.ID{15: 1}, func(row model.Row) { shops.Append(nil, row) })
	return err
}

// pageOf reads the beginning of a collection by one query.
func pageOf(tx *Tx) error {
	shops := tx.store.schema.Collection("shops")
	return db.Each(tx.conn, func(row model.Row) {
		if !row.Null(model.IDColumn) { // the first row has the total
			shops.Append(nil, row)
		}
	}, tx.bound.firstPage(shops, false), model.IntValue(1))
}

// TestTransactionsThatWaitForAMigration: whoever begins in the middle of one, and waits, does
// not go on with what was true when it began.
func TestTransactionsThatWaitForAMigration(t *testing.T) {
	for name, after := range map[string]string{
		"another type":           strings.Replace(shopsBefore, "code: {type: string}", "code: {type: integer}", 1),
		"another type elsewhere": strings.Replace(shopsBefore, "title: {type: string}", "title: {type: array}", 1), // the table that is read stays as it is
	} {
		t.Run(name, func(t *testing.T) { testWaiting(t, after) })
	}
}

func testWaiting(t *testing.T, after string) {
	eachDatabase(t, func(t *testing.T, url string) {
		loadShops(t, url, []string{`{"id":"` + id(1) + `","name":"A","code":"12"}`}, nil)
		st := open(t, url, parse(t, shopsBefore))
		prepareAll(t, st)
		var written, read, looked, page error
		var others sync.WaitGroup
		migrate.StageReached = func(stage string) {
			if stage != "drop foreign keys" {
				return
			}
			others.Go(func() { written = insertPair(st) })
			if strings.HasPrefix(url, "postgres") { // on SQLite, who reads need not wait
				others.Go(func() { read = readShops(st) })
				others.Go(func() { looked = lookAtShop(st) })
				others.Go(func() { page = pageOfShops(st) })
				awaitWaiting(t, url, 4)
			}
		}
		defer func() { migrate.StageReached = func(string) {} }()
		if _, err := migrate.Run(context.Background(), url, parse(t, after), migrate.Options{}); err != nil {
			t.Fatal(err)
		}
		others.Wait()
		expectAllowed(t, "write", false, written)
		if strings.HasPrefix(url, "postgres") {
			expectAllowed(t, "read", false, read)
			expectAllowed(t, "look", false, looked)
			expectAllowed(t, "page", false, page)
		}
	})
}

// awaitWaiting returns when as many sessions of a PostgreSQL database wait for a lock.
func awaitWaiting(t *testing.T, url string, sessions int64) {
	t.Helper()
	b, err := databases.Open(context.Background(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for waiting := int64(0); waiting < sessions; {
		err := db.Write(context.Background(), b, func(c db.Conn) error {
			_, err := db.One(c, func(row model.Row) { waiting = row.Int(0) },
				"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMigrationsAtOnce: one of them does it, and the others find it done.
func TestMigrationsAtOnce(t *testing.T) {
	for name, load := range map[string]func(t *testing.T, url string){
		"with resources": func(t *testing.T, url string) {
			loadShops(t, url, []string{`{"id":"` + id(1) + `","name":"A","size":"12"}`}, nil)
		},
		"empty": func(t *testing.T, url string) {
			b, err := databases.Open(context.Background(), url, db.Options{}) // which makes the file
			if err != nil {
				t.Fatal(err)
			}
			b.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, url string) {
				load(t, url)
				const processes = 6
				var took [processes]int
				var errs [processes]error
				var all sync.WaitGroup
				for i := range processes {
					all.Go(func() {
						if name == "empty" && i%2 == 0 { // a server makes the tables, too
							st, err := Open(context.Background(), url, parse(t, shopsAfter))
							if errs[i] = err; err == nil {
								errs[i] = st.Close()
							}
							return
						}
						steps, err := migrate.Run(context.Background(), url, parse(t, shopsAfter), migrate.Options{})
						took[i], errs[i] = len(steps), err
					})
				}
				all.Wait()
				did := 0
				for i := range processes {
					if errs[i] != nil {
						t.Error(errs[i])
					}
					if took[i] > 0 {
						did++
					}
				}
				if did > 1 || name != "empty" && did != 1 {
					t.Errorf("%d of them did it: %v", did, took)
				}
				open(t, url, parse(t, shopsAfter))
			})
		})
	}
}

// TestOperationsSurviveARename: what was accepted for a collection is done in it,
// whatever its name is by then.
func TestOperationsSurviveARename(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, parse(t, shopsBefore))
		job := Job{Method: "POST", Collection: "shops", Body: `{"name":"A"}`, Schema: 1}
		write(t, st, func(tx *Tx) error {
			job.Operation, job.Resource = tx.NewID(), tx.NewID()
			return tx.Enqueue(job, nil)
		})
		if _, err := migrate.Run(context.Background(), url, parse(t, shopsAfter), migrate.Options{AllowLoss: true}); err != nil {
			t.Fatal(err)
		}
		after := open(t, url, parse(t, shopsAfter))
		job.Collection = "stores"
		read(t, after, func(tx *Tx) {
			waiting, err := tx.Unfinished(after.schema.Collection("stores"), job.Resource)
			if err != nil || !reflect.DeepEqual(waiting, []Job{job}) {
				t.Errorf("got %v, %v", waiting, err)
			}
		})
	})
}

// TestUnknownReferences: what refers to a resource may be in a collection that an
// old server does not know. It cannot delete it then, and says so.
func TestUnknownReferences(t *testing.T) {
	const after = shopsBefore + "  extras: {parent: shops}\n"
	eachDatabase(t, func(t *testing.T, url string) {
		loadShops(t, url, []string{`{"id":"` + id(1) + `","name":"A"}`}, nil)
		st := open(t, url, parse(t, shopsBefore))
		if _, err := migrate.Run(context.Background(), url, parse(t, after), migrate.Options{}); err != nil {
			t.Fatal(err)
		}
		other := open(t, url, parse(t, after))
		insert(t, other, other.schema.Collection("extras"), fmt.Sprintf(`{"id":"%s","shop_id":"%s"}`, id(2), id(1)))
		shops := st.schema.Collection("shops")
		key, _ := model.ParseID(id(1))
		err := st.Write(context.Background(), func(tx *Tx) error {
			record, err := tx.Get(shops, nil, key)
			if err == nil {
				_, err = tx.Delete(shops, record)
			}
			return err
		})
		expectAllowed(t, "delete", false, err)
		insert(t, st, shops, `{"name":"B"}`) // everything else goes on
	})
}

// TestMigrationDuringALongRead: somebody who reads for long holds up the migration, and
// nobody else for more than a moment.
func TestMigrationDuringALongRead(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	loadShops(t, url, []string{`{"id":"` + id(1) + `","name":"A"}`}, nil)
	st := open(t, url, parse(t, shopsBefore))
	reader, err := st.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Count(st.schema.Collection("shops"), nil); err != nil {
		t.Fatal(err)
	}
	migrated := make(chan error, 1)
	go func() {
		_, err := migrate.Run(context.Background(), url, parse(t, shopsBefore+"  extras: {}\n"), migrate.Options{})
		migrated <- err
	}()
	awaitWaiting(t, url, 1)
	for range 3 {
		// The first reader stays. If the migration went on waiting for its lock, so would this one.
		if err := readShops(st); err != nil {
			t.Fatal(err)
		}
		awaitWaiting(t, url, 1)
	}
	reader.Close()
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}
