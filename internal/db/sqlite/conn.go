package sqlite

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// connection is a connection with the statements it has prepared.
type connection struct {
	raw        *sqlite.Conn
	statements map[string]*sqlite.Stmt
	writes     bool // every transaction takes the write lock

	trace  func(sql string)
	binder binder        // reused for each value
	values []model.Value // reused by Insert
	text   []byte        // reused by hasVersion

	release func() // ends a read; nil: it is no connection of a Database that reads
	watched watched

	// Of the connection that writes: whether a statement has changed anything since this was last
	// reset, and the version of the schema that was found in this transaction.
	altered bool
	checked db.Version
}

func newConn(raw *sqlite.Conn, trace func(sql string)) *connection {
	return &connection{raw: raw, trace: trace, statements: map[string]*sqlite.Stmt{}}
}

// Limits of the cache of prepared statements. Long statements are not cached: a list of values
// has a different statement for each length.
const (
	maxStatements = 128
	maxCachedSQL  = 4 << 10
	maxBound      = 4 << 10 // bytes of a value that a cached statement may keep
)

func (c *connection) Query(sql string, args ...model.Value) (db.Rows, error) {
	rows, err := c.query(sql, args)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (c *connection) query(sql string, args []model.Value) (result, error) {
	stmt, cached, err := c.prepare(sql)
	if err != nil {
		return result{}, err
	}
	return c.start(sql, stmt, cached, args), nil
}

// Cursor does not use the cache, as other statements would evict an open one from it.
func (c *connection) Cursor(sql string, args ...model.Value) (db.Rows, error) {
	stmt, _, err := c.raw.PrepareTransient(sql)
	if err != nil {
		return nil, err
	}
	return c.start(sql, stmt, false, args), nil
}

func (c *connection) start(sql string, stmt *sqlite.Stmt, cached bool, args []model.Value) result {
	c.trace(sql)
	c.altered = c.altered || !strings.HasPrefix(sql, "SELECT ")
	large := false
	for i := range args {
		c.binder.stmt, c.binder.param = stmt, i+1
		args[i].Bind(&c.binder)
		large = large || len(args[i].Text()) > maxBound
	}
	return result{stmt, cached, large}
}

func (c *connection) Exec(sql string, args ...model.Value) (int, error) {
	rows, err := c.query(sql, args)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if _, err := rows.Next(); err != nil {
		return 0, err
	}
	return c.raw.Changes(), nil
}

// Batch runs the statements one by one, as there are no round trips to save.
func (c *connection) Batch(statements ...db.Statement) error {
	for _, statement := range statements {
		if statement.Read != nil {
			if err := db.EachOrError(c, statement.Read, statement.SQL, statement.Args...); err != nil {
				return err
			}
			continue
		}
		changed, err := c.Exec(statement.SQL, statement.Args...)
		if err != nil {
			return err
		}
		if changed > 0 && statement.Stored != nil {
			// The revision: the tables of resources have no rowid (WITHOUT ROWID), so the last one is of
			// the change log. RETURNING would take as long as storing the row.
			statement.Stored(c.raw.LastInsertRowID())
		}
	}
	return nil
}

func (c *connection) Defer(statements ...db.Statement) error { return c.Batch(statements...) }

// Savepoint: savepoints within others have the same name, so that this one must end also after a panic.
func (c *connection) Savepoint(fn func() (keep bool)) (err error) {
	if _, err := c.Exec("SAVEPOINT attempt"); err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			_, err = c.Exec("ROLLBACK TO attempt")
		}
		if err == nil {
			_, err = c.Exec("RELEASE attempt")
		}
	}()
	keep = fn()
	return nil
}

// Announce checks that the transaction holds the write lock, which it takes on the whole database
// when it begins.
func (c *connection) Announce(...db.ResourceID) error {
	if c.raw.AutocommitEnabled() {
		return errors.New("no transaction holds the write lock")
	}
	return nil
}

// Explain leaves the parameters unbound.
func (c *connection) Explain(sql string, _ int) (plan []string, err error) {
	const detail = 3
	return db.All(c, func(row model.Row) string { return row.Text(detail) }, "EXPLAIN QUERY PLAN "+sql)
}

// Expect checks the version at once. While a transaction holds the write lock, no other
// process can change the schema, so its tasks that expect the same version share one check.
func (c *connection) Expect(v db.Version, otherwise func(db.Conn) error) error {
	if c.writes && c.checked == v && v != (db.Version{}) {
		return nil
	}
	same, err := c.hasVersion(v)
	switch {
	case err != nil:
		return err
	case !same:
		return otherwise(c)
	}
	c.checked = v
	return nil
}

// hasVersion reports whether the schema in force has a version.
func (c *connection) hasVersion(v db.Version) (same bool, err error) {
	row, err := c.query(db.SelectVersion, nil)
	if err != nil {
		return false, err
	}
	defer row.Close()
	found, err := row.Next()
	if found {
		c.text = row.AppendText(c.text[:0], 1)
		same = v.Is(row.Int(0), c.text)
	}
	return same, err
}

func (c *connection) prepare(sql string) (stmt *sqlite.Stmt, cached bool, err error) {
	if stmt := c.statements[sql]; stmt != nil {
		return stmt, true, nil
	}
	stmt, _, err = c.raw.PrepareTransient(nameless(sql))
	if err != nil || len(sql) > maxCachedSQL {
		return stmt, false, err
	}
	for other, old := range c.statements { // evict an arbitrary one
		if len(c.statements) < maxStatements {
			break
		}
		_ = old.Finalize()
		delete(c.statements, other)
	}
	c.statements[sql] = stmt
	return stmt, true, nil
}

// nameless replaces the placeholders $1, $2, … by ?, or by ?1 where one comes again. SQLite takes $1 for a name and compares it with all
// names before it, so 10,000 values would take seconds.
func nameless(sql string) string {
	var b strings.Builder
	b.Grow(len(sql))
	quote, last := byte(0), 0
	for i := 0; i < len(sql); i++ {
		c := sql[i]
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		}
		end := i + 1
		for c == '$' && quote == 0 && end < len(sql) && '0' <= sql[end] && sql[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(sql[i+1 : end])
		if err != nil {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('?')
		if n != last+1 {
			b.WriteString(sql[i+1 : end])
		}
		last = max(last, n)
		i = end - 1
	}
	return b.String()
}

func (c *connection) close() error {
	c.unwatch()
	if c.watched.open != nil {
		_ = c.watched.open.Finalize()
	}
	for _, stmt := range c.statements {
		_ = stmt.Finalize()
	}
	return c.raw.Close()
}

type binder struct {
	stmt  *sqlite.Stmt
	param int
}

func (b *binder) BindNull() { b.stmt.BindNull(b.param) }

func (b *binder) BindBool(v bool) { b.stmt.BindBool(b.param, v) }

func (b *binder) BindInt(v int64) { b.stmt.BindInt64(b.param, v) }

func (b *binder) BindFloat(v float64) { b.stmt.BindFloat(b.param, v) }

func (b *binder) BindID(v model.ID) { b.stmt.BindBytes(b.param, v[:]) }

func (b *binder) BindTime(v string) { b.stmt.BindText(b.param, v) }

func (b *binder) BindText(v string) { b.stmt.BindText(b.param, v) }

type result struct {
	stmt   *sqlite.Stmt
	cached bool
	large  bool // a large value is bound
}

func (r result) Next() (bool, error) { return r.stmt.Step() }

// Close returns the statement to the cache. Its values stay bound unless they are large,
// because SQLite plans a statement again after its values were cleared.
func (r result) Close() {
	if !r.cached {
		_ = r.stmt.Finalize()
		return
	}
	_ = r.stmt.Reset() // its error repeats that of the last step
	if r.large {
		_ = r.stmt.ClearBindings()
	}
}

func (r result) Null(column int) bool { return r.stmt.ColumnIsNull(column) }

func (r result) Bool(column int) bool { return r.stmt.ColumnInt64(column) != 0 }

func (r result) Int(column int) int64 { return r.stmt.ColumnInt64(column) }

func (r result) Float(column int) float64 { return r.stmt.ColumnFloat(column) }

func (r result) ID(column int) (id model.ID) {
	r.stmt.ColumnBytes(column, id[:])
	return id
}

func (r result) Text(column int) string { return r.stmt.ColumnText(column) }

// AppendText asks for the length of the value only if it filled the buffer.
func (r result) AppendText(dst []byte, column int) []byte {
	start := len(dst)
	if n := r.stmt.ColumnBytes(column, dst[start:cap(dst)]); start+n < cap(dst) {
		return dst[:start+n]
	}
	n := r.stmt.ColumnLen(column)
	dst = slices.Grow(dst, n)[:start+n]
	r.stmt.ColumnBytes(column, dst[start:])
	return dst
}
