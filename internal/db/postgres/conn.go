package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// connection is a transaction on a connection. Statements whose result is not needed at once
// are sent with the next one, to save round trips. pgx caches prepared statements and requests
// results in binary form.
//
// A transaction is new (begun is false, and its beginning is queued), open (begun), failed (see
// failed: it can only be rolled back) or over (begun is false, and nothing is queued). Until the
// first reply, otherwise is set if Expect was called: a restart with another version is possible.
type connection struct {
	ctx          context.Context
	raw          *pgx.Conn
	trace        func(sql string)
	beginSQL     string        // begins the transaction
	queued       []deferred    // to be sent with the next statement
	begun        bool          // something was sent
	single       bool          // the next statement is the whole transaction: see direct.go
	replyTimeout time.Duration // for each reply; zero: no limit
	until        time.Time     // no statement is sent later; zero: no limit
	renew        func() error  // replaces a lost connection; nil: not possible
	transaction  int64         // its number, to ask for its outcome
	altered      bool          // something was written, or will be
	incomplete   bool          // statements were not sent, or their results not read, because of an error
	shared       bool          // by short tasks: it waits for locks up to maxLockWait

	locks     *retryLocks // nil: no concurrent writers
	retry     *retryLock  // nil: none
	announced []stripe    // what it writes, see Announce
	yielded   bool        // Announce has failed: it must run again, with the retry lock

	opening   []deferred          // statements before the check of the version
	expected  db.Version          // of the schema
	otherwise func(db.Conn) error // called if the schema has another version; nil: none
}

// deferred is a statement that is sent later. Look is called with each of its rows.
type deferred struct {
	sql  string
	args []any
	look func(model.Row) error
}

// errOtherVersion: the schema has an unexpected version.
var errOtherVersion = errors.New("the schema of the database has another version")

// transaction is a new transaction. Nothing is sent yet.
func (b *Database) transaction(ctx context.Context, acquired *pgxpool.Conn, beginSQL string) *connection {
	return &connection{ctx: ctx, trace: b.options.Trace, raw: acquired.Conn(), beginSQL: beginSQL, queued: []deferred{{sql: beginSQL}}}
}

// wait is the context of one exchange with the database.
func (c *connection) wait() (context.Context, context.CancelFunc) {
	if c.replyTimeout == 0 {
		return c.ctx, func() {}
	}
	return context.WithTimeout(c.ctx, c.replyTimeout)
}

// expired reports whether the time of the task is over.
func (c *connection) expired() bool { return !c.until.IsZero() && time.Now().After(c.until) }

// send sends the queued statements and then another one, and reads all results but the last. If
// the connection is lost before anything was read, it retries on another.
func (c *connection) send(ctx context.Context, sql string, args []any) (*replies, error) {
	if c.expired() {
		return nil, db.ErrTooLong
	}
	first, queued := !c.begun, c.queued
	results, err := c.sendOnce(ctx, sql, args)
	if first && c.renewed(err) {
		c.queued = queued
		results, err = c.sendOnce(ctx, sql, args)
	}
	c.incomplete = c.incomplete || err != nil
	return results, err
}

// renewed replaces the connection if an error says that it was lost, once.
func (c *connection) renewed(err error) bool {
	renew := c.renew
	if err == nil || renew == nil || !isLostConnection(err) {
		return false
	}
	c.renew = nil
	return renew() == nil
}

func (c *connection) sendOnce(ctx context.Context, sql string, args []any) (*replies, error) {
	ahead := c.queued
	results, err := c.exchange(ctx, append(ahead, deferred{sql: sql, args: args}))
	c.queued, c.begun = nil, true
	for _, q := range ahead {
		if err == nil {
			_, err = q.read(results)
		}
	}
	if err != nil {
		_ = results.close() // later errors follow from the first
		if c.otherwise != nil && (errors.Is(err, errOtherVersion) || isOutdated(err)) {
			return c.restart(ctx, ahead[len(c.opening)+1:], sql, args)
		}
		return nil, err
	}
	c.otherwise = nil
	return results, nil
}

// isOutdated recognises a statement that does not match the tables. Statements are prepared
// before their transaction, and so before the check of the version.
func isOutdated(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code[:2] == "42" || pg.Code == "0A000")
}

// restart rolls back to the check of the version, calls otherwise, and sends the statements after
// it again.
func (c *connection) restart(ctx context.Context, behind []deferred, sql string, args []any) (*replies, error) {
	otherwise := c.otherwise
	c.otherwise = nil
	c.rollback()
	c.queued = slices.Clone(c.opening)
	if err := otherwise(c); err != nil {
		return nil, err
	}
	c.queued = append(c.queued, behind...)
	return c.send(ctx, sql, args)
}

func (c *connection) Expect(v db.Version, otherwise func(db.Conn) error) error {
	if c.opening != nil { // an earlier task of the transaction has done so, and its lock keeps the version
		if c.expected != v {
			return errAlone
		}
		return nil
	}
	c.queued = append(c.queued, deferred{sql: lockSchemas})
	c.opening, c.expected, c.otherwise = slices.Clone(c.queued), v, otherwise
	c.queued = append(c.queued, deferred{sql: db.SelectVersion, look: func(row model.Row) error {
		if db.ScanVersion(row) != v {
			return errOtherVersion
		}
		return nil
	}})
	if c.beginSQL == beginWrite {
		number := "SELECT pg_current_xact_id()::text::bigint"
		if c.shared {
			number += ", set_config('lock_timeout', '" + maxLockWait + "', true)"
		}
		c.queued = append(c.queued, deferred{sql: number, look: func(row model.Row) error {
			c.transaction = row.Int(0)
			return nil
		}})
	}
	return nil
}

func (q deferred) read(results *replies) (tag pgconn.CommandTag, err error) {
	if q.look == nil {
		return results.exec()
	}
	rows, err := results.rows()
	for err == nil {
		var more bool
		if more, err = rows.Next(); err != nil || !more {
			return tag, err
		}
		err = q.look(rows)
	}
	return tag, err
}

func (c *connection) Query(sql string, args ...model.Value) (db.Rows, error) {
	c.altered = c.altered || !strings.HasPrefix(sql, "SELECT ")
	if c.single && c.otherwise != nil { // it can check the version itself
		c.single = false
		rows, err := c.queryDirectly(sql, args)
		if c.renewed(err) {
			rows, err = c.queryDirectly(sql, args)
		}
		if rows != nil || err != nil {
			return rows, err
		}
	}
	ctx, cancel := c.wait()
	results, err := c.send(ctx, sql, arguments(args))
	if err == nil {
		var rows *result
		if rows, err = results.rows(); err == nil {
			rows.end = func() { _ = results.close(); cancel() }
			return rows, nil
		}
	}
	cancel()
	return nil, err
}

func (c *connection) Exec(sql string, args ...model.Value) (int, error) {
	c.altered = true
	tag, err := c.execute(deferred{sql: sql, args: arguments(args)})
	return int(tag.RowsAffected()), err
}

// execute sends a statement, and reads its result.
func (c *connection) execute(q deferred) (tag pgconn.CommandTag, err error) {
	ctx, cancel := c.wait()
	defer cancel()
	results, err := c.send(ctx, q.sql, q.args)
	if err != nil {
		return tag, err
	}
	tag, err = q.read(results)
	return tag, cmp.Or(err, results.close()) // later errors follow from the first
}

func (c *connection) Batch(statements ...db.Statement) error {
	if err := c.Defer(statements...); err != nil {
		return err
	}
	return c.flush()
}

func (c *connection) Defer(statements ...db.Statement) error {
	for _, statement := range statements {
		c.altered = c.altered || statement.Read == nil
		q := deferred{sql: statement.SQL, args: arguments(statement.Args), look: statement.Read}
		if stored := statement.Stored; stored != nil {
			q.sql += " RETURNING lastval()"
			q.look = func(row model.Row) error {
				stored(row.Int(0))
				return nil
			}
		}
		c.queued = append(c.queued, q)
	}
	return nil
}

// Savepoint does not wait until the savepoint is created or released. Savepoints within others have the same name, so that this
// one must end also after a panic.
func (c *connection) Savepoint(fn func() (keep bool)) (err error) {
	c.queued = append(c.queued, deferred{sql: "SAVEPOINT attempt"})
	keep := false
	defer func() {
		if !keep {
			failed := c.flush() // in the same exchange, an error of what is undone would be that of the rollback
			if _, err = c.Exec("ROLLBACK TO SAVEPOINT attempt"); err != nil {
				err = cmp.Or(failed, err)
			}
		}
		if err == nil {
			c.queued = append(c.queued, deferred{sql: "RELEASE SAVEPOINT attempt"})
		}
	}()
	keep = fn()
	return nil
}

// flush sends what is queued, if there is anything.
func (c *connection) flush() error {
	if len(c.queued) == 0 {
		return nil
	}
	last := c.queued[len(c.queued)-1]
	c.queued = c.queued[:len(c.queued)-1]
	_, err := c.execute(last)
	return err
}

// commit ends the transaction. With an error, unknown says that it may have been committed nevertheless.
func (c *connection) commit() (unknown bool, err error) {
	if !c.begun && len(c.queued) == 1 {
		return false, nil // nothing was sent
	}
	ctx, cancel := c.wait()
	defer cancel()
	forgetWarnings(c.raw.PgConn())
	results, err := c.send(ctx, "commit", nil)
	if err != nil {
		return !isAnswer(err), err
	}
	tag, err := results.exec()
	closed := results.close()
	switch {
	case err != nil:
		return !isAnswer(err), err
	case tag.String() == "COMMIT" && warned(c.raw.PgConn()):
		return true, errUnreplicated
	case tag.String() == "COMMIT":
		return false, nil // committed
	}
	return false, errors.Join(fmt.Errorf("a transaction ended with %s", tag), closed)
}

// isAnswer reports whether an error is the database's reply to a statement. An error that ends
// the connection is not: it may follow a commit.
func isAnswer(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR"
}

// failed reports whether the transaction can only be rolled back.
func (c *connection) failed() bool {
	return c.incomplete || c.raw.IsClosed() || c.raw.PgConn().TxStatus() == 'E'
}

// rollback rolls the transaction back. If that fails, the pool closes the connection.
func (c *connection) rollback() {
	if c.begun && !c.raw.IsClosed() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), defaultReplyTimeout)
		defer cancel()
		c.trace("rollback")
		_, _ = c.raw.Exec(ctx, "rollback")
	}
	c.queued, c.begun = nil, false
}

func arguments(values []model.Value) []any {
	bound := make(binder, 0, len(values))
	for _, value := range values {
		value.Bind(&bound)
	}
	return bound
}

type binder []any

func (b *binder) BindNull() { *b = append(*b, nil) }

func (b *binder) BindBool(v bool) { *b = append(*b, v) }

func (b *binder) BindInt(v int64) { *b = append(*b, v) }

func (b *binder) BindFloat(v float64) { *b = append(*b, v) }

func (b *binder) BindID(v model.ID) { *b = append(*b, [16]byte(v)) }

func (b *binder) BindText(v string) { *b = append(*b, v) }

func (b *binder) BindTime(formatted string) {
	*b = append(*b, time.UnixMicro(timeOf(formatted)+epoch))
}

// result reads the binary form of the types that dialect.ColumnType returns, after columns that are skipped.
type result struct {
	reader *pgconn.ResultReader
	driver *driver
	skip   int
	fields []pgconn.FieldDescription
	raw    [][]byte
	end    func() // called when the rows are closed; nil: nothing to do

	peeked bool // the first row was read already
	ended  bool
}

func (r *result) Next() (bool, error) {
	switch {
	case r.peeked:
		r.peeked = false
		return true, nil
	case r.ended:
		return false, nil
	case r.reader.NextRow():
		r.raw = r.reader.Values()[r.skip:]
		return true, nil
	}
	r.ended = true
	_, err := r.reader.Close()
	return false, r.driver.note(err)
}

func (r *result) Close() {
	if r.reader != nil {
		_, _ = r.reader.Close() // the rows were read; a lost connection is noticed later
	}
	if r.end != nil {
		r.end()
	}
}

func (r *result) Null(column int) bool { return r.raw[column] == nil }

func (r *result) Bool(column int) bool { return r.raw[column][0] != 0 }

func (r *result) Int(column int) int64 {
	if raw := r.raw[column]; len(raw) == 4 {
		return int64(int32(binary.BigEndian.Uint32(raw))) // #nosec G115 -- the same bits
	}
	return db.FromBits(binary.BigEndian.Uint64(r.raw[column]))
}

func (r *result) Float(column int) float64 {
	return math.Float64frombits(binary.BigEndian.Uint64(r.raw[column]))
}

func (r *result) ID(column int) model.ID { return model.ID(r.raw[column]) }

func (r *result) AppendText(dst []byte, column int) []byte {
	if r.isTime(column) {
		return model.AppendTime(dst, r.time(column))
	}
	return append(dst, r.raw[column]...)
}

func (r *result) Text(column int) string {
	if r.isTime(column) {
		return model.FormatTime(r.time(column))
	}
	return string(r.raw[column])
}

func (r *result) isTime(column int) bool {
	return r.fields[column].DataTypeOID == timestamptzOID
}

func (r *result) time(column int) time.Time {
	return time.UnixMicro(db.FromBits(binary.BigEndian.Uint64(r.raw[column])) + epoch)
}
