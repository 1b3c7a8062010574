package postgres

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// cursor reads the rows of a query in parts, which are kept: a connection cannot receive two results at once. Rows that would take
// too much memory are dropped, and the cursor moves back to them later.
type cursor struct {
	result // the current row

	conn   *connection
	kept   [][][]byte // rows that were received and not read yet
	read   int64      // rows of the query that were read
	size   int        // of the next part
	behind bool       // rows of the last part were dropped
	ended  bool       // there is no part after this one
	closed bool
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
	return &cursor{conn: c, size: maxPart}, nil
}

// Next goes to the next row.
func (r *cursor) Next() (bool, error) {
	if len(r.kept) == 0 && !r.ended {
		if err := r.fetch(); err != nil {
			return false, err
		}
	}
	if len(r.kept) == 0 {
		return false, nil
	}
	r.raw, r.kept = r.kept[0], r.kept[1:]
	r.read++
	return true, nil
}

// fetch receives the next part. FETCH is not prepared: its columns are those of the cursor.
func (r *cursor) fetch() error {
	if err := r.conn.flush(); err != nil {
		return err
	}
	ctx, cancel := r.conn.wait()
	defer cancel()
	send := func(sql string) *pgconn.ResultReader {
		r.conn.trace(sql)
		return r.conn.raw.PgConn().ExecParams(ctx, sql, nil, nil, nil, binaryFormat)
	}
	if r.behind {
		if _, err := send("MOVE ABSOLUTE " + strconv.FormatInt(r.read, 10) + " IN " + cursorName).Close(); err != nil {
			return err
		}
	}
	part := send("FETCH " + strconv.Itoa(r.size) + " FROM " + cursorName)
	r.fields = slices.Clone(part.FieldDescriptions()) // the driver uses their memory again for the next statement
	received, kept := 0, 0
	for part.NextRow() {
		if received++; kept > maxKept {
			continue
		}
		row := slices.Clone(part.Values())
		for i, value := range row {
			row[i] = bytes.Clone(value)
			kept += len(value)
		}
		r.kept = append(r.kept, row)
	}
	if _, err := part.Close(); err != nil {
		return err
	}
	r.behind = len(r.kept) < received
	r.ended = received < r.size && !r.behind
	if r.size = min(r.size+r.size/4+1, maxPart); r.behind {
		r.size = len(r.kept)
	}
	return nil
}

// Close ends the cursor.
func (r *cursor) Close() {
	if !r.closed {
		r.closed, r.ended, r.kept = true, true, nil
		r.conn.queued = append(r.conn.queued, deferred{sql: "CLOSE " + cursorName})
	}
}
