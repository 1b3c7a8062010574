package store

import (
	"strconv"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// Limits of listRelated. They are variables for tests.
var (
	// fewRelated: a collection with so many resources is always read. fewerRelated: and one that has so many
	// times fewer resources than the collection that is listed.
	fewRelated, fewerRelated int64 = 5000, 64
	// maxRelated is how many matching related resources are listed. If there are more, a page probably
	// has enough resources soon.
	maxRelated = 1000
	// manyReferring is how many resources an index of a reference finds before they are sorted.
	manyReferring int64 = 5000
)

// listRelated replaces conditions on related resources by the ids of those that match, if these are few.
// Otherwise they would be compared again for each resource that refers to them, and in each statement of a
// page. It does nothing where the planner finds that out.
func (t *Tx) listRelated(c *model.Collection, filter query.Filter) (query.Filter, error) {
	if t.store.db.Traits().HashJoins {
		return filter, nil
	}
	return query.Map(filter, func(each query.Filter) (query.Filter, error) {
		if related, ok := each.(query.Related); ok {
			return t.listOneRelated(c, related)
		}
		return each, nil
	})
}

func (t *Tx) listOneRelated(c *model.Collection, f query.Related) (query.Filter, error) {
	to, err := f.Relation.To, error(nil)
	if f.Scope, err = t.listRelated(to, f.Scope); err != nil {
		return nil, err
	}
	if f.Filter, err = t.listRelated(to, f.Filter); err != nil {
		return nil, err
	}
	own, err := t.Total(c, nil)
	if err != nil {
		return nil, err
	}
	others, err := t.Total(to, nil)
	if err != nil || others > fewRelated && others > own/fewerRelated {
		return f, err
	}
	table := t.store.tables[to]
	s := t.store.sql.Statement(to)
	column, there := model.IDColumn, f.Relation.Column
	if f.Relation.One {
		column, there = f.Relation.Column, model.IDColumn
	}
	s.Write("SELECT DISTINCT ", table.Columns[there], " FROM ", table.Name, " WHERE ")
	s.Condition(query.And{query.Both(query.All, f.Scope), query.Both(query.All, f.Filter)}, true)
	s.Write(" LIMIT ", strconv.Itoa(maxRelated+2)) // one may be null
	found := statement.RefersTo{Column: column}
	err = t.each(s, func(row model.Row) {
		if !row.Null(0) {
			found.IDs = append(found.IDs, row.ID(0))
		}
	})
	if err != nil || len(found.IDs) > maxRelated {
		return f, err
	}
	referring := int64(len(found.IDs))
	if f.Relation.One {
		referring *= own / max(others, 1)
	}
	found.Many = referring > manyReferring
	return found, nil
}
