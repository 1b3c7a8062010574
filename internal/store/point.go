package store

import (
	"context"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Point is where a snapshot stands in the change log.
type Point struct {
	History model.ID // that the position belongs to
	Number  int64    // last position that the snapshot sees
	// Revision is the highest that the snapshot sees, and Seen the transactions that it sees: those
	// of changes that have no position yet are among them. Both are zero where each change has a
	// position at once.
	Revision int64
	Seen     db.Snapshot
}

// Has reports whether the snapshot saw a change. After a crash of the database, numbers of
// transactions that had failed are given again, but no revision that a snapshot has seen.
func (p Point) Has(e *LogEntry) bool {
	return e.Position <= p.Number || e.Revision <= p.Revision && p.Seen.Has(e.Transaction)
}

// Point is where the snapshot stands.
func (t *Tx) Point() (p Point, err error) {
	var wrong error
	_, err = db.One(t.conn, func(row model.Row) { p, wrong = readPoint(row, 0) }, "SELECT "+t.store.pointColumns())
	if err == nil {
		err = wrong
	}
	return p, t.fault(err)
}

// pointColumns are four columns of a SELECT, for readPoint.
func (s *Store) pointColumns() string {
	return s.db.PointColumns() + ", (SELECT value FROM " + db.MetaTable + " WHERE key = 'history') AS history"
}

func readPoint(row model.Row, column int) (p Point, err error) {
	p = Point{Number: row.Int(column), Revision: row.Int(column + 1)}
	if !row.Null(column + 3) {
		p.History, _ = model.ParseID(string(row.AppendText(nil, column+3)))
	}
	p.Seen, err = db.ParseSnapshot(string(row.AppendText(nil, column+2)))
	return p, err
}

// Sequence gives a position to every change that was committed before the call, and returns the
// last position of the log. Any number of servers may call it.
func (s *Store) Sequence(ctx context.Context) (last int64, err error) {
	last, err = s.db.Sequence(ctx)
	return last, s.fault(ctx, err)
}

// Notify calls changed soon after changes were committed by this server or another one, until
// the context ends. Calls are coalesced, and some may be missing: callers poll as well.
func (s *Store) Notify(ctx context.Context, changed func()) error { return s.db.Notify(ctx, changed) }
