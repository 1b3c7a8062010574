package resource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/internal/store"
)

// TestLogEqualsTheModel makes random writes, with cascades and references that are set to null,
// random steps of the schema, and removes random beginnings of the log. A naive model records
// every state when it is stored, and rewrites all that it has recorded with each step of the
// schema: the log must tell the same.
func TestLogEqualsTheModel(t *testing.T) {
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		// Of all runs together: what is removed depends on the clock, and with it what follows.
		var cascades, nulled, schemas, removals int
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				m := newLogModel(t, database(t), seed)
				for range 8 {
					for range 25 {
						m.write()
					}
					m.verify()
					m.removeOldest()
					m.changeSchema()
					m.verify()
				}
				cascades, nulled, schemas, removals = cascades+m.cascades, nulled+m.nulled, schemas+m.schemas, removals+m.removals
			})
		}
		if cascades == 0 || nulled == 0 || schemas < 18 || removals == 0 {
			t.Errorf("%s: %d cascades, %d set to null, %d schemas, %d removals: this tests too little", name, cascades, nulled, schemas, removals)
		}
	}
}

// record compares what the log tells of the last write with what is stored now.
func (m *logModel) record() {
	m.Helper()
	if _, err := m.store.AssignNumbers(context.Background()); err != nil {
		m.Fatal(err)
	}
	stored := map[logResource]logState{}
	m.read(func(tx *store.Tx) {
		for _, c := range m.collections {
			rows, err := tx.Select(m.schema.Collection(c.name), statement.Selection{Order: statement.NewOrder(nil), Take: math.MaxInt64})
			if err != nil {
				m.Fatal(err)
			}
			for {
				more, err := rows.Next()
				if err != nil {
					m.Fatal(err)
				}
				if !more {
					break
				}
				record := m.schema.Collection(c.name).Scan(rows)
				stored[logResource{c.key, record.ID(model.IDColumn)}] = m.state(c, record)
			}
			rows.Close()
		}
	})
	made := m.log(changelog.Query{After: m.position})
	changed := map[logResource]logState{}
	for i, r := range made {
		before, known := changed[r.of]
		if !known {
			before = m.current[r.of]
		}
		if !reflect.DeepEqual(r.before, before) {
			m.Fatalf("before %+v\nthere was %v", r, before)
		}
		changed[r.of] = r.after
		if r.kind == changelog.Deleted && i > 0 {
			m.cascades++
		}
		if len(made) > 1 && r.kind == changelog.Updated {
			m.nulled++
		}
	}
	for of, state := range changed {
		if state == nil {
			delete(m.current, of)
		} else {
			m.current[of] = maps.Clone(state)
		}
	}
	if !reflect.DeepEqual(m.current, stored) {
		m.Fatalf("by the log there is\n%v\nand stored is\n%v", m.current, stored)
	}
	for i := range made {
		made[i].before, made[i].after = maps.Clone(made[i].before), maps.Clone(made[i].after)
	}
	m.recorded = append(m.recorded, made...)
}

func (m *logModel) read(fn func(*store.Tx)) {
	m.Helper()
	tx, err := m.store.Read(context.Background())
	if err != nil {
		m.Fatal(err)
	}
	defer tx.Close()
	fn(tx)
}

// state is a record by keys.
func (m *logModel) state(c *logCollection, record model.Record) logState {
	if record == nil {
		return nil
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(m.schema.Collection(c.name).Append(nil, record), &members); err != nil {
		m.Fatal(err)
	}
	state := logState{-1: string(members["created_at"]), -2: string(members["updated_at"])}
	for _, a := range c.attributes {
		state[a.key] = string(members[a.name])
	}
	return state
}

// log reads all changes of a query, in batches of random sizes.
func (m *logModel) log(q changelog.Query) (all []logRecord) {
	m.Helper()
	collections := map[*model.Collection]*logCollection{}
	for _, c := range m.collections {
		collections[m.schema.Collection(c.name)] = c
	}
	m.read(func(tx *store.Tx) {
		counted, err := tx.CountLog(q)
		if err != nil {
			m.Fatal(err)
		}
		for more := true; more; {
			var entries []changelog.Entry
			var last int64
			q.Most, q.Bytes = 1+m.random.IntN(9), m.random.IntN(500)
			if entries, last, more, err = tx.Log(q); err != nil {
				m.Fatal(err)
			}
			if q.Backwards {
				q.Before = last
			} else {
				q.After, m.position = last, max(m.position, last)
			}
			for _, e := range entries {
				c := collections[e.Collection]
				r := logRecord{position: e.Number, revision: e.Revision, kind: e.Kind, of: logResource{c.key, e.ID}, before: m.state(c, e.Before), after: m.state(c, e.After)}
				if e.Before != nil && !e.Before.Null(e.Collection.RevisionColumn()) || e.After != nil && e.After.Int(e.Collection.RevisionColumn()) != e.Revision {
					m.Fatalf("wrong revisions: %+v", e)
				}
				all = append(all, r)
			}
		}
		if counted != int64(len(all)) {
			m.Fatalf("counted %d changes of %d", counted, len(all))
		}
	})
	return all
}

// verify reads the log in several ways.
func (m *logModel) verify() {
	m.Helper()
	m.expect("forwards", changelog.Query{}, m.recorded)
	m.expect("backwards", changelog.Query{Backwards: true}, reversed(m.recorded))
	for _, c := range m.collections {
		q := changelog.Query{Collection: m.schema.Collection(c.name)}
		m.expect("of "+c.name, q, having(m.recorded, func(r logRecord) bool { return r.of.collection == c.key }))
	}
	for range 5 {
		if len(m.recorded) == 0 {
			break
		}
		of := m.recorded[m.random.IntN(len(m.recorded))].of
		for _, c := range m.collections {
			if c.key == of.collection {
				q := changelog.Query{Collection: m.schema.Collection(c.name), ID: &of.id, Backwards: m.random.IntN(2) == 0}
				want := having(m.recorded, func(r logRecord) bool { return r.of == of })
				if q.Backwards {
					want = reversed(want)
				}
				m.expect("of one resource", q, want)
			}
		}
	}
}

func (m *logModel) expect(what string, q changelog.Query, want []logRecord) {
	m.Helper()
	got := m.log(q)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			m.Fatalf("%s, entry %d:\ngot  %+v\nwant %+v", what, i, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
}

func having(records []logRecord, wanted func(logRecord) bool) (found []logRecord) {
	for _, r := range records {
		if wanted(r) {
			found = append(found, r)
		}
	}
	return found
}

func reversed(records []logRecord) []logRecord {
	records = slices.Clone(records)
	slices.Reverse(records)
	return records
}

// removeOldest removes changes of before a moment, which may be any.
func (m *logModel) removeOldest() {
	m.Helper()
	var entries []changelog.Entry
	var err error
	m.read(func(tx *store.Tx) { entries, _, _, err = tx.Log(changelog.Query{Most: 12}) })
	if err != nil || len(entries) == 0 {
		m.Fatal(entries, err)
	}
	moment, err := time.Parse(time.RFC3339, entries[m.random.IntN(len(entries))].At.Text())
	if err == nil {
		err = m.store.DeleteOldChanges(context.Background(), time.Since(moment))
	}
	if err != nil {
		m.Fatal(err)
	}
	var floor int64
	m.read(func(tx *store.Tx) {
		var bounds changelog.Bounds
		bounds, err = tx.Bounds()
		floor = bounds.Floor
	})
	if err != nil {
		m.Fatal(err)
	}
	left := having(m.recorded, func(r logRecord) bool { return r.position > floor })
	if len(left) < len(m.recorded) {
		m.removals++
	}
	m.recorded = left
}
