package postgres

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// cursor reads the rows of a query in parts. A connection cannot receive two results at once, so
// before another statement is sent, the rest of a part is received and kept. Where that would take
// too much memory, rows are dropped, and the cursor moves back to them later.
type cursor struct {
	result // the current row

	conn *connection
	part *pgconn.ResultReader // being received; nil: none
	done context.CancelFunc   // of the part
	kept [][][]byte           // rows that were received and not read yet
	read int64                // rows of the query that were read

	size     int // of the next part
	received int // rows of this part
	behind   bool
	ended    bool  // there is no part after this one
	err      error // of receiving the rest of a part
}

const (
	cursorName = "page"
	maxPart    = 2048    // rows
	maxKept    = 1 << 20 // bytes
)

// Cursor declares a cursor that can move back. It costs nothing for rows from an index or a sort.
func (c *connection) Cursor(sql string, args ...model.Value) (db.Rows, error) {
	if _, err := c.Exec("DECLARE "+cursorName+" SCROLL CURSOR FOR "+sql, args...); err != nil {
		return nil, err
	}
	c.cursor = &cursor{conn: c, size: maxPart}
	return c.cursor, nil
}

// Next goes to the next row.
func (r *cursor) Next() (bool, error) {
	for {
		switch {
		case r.err != nil:
			return false, r.err
		case len(r.kept) > 0:
			r.raw, r.kept = r.kept[0], r.kept[1:]
			r.read++
			return true, nil
		case r.part == nil && r.ended:
			return false, nil
		case r.part == nil:
			r.err = r.fetch()
		case r.part.NextRow():
			r.raw = r.part.Values()
			r.received++
			r.read++
			return true, nil
		default:
			r.endPart(0)
		}
	}
}

// fetch requests the next part. FETCH is not prepared: its columns are those of the cursor.
func (r *cursor) fetch() error {
	if err := r.conn.flush(); err != nil {
		return err
	}
	ctx, cancel := r.conn.wait()
	send := func(sql string) *pgconn.ResultReader {
		r.conn.trace(sql)
		return r.conn.raw.PgConn().ExecParams(ctx, sql, nil, nil, nil, binaryFormat)
	}
	if r.behind {
		if _, err := send("MOVE ABSOLUTE " + strconv.FormatInt(r.read, 10) + " IN " + cursorName).Close(); err != nil {
			cancel()
			return err
		}
	}
	r.part = send("FETCH " + strconv.Itoa(r.size) + " FROM " + cursorName)
	r.fields = slices.Clone(r.part.FieldDescriptions()) // the driver uses their memory again for the next statement
	r.done, r.received, r.behind = cancel, 0, false
	return nil
}

// suspend receives the rest of the part, so that another statement can be sent.
func (r *cursor) suspend() {
	if r == nil || r.part == nil {
		return
	}
	bytes, dropped := 0, 0
	for r.part.NextRow() {
		r.received++
		if dropped > 0 || bytes > maxKept {
			dropped++
			continue
		}
		row := clone(r.part.Values())
		for _, value := range row {
			bytes += len(value)
		}
		r.kept = append(r.kept, row)
	}
	r.endPart(dropped)
}

// endPart ends a part, of which rows were dropped.
func (r *cursor) endPart(dropped int) {
	_, err := r.part.Close()
	r.done()
	r.part = nil
	r.err = cmp.Or(r.err, err)
	switch {
	case dropped > 0:
		r.behind = true
		r.size = max(1, r.size/4)
	case r.received < r.size:
		r.ended = true
	default:
		r.size = min(2*r.size, maxPart)
	}
}

func clone(values [][]byte) [][]byte {
	total := 0
	for _, value := range values {
		total += len(value)
	}
	buffer, copied := make([]byte, 0, total), make([][]byte, len(values))
	for i, value := range values {
		if value != nil {
			start := len(buffer)
			buffer = append(buffer, value...)
			copied[i] = buffer[start:len(buffer):len(buffer)]
		}
	}
	return copied
}

// Close ends the cursor.
func (r *cursor) Close() {
	if r.conn.cursor != r {
		return // already
	}
	if r.part != nil {
		_, _ = r.part.Close() // a lost connection is noticed later
		r.done()
	}
	r.part, r.kept, r.ended, r.conn.cursor = nil, nil, true, nil
	r.conn.queued = append(r.conn.queued, deferred{sql: "CLOSE " + cursorName})
}
