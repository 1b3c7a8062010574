package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
)

// Now is the time of all changes of the transaction.
func (t *Tx) Now() model.Value { return t.at }

// As says who makes the changes that follow.
func (t *Tx) As(caller string) { t.caller = caller }

// NewID mints an id that is larger than every one minted before.
func (t *Tx) NewID() model.ID {
	t.minted = true
	return t.store.minter.next(t.store.now())
}

// NewID mints an id ahead of the transaction that uses it.
func (s *Store) NewID() model.ID { return s.minter.next(s.now()) }

// Attempt runs fn in a part of the transaction: what a failed fn has done is
// undone, and the transaction can go on.
func (t *Tx) Attempt(fn func() error) error {
	if err := t.conn.later(nil, "SAVEPOINT attempt"); err != nil {
		return t.fault(err)
	}
	noted, last := len(t.deltas), t.last
	failed := fn()
	if failed != nil {
		t.deltas, t.last = t.deltas[:noted], last
		if _, err := t.conn.exec("ROLLBACK TO SAVEPOINT attempt"); err != nil {
			return t.fault(errors.Join(failed, err))
		}
	}
	if err := t.conn.later(nil, "RELEASE SAVEPOINT attempt"); err != nil {
		return t.fault(errors.Join(failed, err))
	}
	return failed
}

// Insert adds a resource and returns its representation. A conflict with
// another resource is reported as a problem.Errors of 409, with pointers into the
// resource; the transaction can go on then.
func (t *Tx) Insert(c *model.Collection, record model.Record) ([]byte, error) {
	representations, conflicts, err := t.InsertAll(c, []model.Record{record})
	if err != nil {
		return nil, err
	}
	return representations[0], conflicts[0].Err()
}

// Add stores a new resource by itself, together with those of others who do the same at
// this moment. Fill makes it of its id and the time. Not stored means that nothing has
// happened, and that it is to be inserted by a transaction, which knows what stands against it.
func (s *Store) Add(ctx context.Context, c *model.Collection, fill func(id model.ID, now model.Value) model.Record) (record model.Record, representation []byte, stored bool, err error) {
	together, ok := s.backend.(grouper)
	known := s.standing.Load()
	if !ok || !known.writes {
		return nil, nil, false, nil
	}
	now := s.now()
	id, within := s.minter.nextWithinMark(now)
	if !within {
		return nil, nil, false, nil
	}
	wanted := &creation{ctx: ctx, known: known.version, at: model.TimeValue(model.FormatTime(now))}
	wanted.record = fill(id, wanted.at)
	wanted.representation = c.Append(nil, wanted.record)
	together.store(s.tables[c], wanted)
	if !wanted.stored {
		return nil, nil, false, s.fault(ctx, wanted.err)
	}
	wanted.record[c.RevisionColumn()] = model.IntValue(wanted.revision)
	s.waiting.Add(1)
	return wanted.record, wanted.representation, true, nil
}

// InsertAll adds resources in their order, as Insert does, and waits for the
// database once. Each has a representation or is in conflict.
func (t *Tx) InsertAll(c *model.Collection, records []model.Record) (representations [][]byte, conflicts []problem.Errors, err error) {
	representations, conflicts = make([][]byte, len(records)), make([]problem.Errors, len(records))
	revisions, stored := make([]int64, len(records)), make([]bool, len(records))
	t.minted = true // perhaps ahead of the transaction
	for i, record := range records {
		representations[i] = c.Append(nil, record)
		if err := t.change(func(revision int64) { revisions[i] = revision }, c, "create", record.ID(model.IDColumn), representations[i]); err != nil {
			return nil, nil, err
		}
		if err := t.conn.put(func(int64) { stored[i] = true }, t.store.tables[c].insert, record[:c.RevisionColumn()]...); err != nil {
			return nil, nil, t.fault(err)
		}
	}
	if err := t.conn.flush(); err != nil {
		return nil, nil, t.fault(err)
	}
	for i, record := range records {
		if stored[i] {
			record[c.RevisionColumn()] = model.IntValue(revisions[i])
			t.changed(c, "create", record, representations[i])
			t.note(c, record, 1)
			continue
		}
		representations[i] = nil
		if conflicts[i], err = t.refused(c, record, revisions[i]); err != nil {
			return nil, nil, t.fault(err)
		}
	}
	return representations, conflicts, nil
}

// refused finds what a resource that could not be inserted is in conflict with. It is
// looked for only then, so that it costs nothing otherwise; the change is there
// by then, as it gives the revision, and is taken back.
func (t *Tx) refused(c *model.Collection, record model.Record, revision int64) (problem.Errors, error) {
	if err := t.conn.later(nil, "DELETE FROM "+changesTable+" WHERE revision = $1", model.IntValue(revision)); err != nil {
		return nil, err
	}
	conflicts, err := t.conflicts(c, nil, record)
	if err == nil && len(conflicts) == 0 {
		err = fmt.Errorf("an insert into %s was refused without a conflict", c.Name)
	}
	return conflicts, err
}

// Update replaces a resource that was read in this transaction and returns its
// new representation. Conflicts are reported as by Insert.
func (t *Tx) Update(c *model.Collection, before, after model.Record) ([]byte, error) {
	conflicts, err := t.conflicts(c, before, after)
	if err != nil {
		return nil, t.fault(err)
	}
	if len(conflicts) > 0 {
		return nil, conflicts
	}
	id := after[model.IDColumn]
	representation := c.Append(nil, after)
	if err := t.change(ignore, c, "update", id.ID(), representation); err != nil {
		return nil, err
	}
	args := append(model.Record{}, after[1:c.RevisionColumn()]...)
	stored := false
	err = t.conn.put(func(revision int64) {
		after[c.RevisionColumn()], stored = model.IntValue(revision), true
	}, t.store.tables[c].update, append(args, id, before[c.RevisionColumn()])...)
	if err == nil {
		err = t.conn.flush()
	}
	if err == nil && !stored {
		err = fmt.Errorf("an update of %s found no row", c.Name)
	}
	if err != nil {
		return nil, t.fault(err)
	}
	t.changed(c, "update", after, representation)
	t.noteMove(c, before, after)
	return representation, nil
}

// Delete removes a resource that was read in this transaction and returns its
// last representation.
func (t *Tx) Delete(c *model.Collection, record model.Record) ([]byte, error) {
	representation := c.Append(nil, record)
	if err := t.change(ignore, c, "delete", record.ID(model.IDColumn), representation); err != nil {
		return nil, err
	}
	changed, err := t.conn.exec(t.store.tables[c].delete, record[model.IDColumn], record[c.RevisionColumn()])
	if err == nil && changed != 1 {
		err = fmt.Errorf("a deletion from %s removed %d rows", c.Name, changed)
	}
	if err != nil {
		return nil, t.fault(err)
	}
	t.changed(c, "delete", record, representation)
	t.note(c, record, -1)
	return representation, nil
}

// conflicts looks for other resources with the same id or the same values in a
// unique group. Before is the resource as it was, nil for a new one: what has
// not changed is in no conflict.
func (t *Tx) conflicts(c *model.Collection, before, after model.Record) (problem.Errors, error) {
	var conflicts problem.Errors
	if before == nil {
		taken, err := t.taken(c, []int{model.IDColumn}, after)
		if err != nil {
			return nil, err
		}
		if taken {
			conflicts.Add(fault.At("/id", problem.CodeIDExists, "The id %s is taken by another resource, which is stored or in this request.", after.ID(model.IDColumn)))
		}
	}
	for _, group := range c.UniqueGroups() {
		if before != nil && sameIn(group, before, after) {
			continue
		}
		taken, err := t.taken(c, group, after)
		if err != nil {
			return nil, err
		}
		if taken {
			conflicts.Add(conflictOf(c, group))
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

// taken reports whether another resource has the values of a group. Null equals
// nothing.
func (t *Tx) taken(c *model.Collection, group []int, record model.Record) (bool, error) {
	same := query.And{}
	for _, column := range group {
		if record[column].IsNull() {
			return false, nil
		}
		same = append(same, query.Compare{Column: column, Op: query.Equal, Value: record[column]})
	}
	s := t.store.statement(c, "SELECT 1 FROM ", t.store.tables[c].name, " WHERE ")
	s.condition(same, true)
	return one(t.conn, nil, s.String(), s.args...)
}

func conflictOf(c *model.Collection, group []int) *problem.Error {
	names := make([]string, len(group))
	for i, column := range group {
		names[i] = c.Columns()[column].Name
	}
	if len(names) == 1 {
		return fault.At("/"+names[0], problem.CodeNotUnique, "Another resource, which is stored or in this request, has this %s.", names[0])
	}
	return fault.At("/"+names[0], problem.CodeNotUnique, "Another resource, which is stored or in this request, has these values of %s.", strings.Join(names, " and "))
}
