package store

import (
	"math"
	"slices"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// chunkSize is how many values one statement compares with.
const chunkSize = 500

// View calls read with the resource with the id, if it is in the scope.
func (t *Tx) View(c *model.Collection, scope query.Filter, id model.ID, read func(model.Row)) (found bool, err error) {
	sql, args := t.selectOne(c, scope, id)
	found, err = db.One(t.conn, read, sql, args...)
	return found, t.fault(err)
}

// Get reads the resource with the id, if it is in the scope. It is a batch, so that updates that share a transaction
// read their resources together.
func (t *Tx) Get(c *model.Collection, scope query.Filter, id model.ID) (record model.Record, err error) {
	sql, args := t.selectOne(c, scope, id)
	err = t.conn.Batch(db.Statement{SQL: sql, Args: args, Read: func(row model.Row) error {
		record = c.Scan(row)
		return nil
	}})
	return record, t.fault(err)
}

func (t *Tx) selectOne(c *model.Collection, scope query.Filter, id model.ID) (sql string, args []model.Value) {
	sql, args = t.bound.table(c).one, []model.Value{model.IDValue(id)}
	if scope != nil {
		s := t.bound.sql.One(c, sql, args, scope)
		sql, args = s.String(), s.Args
	}
	return sql, args
}

// Find is Get without a scope, for filters on related resources.
func (t *Tx) Find(c *model.Collection, id model.ID) (model.Record, error) { return t.Get(c, nil, id) }

// FindLast also finds a deleted resource, as it last was.
func (t *Tx) FindLast(c *model.Collection, id model.ID) (model.Record, error) {
	if record, err := t.Find(c, id); record != nil || err != nil {
		return record, err
	}
	return t.Deleted(c, id)
}

// Existing finds the resources of a list of ids that are in the scope.
func (t *Tx) Existing(c *model.Collection, scope query.Filter, ids []model.ID) (map[model.ID]bool, error) {
	found := make(map[model.ID]bool, len(ids))
	if len(ids) == 1 {
		exists, err := t.View(c, scope, ids[0], nil)
		if exists { // as below, only what exists is in the map
			found[ids[0]] = true
		}
		return found, err
	}
	for chunk := range slices.Chunk(ids, SetSize) {
		s := t.bound.sql.Listed(c, t.bound.table(c).Columns[model.IDColumn], chunk, statement.Plan{Filter: scope})
		if err := t.each(s, func(row model.Row) { found[row.ID(0)] = true }); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// EachListed reads the resources of a list of ids that pass a filter, in no order.
func (t *Tx) EachListed(c *model.Collection, filter query.Filter, ids []model.ID, read func(model.Record) error) error {
	if len(ids) == 0 {
		return nil
	}
	plan, err := t.planRelated(c, filter) // as a page does, or it would be slow where the page that found the ids was not
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(ids, SetSize) {
		s := t.bound.sql.Listed(c, t.bound.table(c).All, chunk, plan)
		if err := db.EachOrError(t.conn, func(row model.Row) error { return read(c.Scan(row)) }, s.String(), s.Args...); err != nil {
			return t.fault(err)
		}
	}
	return nil
}

// Count counts the resources that pass a filter.
func (t *Tx) Count(c *model.Collection, filter query.Filter) (int64, error) {
	return t.countPlanned(c, statement.Plan{Filter: filter})
}

func (t *Tx) countPlanned(c *model.Collection, plan statement.Plan) (int64, error) {
	return t.countSelection(c, statement.Selection{Plan: plan, Order: statement.NewOrder(nil), Take: math.MaxInt64})
}

func (t *Tx) countSelection(c *model.Collection, selection statement.Selection) (n int64, err error) {
	_, err = t.one(t.bound.sql.Count(c, selection), func(row model.Row) { n = row.Int(0) })
	return n, err
}

// one runs a query, and calls read with its row if there is one.
func (t *Tx) one(s *statement.Statement, read func(model.Row)) (found bool, err error) {
	found, err = db.One(t.conn, read, s.String(), s.Args...)
	return found, t.fault(err)
}

// each runs a query, and calls read with each row.
func (t *Tx) each(s *statement.Statement, read func(model.Row)) error {
	return t.fault(db.Each(t.conn, read, s.String(), s.Args...))
}

// eachWhile does so until read returns false.
func (t *Tx) eachWhile(s *statement.Statement, read func(model.Row) bool) error {
	return t.fault(db.EachWhile(t.conn, read, s.String(), s.Args...))
}
