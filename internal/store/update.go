package store

import (
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
	"github.com/plural-go/plural/problem"
)

// chunkSize is how many values one statement compares with.
const chunkSize = 500

// Update replaces a resource that was read in this transaction and returns its new
// representation. Conflicts are reported as by Insert.
func (t *Tx) Update(c *model.Collection, before, after model.Record) ([]byte, error) {
	representations, conflicts, err := t.UpdateAll(c, []model.Record{before}, []model.Record{after})
	if err != nil {
		return nil, err
	}
	if conflicts != nil {
		return nil, conflicts[0]
	}
	return representations[0], nil
}

// UpdateAll replaces resources that were read in this transaction, in their order and in one
// batch, and returns their new representations. If a resource has conflicts with another, as
// Insert reports them, none is replaced, and the conflicts of each are returned.
func (t *Tx) UpdateAll(c *model.Collection, before, after []model.Record) (representations [][]byte, conflicts []problem.Errors, err error) {
	if len(after) == 0 {
		return nil, nil, nil
	}
	if conflicts = search.TooLong(c, before, after); conflicts != nil {
		return nil, conflicts, nil
	}
	if conflicts, err = t.updateConflicts(c, before, after); err != nil || conflicts != nil {
		return nil, conflicts, t.fault(err)
	}
	if err := t.announceAll(c, recordIDs(after)...); err != nil {
		return nil, nil, err
	}
	table := t.store.tables[c]
	representations = make([][]byte, len(after))
	changes, stored := make([]*changelog.Appended, len(after)), make([]bool, len(after))
	batch := make([]db.Statement, 0, 2*len(after))
	for i := range after {
		id := after[i][model.IDColumn]
		representations[i] = c.Represent(after[i])
		args := append(model.Record{}, after[i][1:c.RevisionColumn()]...)
		batch = append(batch, t.changeStatement(c, changelog.Updated, id.ID(), before[i], after[i], func(w *changelog.Appended) { changes[i] = w }), db.Statement{
			SQL: table.update, Args: append(args, id, before[i][c.RevisionColumn()]), Stored: func(revision int64) {
				after[i][c.RevisionColumn()], stored[i] = model.IntValue(revision), true
			},
		})
	}
	if err := t.conn.Batch(batch...); err != nil {
		return nil, nil, t.fault(err)
	}
	for i := range after {
		if !stored[i] {
			return nil, nil, t.fault(fmt.Errorf("an update of %s found no row", c.Name))
		}
		t.last = changes[i]
		t.addMoveDeltas(c, before[i], after[i])
	}
	return representations, nil, t.fault(t.putWords(c, before, after))
}

// announceAll announces a write to one resource, or to the whole collection for several: of the transactions that
// have failed, one that writes to many could wait for each of them in vain.
func (t *Tx) announceAll(c *model.Collection, ids ...model.ID) error {
	switch len(ids) {
	case 0:
		return nil
	case 1:
		return t.fault(t.conn.Announce(c.Name, ids[0]))
	}
	return t.fault(t.conn.Announce(c.Name, db.WholeCollection))
}

func recordIDs(records []model.Record) []model.ID {
	ids := make([]model.ID, len(records))
	for i, record := range records {
		ids[i] = record.ID(model.IDColumn)
	}
	return ids
}

// Existing finds the resources of a list of ids that are in the scope.
func (t *Tx) Existing(c *model.Collection, scope query.Filter, ids []model.ID) (map[model.ID]bool, error) {
	found := make(map[model.ID]bool, len(ids))
	if len(ids) == 1 {
		exists, err := t.View(c, scope, ids[0], nil)
		found[ids[0]] = exists
		return found, err
	}
	for len(ids) > 0 {
		chunk := ids[:min(len(ids), chunkSize)]
		ids = ids[len(chunk):]
		values := make([]model.Value, len(chunk))
		for i, id := range chunk {
			values[i] = model.IDValue(id)
		}
		s := t.store.statement(c, "SELECT ", t.store.tables[c].Columns[model.IDColumn], " FROM ", t.store.tables[c].Name, " WHERE ")
		s.condition(query.Both(query.In{Column: model.IDColumn, Values: values}, scope), true)
		err := db.Each(t.conn, func(row model.Row) bool {
			found[row.ID(0)] = true
			return true
		}, s.String(), s.Args...)
		if err != nil {
			return nil, t.fault(err)
		}
	}
	return found, nil
}

// MaxManyBytes bounds the resources that one request reads and changes, all together: their number
// alone does not bound the memory that they take.
const MaxManyBytes = 64 << 20

// TooMuch is the error of a request beyond MaxManyBytes.
func TooMuch() error {
	return fault.New(problem.CodeTooManyItems, "The resources that this request changes have more than %d MiB together. Change fewer at once.", MaxManyBytes>>20)
}

// Owners finds, for each record, the resource in the scope that has its values of a unique group,
// nil if there is none. Null equals nothing. Visit is called with each that was read: it may remove values
// of other columns than those of the group, or return an error.
func (t *Tx) Owners(c *model.Collection, scope query.Filter, group []int, records []model.Record, visit func(model.Record) error) ([]model.Record, error) {
	owners := make([]model.Record, len(records))
	for start := 0; start < len(records); start += chunkSize {
		end := min(len(records), start+chunkSize)
		same := sameValues(group, records[start:end])
		if same == nil {
			continue
		}
		s := t.store.statement(c, "SELECT ", t.store.tables[c].All, " FROM ", t.store.tables[c].Name, " WHERE ")
		s.condition(query.Both(same, scope), true)
		held := holders{}
		var refused error
		err := db.Each(t.conn, func(row model.Row) bool {
			owner := c.Scan(row)
			refused = visit(owner)
			held.add(group, owner)
			return refused == nil
		}, s.String(), s.Args...)
		if err != nil {
			return nil, t.fault(err)
		}
		if refused != nil {
			return nil, refused
		}
		for i := start; i < end; i++ {
			owners[i] = held.find(group, records[i])
		}
	}
	return owners, nil
}

// KeepOnly removes the values of a resource, except for its id and those of some columns.
func KeepOnly(record model.Record, columns []int) {
	for column := range record {
		if column != model.IDColumn && !slices.Contains(columns, column) {
			record[column] = model.Null
		}
	}
}

// sameValues is the filter of resources that have the values of one of the records in a group; nil: no
// record has all of them.
func sameValues(group []int, records []model.Record) query.Filter {
	in, any := query.In{Column: group[0]}, query.Or{}
	for _, record := range records {
		if hasNull(group, record) {
			continue
		}
		in.Values = append(in.Values, record[group[0]])
		all := query.And{}
		for _, column := range group {
			all = append(all, query.Compare{Column: column, Op: query.Equal, Value: record[column]})
		}
		any = append(any, all)
	}
	switch {
	case len(any) == 0:
		return nil
	case len(any) == 1:
		return any[0]
	case len(group) == 1:
		return in
	}
	return any
}

func hasNull(group []int, record model.Record) bool {
	for _, column := range group {
		if record[column].IsNull() {
			return true
		}
	}
	return false
}

// holders is resources by their value in the first column of a group.
type holders map[model.Value][]model.Record

func (h holders) add(group []int, record model.Record) {
	h[record[group[0]]] = append(h[record[group[0]]], record)
}

// find returns the resource that has all values of the record in the group, or nil.
func (h holders) find(group []int, record model.Record) model.Record {
	if hasNull(group, record) {
		return nil
	}
	for _, other := range h[record[group[0]]] {
		if sameIn(group, other, record) {
			return other
		}
	}
	return nil
}

// remove removes a resource by its id.
func (h holders) remove(group []int, record model.Record) {
	all := h[record[group[0]]]
	for i, other := range all {
		if other[model.IDColumn] == record[model.IDColumn] {
			h[record[group[0]]] = append(all[:i:i], all[i+1:]...)
			return
		}
	}
}

// updateConflicts finds the conflicts of resources that are updated one after the other; nil: there are
// none.
func (t *Tx) updateConflicts(c *model.Collection, before, after []model.Record) ([]problem.Errors, error) {
	if len(after) == 1 {
		conflicts, err := t.conflicts(c, before[0], after[0])
		if err != nil || len(conflicts) == 0 {
			return nil, err
		}
		return []problem.Errors{conflicts}, nil
	}
	conflicts, found := make([]problem.Errors, len(after)), false
	for _, group := range c.UniqueGroups() {
		var changed []int
		var wanted []model.Record
		for i := range after {
			if !sameIn(group, before[i], after[i]) {
				changed, wanted = append(changed, i), append(wanted, after[i])
			}
		}
		owners, err := t.Owners(c, nil, group, wanted, func(owner model.Record) error {
			KeepOnly(owner, group)
			return nil
		})
		if err != nil {
			return nil, err
		}
		held := holders{}
		for _, owner := range owners {
			if owner != nil && held.find(group, owner) == nil {
				held.add(group, owner)
			}
		}
		for _, i := range changed {
			held.remove(group, before[i])
			if held.find(group, after[i]) != nil {
				conflicts[i].Add(ConflictOf(c, group))
				found = true
				continue
			}
			if !hasNull(group, after[i]) {
				held.add(group, after[i])
			}
		}
	}
	if !found {
		return nil, nil
	}
	return conflicts, nil
}
