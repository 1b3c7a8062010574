package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// maxOneQuery is the largest page that one query reads, with the total and the resource after
// it.
const maxOneQuery = 100

// readInOneQuery reads the range by one query without a transaction, if each query is a round
// trip and the range is a short one of an unfiltered collection in the order of ids. False
// means that it does not apply, or that the offset was too far from the start of its block: see pageAt.
func (p *Page) readInOneQuery(ctx context.Context, s *Store) (found bool, err error) {
	r, take, order := p.query.Range, p.selection.Take, p.selection.Order
	if !s.db.Traits().RoundTrips || p.query.Interleaved || r.Limit <= 0 || r.Anchor == query.AtCursor || take > maxOneQuery ||
		p.query.Parent != nil || p.selection.Filter != nil || len(order) > 1 || r.Offset > 0 && order[0].Descending {
		return false, nil
	}
	if err := p.open(ctx, s, db.PageInOne); err != nil {
		return false, err
	}
	c := p.query.Collection
	sql, args := p.tx.bound.table(c).firstPage[order[0].Descending], []model.Value{model.IntValue(take)}
	if r.Offset > 0 {
		sql, args = p.tx.bound.table(c).pageAt, []model.Value{model.IntValue(r.Offset), model.IntValue(take)}
	}
	rows, err := p.tx.conn.Query(sql, args...)
	if err != nil {
		return false, p.tx.fault(err)
	}
	p.rows = &Rows{Row: rows, rows: rows, tx: p.tx, collection: c}
	if _, err := rows.Next(); err != nil { // there is always a first row, see withTotal
		return false, p.tx.fault(err)
	}
	total, after := len(c.Columns()), len(c.Columns())+1
	p.Total, p.TotalKnown, p.wanted = rows.Int(total), true, take
	if p.Point, err = changelog.ReadPoint(rows, after+1); err != nil {
		return false, p.tx.fault(err)
	}
	if r.Offset == 0 {
		if p.hasAfter = !rows.Null(after); p.hasAfter {
			p.after = rows.ID(after)
		}
		return true, nil
	}
	p.span()
	p.wanted = p.selection.Take
	p.rows.peeked, err = rows.Next()
	return p.rows.peeked || r.Offset >= p.Total, p.tx.fault(err) // no row, but there should be: see pageAt
}

// withTotal adds a row before those of a query, which has the total of a collection, and more, in columns after those of a resource.
// PostgreSQL appends the parts of a UNION ALL in their order.
func (b *binding) withTotal(c *model.Collection, sql, more string) string {
	return "SELECT " + strings.Repeat("NULL, ", len(c.Columns())) + lists.TotalSQL("'"+b.nameOf(c)+"'", "''") + ", " + more + ", " + b.log.PointColumns() +
		" UNION ALL SELECT page.*" + strings.Repeat(", NULL", totalColumns) + " FROM (" + sql + ") AS page"
}

// totalColumns is how many columns follow those of a resource: the total, the resource after the page, and the point.
const totalColumns = 2 + changelog.PointWidth

// firstPage takes the size of the page. It is a part of a constant number of resources, so
// that the planner does not plan for many.
func (b *binding) firstPage(c *model.Collection, descending bool) string {
	table, order := b.table(c), statement.Order{query.SortBy(model.IDColumn, descending)}
	first := func(columns string, n int) string {
		s := b.sql.Statement(c, "(SELECT ", columns, " FROM ", table.Name)
		s.Order(order)
		s.Write(" LIMIT ", strconv.Itoa(n), ") AS first")
		return s.String()
	}
	return b.withTotal(c, "SELECT * FROM "+first(table.All, maxOneQuery)+" LIMIT $1",
		"(SELECT * FROM "+first(table.Columns[model.IDColumn], maxOneQuery+1)+" LIMIT 1 OFFSET $1) AS after")
}

// maxStep bounds how many rows of a block are skipped to reach an offset. A block has fewer, unless
// many deltas are pending.
const maxStep = 2000

// pageAt is a query whose parameters are an offset and the size of the page. It finds the block in
// the same query. It has no rows if the offset is too far from the start of the block.
func (b *binding) pageAt(c *model.Collection) string {
	table := b.table(c)
	id := table.Columns[model.IDColumn]
	// A constant limit, so that the planner expects few rows.
	return b.withTotal(c, lists.BlockSQL(b.db, table.Table)+" SELECT near.* FROM block CROSS JOIN LATERAL (SELECT * FROM (SELECT "+table.All+" FROM "+table.Name+
		" WHERE "+id+" >= block.first ORDER BY "+id+" LIMIT "+strconv.Itoa(maxStep+maxOneQuery)+") AS candidates OFFSET $1 - block.before) AS near"+
		" WHERE $1 - block.before <= "+strconv.Itoa(maxStep)+" LIMIT $2", "NULL AS after")
}
