package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
)

// conflictsOf finds the conflicts of a resource that could not be inserted: other resources with its id or its values of a unique
// group. It is called only then, so that other inserts cost nothing.
func (t *Tx) conflictsOf(c *model.Collection, record model.Record) (conflicts problem.Errors, err error) {
	id := record.ID(model.IDColumn)
	existing, err := t.Existing(c, nil, []model.ID{id})
	if err != nil {
		return nil, err
	}
	if existing[id] {
		conflicts.Add(IDExists(id))
	}
	for _, group := range c.UniqueGroups() {
		owners, err := t.valuesOfOwners(c, group, []model.Record{record})
		if err != nil {
			return nil, err
		}
		if owners[0] != nil {
			conflicts.Add(ConflictOf(c, group))
		}
	}
	if len(conflicts) == 0 {
		return nil, t.fault(fmt.Errorf("an insert into %s was refused without a conflict", c.Name))
	}
	return conflicts, nil
}

// updateConflicts finds the conflicts of resources that are updated one after the other; nil: there are
// none.
func (t *Tx) updateConflicts(c *model.Collection, before, after []model.Record) (conflicts []problem.Errors, err error) {
	for _, group := range c.UniqueGroups() {
		var changed []int
		var wanted []model.Record
		for i := range after {
			if !sameIn(group, before[i], after[i]) {
				changed, wanted = append(changed, i), append(wanted, after[i])
			}
		}
		if len(changed) == 0 {
			continue
		}
		owners, err := t.valuesOfOwners(c, group, wanted)
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
				if conflicts == nil {
					conflicts = make([]problem.Errors, len(after))
				}
				conflicts[i].Add(ConflictOf(c, group))
			} else if !hasNull(group, after[i]) {
				held.add(group, after[i])
			}
		}
	}
	return conflicts, nil
}

// IDExists is the error of a new resource whose id another one has.
func IDExists(id model.ID) *problem.Error {
	return fault.At("/id", problem.CodeIDExists, "Another resource, stored or in this request, has the id %s. Send another id, or none.", id)
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

// valuesOfOwners is Owners in all of a collection, without the values of other columns than those of the group.
func (t *Tx) valuesOfOwners(c *model.Collection, group []int, records []model.Record) ([]model.Record, error) {
	return t.Owners(c, nil, group, records, func(owner model.Record) error {
		KeepOnly(owner, group)
		return nil
	})
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
		s := t.bound.sql.Statement(c, "SELECT ", t.bound.table(c).All, " FROM ", t.bound.table(c).Name, " WHERE ")
		s.Condition(query.Both(same, scope), true)
		held := holders{}
		err := db.EachOrError(t.conn, func(row model.Row) error {
			owner := c.Scan(row)
			held.add(group, owner)
			return visit(owner)
		}, s.String(), s.Args...)
		if err != nil {
			return nil, t.fault(err)
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

func sameIn(group []int, a, b model.Record) bool {
	return !slices.ContainsFunc(group, func(column int) bool { return a[column] != b[column] })
}

func hasNull(group []int, record model.Record) bool { return slices.ContainsFunc(group, record.Null) }

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
	same := h[record[group[0]]]
	if i := slices.IndexFunc(same, func(other model.Record) bool { return sameIn(group, other, record) }); i >= 0 {
		return same[i]
	}
	return nil
}

// remove removes a resource by its id.
func (h holders) remove(group []int, record model.Record) {
	h[record[group[0]]] = slices.DeleteFunc(h[record[group[0]]], func(other model.Record) bool { return other[model.IDColumn] == record[model.IDColumn] })
}
