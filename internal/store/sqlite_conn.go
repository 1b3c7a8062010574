package store

import (
	"slices"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/schema"
)

// sqliteConn is a connection with the statements it has prepared.
type sqliteConn struct {
	raw        *sqlite.Conn
	statements map[string]*sqlite.Stmt
}

// A connection keeps this many statements, and none that is long: a list of a
// thousand values would be one of its own for each length.
const (
	maxStatements = 128
	maxCachedSQL  = 4 << 10
	maxBound      = 4 << 10 // bytes of a value that a statement may hold on to
)

func (c *sqliteConn) query(sql string, args ...schema.Value) (rows, error) {
	stmt, cached, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	large := false
	for i := range args {
		args[i].Bind(sqliteBinder{stmt, i + 1})
		large = large || len(args[i].Text()) > maxBound
	}
	return sqliteRows{stmt, cached, large}, nil
}

func (c *sqliteConn) exec(sql string, args ...schema.Value) (int, error) {
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
func (c *sqliteConn) later(look func(schema.Row), sql string, args ...schema.Value) error {
	_, err := one(c, look, sql, args...)
	return err
}

func (c *sqliteConn) flush() error { return nil }

func (c *sqliteConn) evidence(string, ...schema.Value) {} // its commits are always answered

func (c *sqliteConn) assume(sql string, holds func(schema.Row) bool, otherwise func(conn) error) error {
	var held bool
	if _, err := one(c, func(row schema.Row) { held = holds(row) }, sql); err != nil || held {
		return err
	}
	return otherwise(c)
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
		old.Finalize()
		delete(c.statements, other)
	}
	c.statements[sql] = stmt
	return stmt, true, nil
}

func (c *sqliteConn) close() error {
	for _, stmt := range c.statements {
		stmt.Finalize()
	}
	return c.raw.Close()
}

type sqliteBinder struct {
	stmt  *sqlite.Stmt
	param int
}

func (b sqliteBinder) BindNull()           { b.stmt.BindNull(b.param) }
func (b sqliteBinder) BindBool(v bool)     { b.stmt.BindBool(b.param, v) }
func (b sqliteBinder) BindInt(v int64)     { b.stmt.BindInt64(b.param, v) }
func (b sqliteBinder) BindFloat(v float64) { b.stmt.BindFloat(b.param, v) }
func (b sqliteBinder) BindID(v schema.ID)  { b.stmt.BindBytes(b.param, v[:]) }
func (b sqliteBinder) BindTime(v string)   { b.stmt.BindText(b.param, v) }
func (b sqliteBinder) BindText(v string)   { b.stmt.BindText(b.param, v) }

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
		r.stmt.Finalize()
		return
	}
	r.stmt.Reset()
	if r.large {
		r.stmt.ClearBindings()
	}
}

func (r sqliteRows) Null(column int) bool     { return r.stmt.ColumnIsNull(column) }
func (r sqliteRows) Bool(column int) bool     { return r.stmt.ColumnInt64(column) != 0 }
func (r sqliteRows) Int(column int) int64     { return r.stmt.ColumnInt64(column) }
func (r sqliteRows) Float(column int) float64 { return r.stmt.ColumnFloat(column) }

func (r sqliteRows) ID(column int) (id schema.ID) {
	r.stmt.ColumnBytes(column, id[:])
	return id
}

func (r sqliteRows) AppendText(dst []byte, column int) []byte {
	start := len(dst)
	dst = slices.Grow(dst, r.stmt.ColumnLen(column))
	dst = dst[:start+r.stmt.ColumnLen(column)]
	r.stmt.ColumnBytes(column, dst[start:])
	return dst
}
