package store

import (
	"context"
	"math"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// GroupQuery asks for a range of the groups of a collection.
type GroupQuery struct {
	Collection *model.Collection
	Filter     query.Filter // of the caller and the query; nil: none
	Groups     *query.Groups
	Range      query.Range // not at a cursor
	Exact      bool        // count all groups

	Interleaved bool // other statements are run between the groups, by Groups.Run
}

// Groups is a range of groups, read from one snapshot, one by one. It must be closed.
type Groups struct {
	Total int64 // number of groups without the range, if Exact

	snapshot
	query    GroupQuery
	plan     statement.Plan
	rows     db.Rows // nil: not begun, or ended
	skip     int64   // groups before the next one
	start    int64   // offset of the first group
	wanted   int64   // size of the range
	given    int64   // groups returned
	hasAfter bool
	ended    bool
	checked  bool
}

// Groups opens a range of groups.
func (s *Store) Groups(ctx context.Context, q GroupQuery) (*Groups, error) {
	g := &Groups{query: q}
	ready := false
	defer func() {
		if !ready { // an error or a panic: the groups were not returned
			g.Close()
		}
	}()
	if err := g.open(ctx, s, db.PageInSeveral); err != nil {
		return nil, err
	}
	if err := g.locate(); err != nil {
		return nil, err
	}
	ready = true
	return g, nil
}

// locate finds the offsets of the range.
func (g *Groups) locate() (err error) {
	r, fromEnd := g.query.Range, g.query.Range.Anchor != query.AtOffset && g.query.Range.Limit < 0
	if g.plan, err = g.tx.planRelated(g.query.Collection, g.query.Filter); err != nil {
		return err
	}
	total := int64(math.MaxInt64)
	if g.query.Exact || fromEnd {
		if g.Total, err = g.count(); err != nil {
			return err
		}
		total = g.Total
	}
	anchor := r.Offset
	if fromEnd {
		anchor = total
	}
	from, to := query.Span(anchor, r.Limit, total)
	g.start, g.skip, g.wanted = from, from, to-from
	return nil
}

// count counts all groups.
func (g *Groups) count() (n int64, err error) {
	if len(g.query.Groups.By) == 0 && g.query.Groups.Having == nil && !statement.CanOverflow(g.query.Groups) {
		return 1, nil
	}
	s := g.tx.bound.sql.CountGroups(g.query.Collection, g.plan, g.query.Groups)
	if _, err = g.tx.one(s, func(row model.Row) { n = row.Int(0) }); err != nil || n >= 0 {
		return n, err
	}
	s = g.tx.bound.sql.Groups(g.query.Collection, g.plan, g.query.Groups, 0, 0)
	var overflow error
	if _, err = g.tx.one(s, func(row model.Row) { overflow = statement.GroupOverflow(g.query.Groups, row) }); err == nil {
		err = overflow
	}
	return n, err
}

// Next returns the next group of the range, or nil at its end.
func (g *Groups) Next() (*query.Group, error) {
	if g.query.Range.Limit == 0 && !statement.CanOverflow(g.query.Groups) {
		g.ended = true
	}
	if g.ended {
		return nil, nil
	}
	begins := g.rows == nil
	if begins {
		if err := g.begin(); err != nil {
			return nil, err
		}
	}
	more, err := g.rows.Next()
	if err != nil {
		return nil, g.tx.fault(err)
	}
	if begins && more {
		if err := statement.GroupOverflow(g.query.Groups, g.rows); err != nil {
			return nil, err
		}
	}
	if !more || g.given == g.wanted {
		g.ended, g.hasAfter = true, more
		return nil, g.locateEmpty()
	}
	g.given++
	return statement.ReadGroup(g.query.Groups, g.rows)
}

// begin starts to read, with one more group, to know whether there is one after the range.
func (g *Groups) begin() (err error) {
	take := g.wanted - g.given
	if take < math.MaxInt64 {
		take++
	}
	s := g.tx.bound.sql.Groups(g.query.Collection, g.plan, g.query.Groups, g.skip+g.given, take)
	start := g.tx.conn.Query
	if g.query.Interleaved {
		start = g.tx.conn.Cursor
	}
	g.rows, err = start(s.String(), s.Args...)
	return g.tx.fault(err)
}

// Run runs other statements in the snapshot of the groups, which must have Interleaved.
func (g *Groups) Run(fn func(*Tx) error) error { return fn(g.tx) }

// locateEmpty finds the offset of an empty range: the end.
func (g *Groups) locateEmpty() (err error) {
	if g.given == 0 && g.start > 0 {
		g.endRows()
		g.start, err = g.count()
	}
	return err
}

// check reads the rest of the range once, before its first part is sent: a later value could be out of
// range, and then the client must get an error. The rest is then read again.
func (g *Groups) check() error {
	if g.ended || g.checked {
		return nil
	}
	given := g.given
	for {
		group, err := g.Next()
		if err != nil {
			return err
		}
		if group == nil {
			break
		}
	}
	g.endRows()
	g.given, g.ended, g.checked = given, false, true
	return nil
}

// Neighbours returns the previous and the next range, nil where there is none. It is called before the
// first part of the range is sent. After it, no group of the range fails.
func (g *Groups) Neighbours() (previous, next *query.Range, err error) {
	if err := g.check(); err != nil {
		return nil, nil, err
	}
	size := g.query.Range.Size()
	if size == 0 {
		return nil, nil, nil
	}
	if g.start > 0 {
		previous = &query.Range{Anchor: query.AtOffset, Offset: g.start, Limit: -size}
	}
	if g.hasAfter {
		next = &query.Range{Anchor: query.AtOffset, Offset: g.start + g.wanted, Limit: size}
	}
	return previous, next, nil
}

// Close ends the groups.
func (g *Groups) Close() {
	g.endRows()
	g.snapshot.close()
}

func (g *Groups) endRows() {
	if g.rows != nil {
		g.rows.Close()
		g.rows = nil
	}
}
