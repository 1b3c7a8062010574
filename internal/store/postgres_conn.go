package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/model"
)

// postgresConn is a transaction on a connection. What need not be answered at once
// is sent along with the next statement that must be, so that a transaction
// waits for the database as seldom as can be. pgx keeps prepared statements and asks for
// results in binary form.
type postgresConn struct {
	ctx      context.Context
	raw      *pgx.Conn
	isolated string          // how it begins
	queued   []postgresQuery // to be sent with the next statement
	begun    bool            // something was sent
	only     bool            // the next statement is the only one, and ends it
	patience time.Duration   // for each answer; zero: any
	longer   func() error    // lets a read take its time
	renew    func() error    // replaces a connection that was lost; nil: that cannot be
	// transaction is its number, and committed a condition on its changes, to ask what
	// became of it.
	transaction int64
	committed   *postgresQuery

	turns     *turns // nil: nobody else writes
	turn      *turn  // nil: none
	about     contested
	outOfTurn bool

	opening   []postgresQuery // what comes ahead of an assumption
	known     string          // version of the schema that is assumed
	holds     func(model.Row) bool
	otherwise func(conn) error // nil, or what to do if the assumption does not hold
}

// postgresQuery is a statement that is sent later. Look gets its first row.
type postgresQuery struct {
	sql  string
	args []any
	look func(model.Row) error
}

// errUnmet: what was assumed when the transaction began does not hold.
var errUnmet = errors.New("the assumption of a transaction does not hold")

// begin makes the connection ready for a transaction. Nothing is sent yet.
func (c *postgresConn) begin() { c.queued, c.begun = []postgresQuery{{sql: c.isolated}}, false }

// wait is the context of one exchange with the database.
func (c *postgresConn) wait() (context.Context, context.CancelFunc) {
	if c.patience == 0 {
		return c.ctx, func() {}
	}
	return context.WithTimeout(c.ctx, c.patience)
}

// send sends what is queued and then a statement, and reads all answers ahead of
// that to the last one. Who has read nothing yet and finds the connection lost goes on with
// another.
func (c *postgresConn) send(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	first, queued := !c.begun, c.queued
	results, err := c.sendOnce(ctx, sql, args)
	if first && c.renewed(err) {
		c.queued = queued
		return c.sendOnce(ctx, sql, args)
	}
	return results, err
}

// renewed replaces the connection if an error says that it was lost, once.
func (c *postgresConn) renewed(err error) bool {
	renew := c.renew
	if err == nil || renew == nil || !isLostConnection(err) {
		return false
	}
	c.renew = nil
	return renew() == nil
}

func (c *postgresConn) sendOnce(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	var batch pgx.Batch
	for _, q := range c.queued {
		batch.Queue(q.sql, q.args...)
	}
	batch.Queue(sql, args...)
	if c.only {
		batch.Queue("commit")
	}
	ahead := c.queued
	c.queued, c.begun = nil, true
	results := c.raw.SendBatch(ctx, &batch)
	for _, q := range ahead {
		if err := q.read(results); err != nil {
			_ = results.Close() // what follows from the first error says nothing new
			if c.otherwise != nil && (errors.Is(err, errUnmet) || isOutdated(err)) {
				return c.startAnew(ctx, ahead[len(c.opening)+1:], sql, args)
			}
			return nil, err
		}
	}
	c.otherwise = nil
	return results, nil
}

// isOutdated recognises a statement that does not fit the tables. It is prepared
// ahead of its transaction, and so ahead of what that assumes.
func isOutdated(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code[:2] == "42" || pg.Code == "0A000")
}

// startAnew goes back to where an assumption was made that does not hold, does what
// is to be done otherwise, and sends again what came behind.
func (c *postgresConn) startAnew(ctx context.Context, behind []postgresQuery, sql string, args []any) (pgx.BatchResults, error) {
	only, otherwise := c.only, c.otherwise
	c.only, c.otherwise = false, nil
	c.rollback()
	c.queued = slices.Clone(c.opening)
	if err := otherwise(c); err != nil {
		return nil, err
	}
	c.only, c.queued = only, append(c.queued, behind...)
	return c.send(ctx, sql, args)
}

func (c *postgresConn) assume(sql string, holds func(model.Row) bool, otherwise func(conn) error) error {
	c.opening, c.holds, c.otherwise = slices.Clone(c.queued), holds, otherwise
	c.queued = append(c.queued, postgresQuery{sql: sql, look: func(row model.Row) error {
		if !holds(row) {
			return errUnmet
		}
		return nil
	}})
	if c.isolated == beginWrite {
		c.queued = append(c.queued, postgresQuery{sql: "SELECT pg_current_xact_id()::text::bigint", look: func(row model.Row) error {
			c.transaction = row.Int(0)
			return nil
		}})
	}
	return nil
}

func (q postgresQuery) read(results pgx.BatchResults) error {
	if q.look == nil {
		_, err := results.Exec()
		return err
	}
	answer, err := results.Query()
	if err != nil {
		return err
	}
	rows := &postgresRows{batch: answer}
	defer answer.Close()
	found, err := rows.next()
	if err == nil && found {
		err = q.look(rows)
	}
	return err
}

func (c *postgresConn) query(sql string, args ...model.Value) (rows, error) {
	if c.only && c.otherwise != nil {
		rows, err := c.lookOne(sql, args)
		if c.renewed(err) {
			rows, err = c.lookOne(sql, args)
		}
		if rows != nil || err != nil {
			return rows, err
		}
	}
	ctx, cancel := c.wait()
	results, err := c.send(ctx, sql, postgresArgs(args))
	if err == nil {
		var answer pgx.Rows
		if answer, err = results.Query(); err == nil {
			return &postgresRows{batch: answer, end: func() { _ = results.Close(); cancel() }}, nil
		}
		_ = results.Close()
	}
	cancel()
	return nil, err
}

func (c *postgresConn) exec(sql string, args ...model.Value) (int, error) {
	ctx, cancel := c.wait()
	defer cancel()
	results, err := c.send(ctx, sql, postgresArgs(args))
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	return int(tag.RowsAffected()), firstOf(err, results.Close())
}

func (c *postgresConn) later(look func(model.Row), sql string, args ...model.Value) error {
	q := postgresQuery{sql: sql, args: postgresArgs(args)}
	if look != nil {
		q.look = func(row model.Row) error {
			look(row)
			return nil
		}
	}
	c.queued = append(c.queued, q)
	return nil
}

func (c *postgresConn) put(look func(revision int64), sql string, args ...model.Value) error {
	return c.later(func(row model.Row) { look(row.Int(0)) }, sql, args...)
}

func (c *postgresConn) evidence(condition string, args ...model.Value) {
	c.committed = &postgresQuery{sql: condition, args: postgresArgs(args)}
}

func (c *postgresConn) lengthen() error { return c.longer() }

// A transaction is not shared.
func (c *postgresConn) note([]delta) bool  { return false }
func (c *postgresConn) unwritten() []delta { return nil }

// flush sends what is queued, if there is anything.
func (c *postgresConn) flush() error {
	if len(c.queued) == 0 {
		return nil
	}
	last := c.queued[len(c.queued)-1]
	c.queued = c.queued[:len(c.queued)-1]
	ctx, cancel := c.wait()
	defer cancel()
	results, err := c.send(ctx, last.sql, last.args)
	if err != nil {
		return err
	}
	err = last.read(results)
	return firstOf(err, results.Close())
}

// firstOf is the first error: those behind it only follow from it.
func firstOf(err, behind error) error {
	if err != nil {
		return err
	}
	return behind
}

// commit ends the transaction. Sent says that the outcome is unknown if there was
// an error: the database may have done it.
func (c *postgresConn) commit() (sent bool, err error) {
	if !c.begun && len(c.queued) == 1 {
		return false, nil // nothing was done
	}
	ctx, cancel := c.wait()
	defer cancel()
	forgetWarnings(c.raw.PgConn())
	results, err := c.send(ctx, "commit", nil)
	if err != nil {
		return !isAnswer(err), err
	}
	tag, err := results.Exec()
	closed := results.Close()
	switch {
	case err != nil:
		return !isAnswer(err), err
	case tag.String() == "COMMIT" && warned(c.raw.PgConn()):
		return true, errUnreplicated
	case tag.String() == "COMMIT":
		return false, nil // whatever happens to the connection now
	}
	return false, errors.Join(fmt.Errorf("a transaction ended with %s", tag), closed)
}

// isAnswer reports whether an error was the database's answer to a statement. What
// ends the connection is not: it may come behind a commit.
func isAnswer(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR"
}

// rollback gives the transaction up. A connection on which that fails is of no
// more use, and whoever takes it back sees so.
func (c *postgresConn) rollback() {
	if c.begun && !c.only && !c.raw.IsClosed() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), postgresPatience)
		defer cancel()
		_, _ = c.raw.Exec(ctx, "rollback")
	}
	c.queued, c.begun = nil, false
}

func postgresArgs(values []model.Value) []any {
	bound := make(postgresBinder, 0, len(values))
	for _, value := range values {
		value.Bind(&bound)
	}
	return bound
}

type postgresBinder []any

func (b *postgresBinder) BindNull()           { *b = append(*b, nil) }
func (b *postgresBinder) BindBool(v bool)     { *b = append(*b, v) }
func (b *postgresBinder) BindInt(v int64)     { *b = append(*b, v) }
func (b *postgresBinder) BindFloat(v float64) { *b = append(*b, v) }
func (b *postgresBinder) BindID(v model.ID)   { *b = append(*b, [16]byte(v)) }
func (b *postgresBinder) BindText(v string)   { *b = append(*b, v) }
func (b *postgresBinder) BindTime(formatted string) {
	*b = append(*b, time.UnixMicro(postgresTime(formatted)+postgresEpoch))
}

// postgresRows reads the binary form of the types that columnType names. They are those of
// a batch, or of a statement by itself.
type postgresRows struct {
	batch  pgx.Rows
	reader *pgconn.ResultReader
	fields []pgconn.FieldDescription
	raw    [][]byte
	end    func() // when they are closed

	front [][]byte // columns of the first row that are not its own
	ahead int      // number of columns ahead of its own
	waits bool     // the first row is there already
	ended bool
}

func (r *postgresRows) next() (bool, error) {
	switch {
	case r.waits:
		r.waits = false
		return true, nil
	case r.ended:
		return false, nil
	case r.batch != nil:
		if !r.batch.Next() {
			return false, r.batch.Err()
		}
		r.raw = r.batch.RawValues()
		return true, nil
	case r.reader.NextRow():
		r.raw = r.reader.Values()[r.ahead:]
		return true, nil
	}
	r.ended = true
	_, err := r.reader.Close()
	return false, err
}

func (r *postgresRows) close() {
	if r.batch != nil {
		r.batch.Close()
	}
	if r.reader != nil {
		_, _ = r.reader.Close() // what was read was read, and a connection that is lost shows
	}
	if r.end != nil {
		r.end()
	}
}

func (r *postgresRows) Null(column int) bool { return r.raw[column] == nil }
func (r *postgresRows) Bool(column int) bool { return r.raw[column][0] != 0 }

func (r *postgresRows) Int(column int) int64 {
	if raw := r.raw[column]; len(raw) == 4 {
		return int64(int32(binary.BigEndian.Uint32(raw))) // #nosec G115 -- the same bits
	}
	return fromBits(binary.BigEndian.Uint64(r.raw[column]))
}

func (r *postgresRows) Float(column int) float64 {
	return math.Float64frombits(binary.BigEndian.Uint64(r.raw[column]))
}

func (r *postgresRows) ID(column int) model.ID { return model.ID(r.raw[column]) }

func (r *postgresRows) AppendText(dst []byte, column int) []byte {
	raw := r.raw[column]
	if r.fields == nil {
		r.fields = r.batch.FieldDescriptions()
	}
	if r.fields[column].DataTypeOID == timestamptzOID {
		return model.AppendTime(dst, time.UnixMicro(fromBits(binary.BigEndian.Uint64(raw))+postgresEpoch))
	}
	return append(dst, raw...)
}
