package changelog

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Point is where a snapshot is in the change log.
type Point struct {
	History model.ID // that the number belongs to
	Number  int64    // last number that the snapshot sees
	// Revision is the highest that the snapshot sees, and Seen the transactions that it sees: those
	// of changes that have no number yet are among them. Both are zero where each change has a
	// number at once.
	Revision int64
	Seen     db.Snapshot
}

// Has reports whether the snapshot saw a change. After a crash of the database, numbers of
// transactions that had failed are given again, but no revision that a snapshot has seen.
func (p Point) Has(e *Entry) bool {
	return e.Number <= p.Number || e.Revision <= p.Revision && p.Seen.Has(e.Transaction)
}

// MaySeeUnnumbered reports whether the snapshot may see changes that have no number yet.
func (p Point) MaySeeUnnumbered() bool { return p.Seen.Max > 0 }

// Point is where the snapshot is in the change log.
func (r *Reader) Point() (p Point, err error) {
	statement := r.log.PointStatement(&p)
	err = db.EachOrError(r.conn, statement.Read, statement.SQL)
	return p, r.fault(err)
}

// PointStatement reads the point of a snapshot together with other statements: see db.Conn.Defer.
func (l *Log) PointStatement(p *Point) db.Statement {
	return db.Statement{SQL: l.selectPoint, Read: func(row model.Row) (err error) {
		*p, err = ReadPoint(row, 0)
		return err
	}}
}

// PointWidth is how many columns PointColumns are.
const PointWidth = 4

// PointColumns are columns of a SELECT, for ReadPoint.
func (l *Log) PointColumns() string {
	return l.db.PointColumns() + ", (SELECT value FROM " + db.MetaTable + " WHERE key = 'history') AS history"
}

// ReadPoint reads the point from PointColumns, the first of which is given.
func ReadPoint(row model.Row, column int) (p Point, err error) {
	p = Point{Number: row.Int(column), Revision: row.Int(column + 1)}
	if !row.Null(column + 3) {
		p.History, _ = model.ParseID(row.Text(column + 3))
	}
	p.Seen, err = db.ParseSnapshot(row.Text(column + 2))
	return p, err
}

// Bounds is where the log begins and ends. The embedded point is its end.
type Bounds struct {
	Point
	Floor   int64  // the number up to which the log was removed; zero: nothing was removed
	FloorAt string // the time of the last change that was removed
}

// Bounds returns where the log begins and ends, as the snapshot sees it.
func (r *Reader) Bounds() (Bounds, error) {
	floor, err := db.ReadFloor(r.conn)
	if err != nil {
		return Bounds{}, r.fault(err)
	}
	point, err := r.Point()
	return Bounds{point, floor.Number, floor.At}, err
}
