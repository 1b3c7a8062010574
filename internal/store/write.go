package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
	"github.com/plural-go/plural/problem"
)

// Now is the time of all changes of the transaction.
func (t *Tx) Now() model.Value { return t.at }

// As sets the caller of the changes that follow.
func (t *Tx) As(caller string) { t.caller = caller }

// NewID makes an id that is larger than all before.
func (t *Tx) NewID() model.ID {
	t.minted = true
	id := t.store.minter.next(t.store.now())
	t.newIDs = append(t.newIDs, id)
	return id
}

// NewID makes an id before the transaction that uses it.
func (s *Store) NewID() model.ID { return s.minter.next(s.now()) }

// Savepoint runs fn in a savepoint: if it fails, its writes are undone and the transaction can
// go on.
func (t *Tx) Savepoint(fn func() error) error {
	deltas, last := len(t.deltas), t.last
	var failed error
	err := t.conn.Savepoint(func() bool {
		failed = fn()
		return failed == nil
	})
	if failed != nil {
		t.deltas, t.last = t.deltas[:deltas], last
	}
	if err != nil {
		return t.fault(errors.Join(failed, err))
	}
	return failed
}

// Insert stores a resource and returns its representation. A conflict with another resource is
// a problem.Errors of 409, with pointers into the resource, and words that the search index has no
// room for are one of 422; the transaction can go on.
func (t *Tx) Insert(c *model.Collection, record model.Record) ([]byte, error) {
	representations, conflicts, err := t.InsertAll(c, []model.Record{record})
	if err != nil {
		return nil, err
	}
	return representations[0], conflicts[0].Err()
}

// InsertAll stores resources in their order, as Insert does. Each has a representation or conflicts.
func (t *Tx) InsertAll(c *model.Collection, records []model.Record) (representations [][]byte, conflicts []problem.Errors, err error) {
	representations, conflicts = make([][]byte, len(records)), search.TooLong(c, nil, records)
	tooLong := conflicts != nil
	if !tooLong {
		conflicts = make([]problem.Errors, len(records))
	}
	t.minted = true // Store.NewID may have made the ids before the transaction
	insertion := &db.Insertion{SQL: t.store.tables[c].insert, Collection: c, Records: records, At: t.at, Caller: model.TextValue(t.caller), New: true}
	for i, record := range records {
		if len(conflicts[i]) > 0 {
			continue
		}
		id := record.ID(model.IDColumn)
		if err := t.conn.Announce(c.Name, id); err != nil {
			return nil, nil, t.fault(err)
		}
		_, isNew := slices.BinarySearchFunc(t.newIDs, id, lists.CompareIDs)
		insertion.New = insertion.New && isNew
	}
	if tooLong {
		insertion.Records = nil
		for i, record := range records {
			if len(conflicts[i]) == 0 {
				insertion.Records = append(insertion.Records, record)
			}
		}
	}
	if err := t.conn.Insert(insertion); err != nil {
		return nil, nil, t.fault(err)
	}
	var created []model.Record // whose words are stored
	var last model.Record
	for i, record := range records {
		if len(conflicts[i]) > 0 {
			continue
		}
		if record.Null(c.RevisionColumn()) {
			if conflicts[i], err = t.conflictsOf(c, record); err != nil {
				return nil, nil, t.fault(err)
			}
			continue
		}
		representations[i] = c.Represent(record)
		t.addDelta(c, record, 1)
		if t.store.tables[c].words != "" {
			created = append(created, record)
		}
		last = record
	}
	if last != nil {
		t.last = t.store.log.Appended(&changelog.Entry{Collection: c, ID: last.ID(model.IDColumn), Kind: changelog.Created, At: t.at, Caller: t.caller}, last.Int(c.RevisionColumn()))
	}
	return representations, conflicts, t.fault(t.putWords(c, nil, created))
}

// conflictsOf finds the conflicts of a resource that could not be inserted. It is called only
// then, so that other inserts cost nothing.
func (t *Tx) conflictsOf(c *model.Collection, record model.Record) (problem.Errors, error) {
	conflicts, err := t.conflicts(c, nil, record)
	if err == nil && len(conflicts) == 0 {
		err = fmt.Errorf("an insert into %s was refused without a conflict", c.Name)
	}
	return conflicts, err
}

// conflicts looks for other resources with the same id or the same values in a unique group.
// Before is the previous state, nil for a new resource: only changed values are checked.
func (t *Tx) conflicts(c *model.Collection, before, after model.Record) (problem.Errors, error) {
	var conflicts problem.Errors
	if before == nil {
		taken, err := t.exists(c, []int{model.IDColumn}, after)
		if err != nil {
			return nil, err
		}
		if taken {
			conflicts.Add(fault.At("/id", problem.CodeIDExists, "Another resource, stored or in this request, has the id %s. Send another id, or none.", after.ID(model.IDColumn)))
		}
	}
	for _, group := range c.UniqueGroups() {
		if before != nil && sameIn(group, before, after) {
			continue
		}
		taken, err := t.exists(c, group, after)
		if err != nil {
			return nil, err
		}
		if taken {
			conflicts.Add(ConflictOf(c, group))
		}
	}
	return conflicts, nil
}

func sameIn(group []int, a, b model.Record) bool {
	for _, column := range group {
		if a[column] != b[column] {
			return false
		}
	}
	return true
}

// exists reports whether another resource has the values of a group. Null equals nothing.
func (t *Tx) exists(c *model.Collection, group []int, record model.Record) (bool, error) {
	same := query.And{}
	for _, column := range group {
		if record[column].IsNull() {
			return false, nil
		}
		same = append(same, query.Compare{Column: column, Op: query.Equal, Value: record[column]})
	}
	s := t.store.statement(c, "SELECT 1 FROM ", t.store.tables[c].Name, " WHERE ")
	s.condition(same, true)
	return db.One(t.conn, nil, s.String(), s.Args...)
}

// ConflictOf is the error of a resource whose values of a unique group another one has.
func ConflictOf(c *model.Collection, group []int) *problem.Error {
	names := make([]string, len(group))
	for i, column := range group {
		names[i] = c.Columns()[column].Name
	}
	if len(names) == 1 {
		return fault.At("/"+names[0], problem.CodeNotUnique, "Another resource, stored or in this request, has this %s.", names[0])
	}
	return fault.At("/"+names[0], problem.CodeNotUnique, "Another resource, stored or in this request, has these values of %s.", strings.Join(names, " and "))
}
