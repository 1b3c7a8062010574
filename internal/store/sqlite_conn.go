package store

import (
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/model"
)

// sqliteConn is a connection with the statements it has prepared.
type sqliteConn struct {
	raw        *sqlite.Conn
	statements map[string]*sqlite.Stmt
	writes     bool // has the lock for it whenever it does anything

	longer func() error // lets a read take its time
	binder sqliteBinder // for one value after the other

	// For writing: what the jobs of the transaction leave for its end; whether anything was
	// changed since this was last set; and whether an assumption was checked already.
	noted   []delta
	altered bool
	checked bool
}

// beginWriting follows the begin of a transaction that has the lock for writing.
func (c *sqliteConn) beginWriting() { c.noted, c.checked = c.noted[:0], false }

// A connection keeps this many statements, and none that is long: a list of a
// thousand values would be one of its own for each length.
const (
	maxStatements = 128
	maxCachedSQL  = 4 << 10
	maxBound      = 4 << 10 // bytes of a value that a statement may hold on to
)

func (c *sqliteConn) query(sql string, args ...model.Value) (rows, error) {
	stmt, cached, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	c.altered = c.altered || !strings.HasPrefix(sql, "SELECT ")
	large := false
	for i := range args {
		c.binder.stmt, c.binder.param = stmt, i+1
		args[i].Bind(&c.binder)
		large = large || len(args[i].Text()) > maxBound
	}
	return sqliteRows{stmt, cached, large}, nil
}

func (c *sqliteConn) exec(sql string, args ...model.Value) (int, error) {
	rows, err := c.query(sql, args...)
	if err != nil {
		return 0, err
	}
	defer rows.close()
	if _, err := rows.next(); err != nil {
		return 0, err
	}
	return c.raw.Changes(), nil
}

// later has nothing to wait for.
func (c *sqliteConn) later(look func(model.Row), sql string, args ...model.Value) error {
	_, err := one(c, look, sql, args...)
	return err
}

func (c *sqliteConn) put(look func(revision int64), sql string, args ...model.Value) error {
	changed, err := c.exec(sql, args...)
	if changed > 0 {
		look(c.raw.LastInsertRowID())
	}
	return err
}

func (c *sqliteConn) flush() error { return nil }

func (c *sqliteConn) evidence(string, ...model.Value) {} // its commits are always answered

// One writes at a time.
func (c *sqliteConn) claims(string, model.ID) error { return nil }

func (c *sqliteConn) lengthen() error { return c.longer() }

func (c *sqliteConn) note(deltas []delta) bool {
	c.noted = append(c.noted, deltas...)
	return true
}

func (c *sqliteConn) unwritten() []delta { return c.noted }

// assume checks at once. While a transaction holds the write lock, nobody else can change
// what was checked, so its jobs share one check.
func (c *sqliteConn) assume(sql string, holds func(model.Row) bool, otherwise func(conn) error) error {
	if c.writes && c.checked {
		return nil
	}
	var held bool
	_, err := one(c, func(row model.Row) { held = holds(row) }, sql)
	if err == nil && !held {
		err = otherwise(c)
	}
	c.checked = err == nil
	return err
}

func (c *sqliteConn) prepare(sql string) (stmt *sqlite.Stmt, cached bool, err error) {
	if stmt := c.statements[sql]; stmt != nil {
		return stmt, true, nil
	}
	stmt, _, err = c.raw.PrepareTransient(sql)
	if err != nil || len(sql) > maxCachedSQL {
		return stmt, false, err
	}
	for other, old := range c.statements { // any one makes room
		if len(c.statements) < maxStatements {
			break
		}
		_ = old.Finalize()
		delete(c.statements, other)
	}
	c.statements[sql] = stmt
	return stmt, true, nil
}

func (c *sqliteConn) close() error {
	for _, stmt := range c.statements {
		_ = stmt.Finalize()
	}
	return c.raw.Close()
}

type sqliteBinder struct {
	stmt  *sqlite.Stmt
	param int
}

func (b *sqliteBinder) BindNull()           { b.stmt.BindNull(b.param) }
func (b *sqliteBinder) BindBool(v bool)     { b.stmt.BindBool(b.param, v) }
func (b *sqliteBinder) BindInt(v int64)     { b.stmt.BindInt64(b.param, v) }
func (b *sqliteBinder) BindFloat(v float64) { b.stmt.BindFloat(b.param, v) }
func (b *sqliteBinder) BindID(v model.ID)   { b.stmt.BindBytes(b.param, v[:]) }
func (b *sqliteBinder) BindTime(v string)   { b.stmt.BindText(b.param, v) }
func (b *sqliteBinder) BindText(v string)   { b.stmt.BindText(b.param, v) }

type sqliteRows struct {
	stmt   *sqlite.Stmt
	cached bool
	large  bool // something that is bound to it
}

func (r sqliteRows) next() (bool, error) { return r.stmt.Step() }

// close gives the statement back. It keeps what is bound to it until it is bound
// anew, unless that is large: SQLite plans a statement anew whose values were cleared.
func (r sqliteRows) close() {
	if !r.cached {
		_ = r.stmt.Finalize()
		return
	}
	_ = r.stmt.Reset() // it says again what the last step said
	if r.large {
		_ = r.stmt.ClearBindings()
	}
}

func (r sqliteRows) Null(column int) bool     { return r.stmt.ColumnIsNull(column) }
func (r sqliteRows) Bool(column int) bool     { return r.stmt.ColumnInt64(column) != 0 }
func (r sqliteRows) Int(column int) int64     { return r.stmt.ColumnInt64(column) }
func (r sqliteRows) Float(column int) float64 { return r.stmt.ColumnFloat(column) }

func (r sqliteRows) ID(column int) (id model.ID) {
	r.stmt.ColumnBytes(column, id[:])
	return id
}

// AppendText asks for the length only if there may be more than there was room for.
func (r sqliteRows) AppendText(dst []byte, column int) []byte {
	start := len(dst)
	if n := r.stmt.ColumnBytes(column, dst[start:cap(dst)]); start+n < cap(dst) {
		return dst[:start+n]
	}
	n := r.stmt.ColumnLen(column)
	dst = slices.Grow(dst, n)[:start+n]
	r.stmt.ColumnBytes(column, dst[start:])
	return dst
}
