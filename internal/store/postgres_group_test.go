package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
)

const familySchema = `
collections:
  parents:
    attributes:
      name: {type: string, maxLength: 50}
  children:
    parent: parents
    attributes:
      name: {type: string, maxLength: 50, unique: true}
      size: {type: integer}
      weight: {type: number}
      born: {type: string, format: date-time}
      words: {type: array, items: {type: string}}
`

// family is a store with a group whose statements are sent by hand.
type family struct {
	*testing.T
	url      string
	store    *Store
	children *model.Collection
	parent   model.ID
	group    *postgresGroup
}

func newFamily(t *testing.T) *family {
	t.Parallel()
	s := parse(t, familySchema)
	f := &family{T: t, url: pgtest.URL(t), children: s.Collection("children")}
	f.store = open(t, f.url, s)
	f.parent = insert(t, f.store, s.Collection("parents"), `{"name":"Ada"}`).ID(model.IDColumn)
	b, table := f.store.backend.(*postgresBackend), f.store.tables[f.children]
	f.group = &postgresGroup{backend: b, table: table, sql: groupStatement(b, table)}
	return f
}

// child is one that is to be stored, of a parent if there is one.
func (f *family) child(name string, parent *model.ID) *creation {
	f.Helper()
	wanted := &creation{
		ctx: context.Background(), known: f.store.standing.Load().version, at: model.TimeValue(model.FormatTime(f.store.now())),
		record: record(f.T, f.children, `{"name":"`+name+`","size":-7,"weight":0.5,"born":"1815-12-10T01:02:03.456Z","words":["a","\"b\""]}`),
	}
	wanted.record[model.IDColumn] = model.IDValue(f.store.minter.next(f.store.now()))
	wanted.record[f.children.CreatedColumn()], wanted.record[f.children.UpdatedColumn()] = wanted.at, wanted.at
	if parent != nil {
		wanted.record[f.children.ParentLink().Column] = model.IDValue(*parent)
	}
	wanted.representation = f.children.Append(nil, wanted.record)
	return wanted
}

// expect compares what has become of creations, and all that is in the database, with which
// of them should be stored.
func (f *family) expect(batch []*creation, stored ...bool) {
	f.Helper()
	var got []bool
	var changes, ofParent, last int64
	for i, wanted := range batch {
		got = append(got, wanted.stored)
		if !stored[i] {
			continue
		}
		if wanted.revision <= last {
			f.Errorf("the revision %d comes behind %d", wanted.revision, last)
		}
		last = wanted.revision
		wanted.record[f.children.RevisionColumn()] = model.IntValue(wanted.revision)
		if !wanted.record[f.children.ParentLink().Column].IsNull() {
			ofParent++
		}
		changes++
	}
	if !slices.Equal(got, stored) {
		f.Fatalf("stored: %v, want %v", got, stored)
	}
	read(f.T, f.store, func(tx *Tx) {
		expectTotals(f.T, tx, f.children, changes)
		if total, err := tx.Total(f.children, &f.parent); err != nil || total != ofParent {
			f.Errorf("%d of the parent, want %d: %v", total, ofParent, err)
		}
		for i, wanted := range batch {
			id := wanted.record.ID(model.IDColumn)
			found, err := tx.Get(f.children, nil, id)
			if stored[i] && err == nil {
				var change *Change
				change, err = tx.ChangedBefore(math.MaxInt64, f.children, id)
				want := &Change{Position: Position{Revision: wanted.revision}, Collection: "children", ID: id, Kind: "create", Representation: wanted.representation}
				if !reflect.DeepEqual(change, want) {
					f.Errorf("%d: the change is %v, want %v", i, change, want)
				}
			}
			if err != nil || stored[i] && !slices.Equal(found, wanted.record) || !stored[i] && found != nil {
				f.Errorf("%d: got %v, want %v: %v", i, found, wanted.record, err)
			}
		}
	})
	if logged := execute(f.T, f.url, "SELECT FROM "+changesTable); logged != changes+1 { // and that of the parent
		f.Errorf("%d changes, want %d", logged, changes+1)
	}
}

// TestGroups: what stands against one resource of a group harms no other.
func TestGroups(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*family){
		"all, in their order": func(f *family) {
			batch := []*creation{f.child("a", nil), f.child("b", &f.parent), f.child("c", &f.parent)}
			f.group.storeAll(batch)
			f.expect(batch, true, true, true)
		},
		"but those in conflict, with each other or with what is stored": func(f *family) {
			batch := []*creation{f.child("a", nil), f.child("a", nil), f.child("b", &f.parent)}
			f.group.storeAll(batch)
			f.expect(batch, true, false, true)
			batch = append(batch, f.child("b", nil), f.child("c", nil))
			f.group.storeAll(batch[3:])
			f.expect(batch, true, false, true, false, true)
		},
		"but those without their parent": func(f *family) {
			batch := []*creation{f.child("a", &model.ID{1}), f.child("b", &f.parent)}
			f.group.storeAll(batch)
			f.expect(batch, false, true)
		},
		"but those whose clients have hung up": func(f *family) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			batch := []*creation{f.child("a", nil), f.child("b", nil)}
			batch[0].ctx = ctx
			f.group.storeAll(batch)
			f.expect(batch, false, true)
			if !errors.Is(batch[0].err, context.Canceled) {
				f.Error(batch[0].err)
			}
		},
		"none of another version of the schema": func(f *family) {
			batch := []*creation{f.child("a", nil), f.child("b", nil)}
			batch[1].known.number++
			f.group.storeAll(batch)
			f.expect(batch, true, false)
			batch = append(batch, f.child("c", nil))
			batch[2].known.at = "2020-01-01T00:00:00.000Z" // as in a database that was restored
			f.group.storeAll(batch[2:])
			f.expect(batch, true, false, false)
		},
		"none when a later version is in force": func(f *family) {
			execute(f.T, f.url, "INSERT INTO "+schemasTable+" (version, at, document) SELECT version + 1, at, document FROM "+schemasTable)
			batch := []*creation{f.child("a", nil)}
			f.group.storeAll(batch)
			f.expect(batch, false)
		},
		"none when one has to wait for a transaction": func(f *family) {
			other, err := pgx.Connect(context.Background(), f.url)
			if err != nil {
				f.Fatal(err)
			}
			defer other.Close(context.Background())
			for _, sql := range []string{"BEGIN", "INSERT INTO children (id, name, created_at, updated_at, _revision) VALUES ('00000000-0000-0000-0000-000000000001', 'a', now(), now(), 1)"} {
				if _, err := other.Exec(context.Background(), sql); err != nil {
					f.Fatal(err)
				}
			}
			batch := []*creation{f.child("a", nil), f.child("b", nil)}
			f.group.storeAll(batch)
			f.expect(batch, false, false)
			if batch[0].err != nil || batch[1].err != nil {
				f.Error(batch[0].err, batch[1].err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { test(newFamily(t)) })
	}
}

// TestGroupsThatLoseTheirConnection: each finds out by itself what has become of it, and not
// before nothing can become of it any more.
func TestGroupsThatLoseTheirConnection(t *testing.T) {
	f := newFamily(t)
	b := f.group.backend
	acquired, err := b.acquireFrom(context.Background(), b.shared)
	if err != nil {
		t.Fatal(err)
	}
	defer acquired.Release()
	batch := []*creation{f.child("a", nil), f.child("b", &f.parent), f.child("b", nil)}
	by, err := f.group.send(acquired, batch)
	if err != nil {
		t.Fatal(err)
	}
	f.expect(batch, true, true, false)
	revisions := []int64{batch[0].revision, batch[1].revision}
	batch = append(batch, f.child("never sent", nil))
	for _, wanted := range batch { // as if there had been no answer
		wanted.stored, wanted.revision = false, 0
	}
	resolved := make(chan error, 1)
	go func() { resolved <- f.group.resolve(by, batch) }()
	select {
	case err := <-resolved:
		t.Errorf("resolved while the session goes on: %v", err)
	case <-time.After(200 * time.Millisecond): // in which it asks several times
	}
	execute(t, f.url, "SELECT pg_terminate_backend("+by.process+", 10000)")
	if err := <-resolved; err != nil {
		t.Fatal(err)
	}
	f.expect(batch, true, true, false, false)
	if got := []int64{batch[0].revision, batch[1].revision}; !slices.Equal(got, revisions) {
		t.Errorf("revisions %v, want %v", got, revisions)
	}
}

// TestGroupOnAConnectionThatIsGone: nothing is stored, and it can be tried again.
func TestGroupOnAConnectionThatIsGone(t *testing.T) {
	f := newFamily(t)
	batch := []*creation{f.child("a", nil), f.child("b", nil), f.child("c", nil)}
	f.group.storeAll(batch[:1])
	execute(t, f.url, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'WITH stored%'")
	f.group.storeAll(batch[1:2])
	f.group.storeAll(batch[2:])
	f.expect(batch, true, false, true)
	if batch[1].err != nil {
		t.Error(batch[1].err)
	}
}

// TestAddByManyAndByOne: everybody who adds gets an answer of their own, also who is alone.
func TestAddByManyAndByOne(t *testing.T) {
	f := newFamily(t)
	write(t, f.store, func(tx *Tx) error { // a mark that no id comes near in this test
		f.store.minter.mark = model.ID{0xff}
		return nil
	})
	add := func(name string) bool {
		_, _, stored, err := f.store.Add(context.Background(), f.children, func(id model.ID, now model.Value) model.Record {
			wanted := f.child(name, nil)
			wanted.record[model.IDColumn] = model.IDValue(id)
			return wanted.record
		})
		if err != nil {
			t.Error(err)
		}
		return stored
	}
	if !add("alone") {
		t.Error("who is alone is not stored")
	}
	const writers, names = 200, 100
	results := make(chan bool, writers)
	for i := range writers {
		go func() { results <- add(fmt.Sprint(i % names)) }()
	}
	stored := 0
	for range writers {
		if <-results {
			stored++
		}
	}
	read(t, f.store, func(tx *Tx) { expectTotals(t, tx, f.children, int64(stored)+1) })
	if stored != names {
		t.Errorf("%d stored, want %d", stored, names)
	}
}
