package store

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/model"
)

// A query that is all of its transaction needs none: it is a snapshot by itself, and sees
// the database as it is when it has its locks. So it can tell by itself whether the schema
// is what was assumed, and one exchange of one statement does all.

// beside is a query with more columns ahead of its own, of which there is a row even if the
// query has none: the version of the schema, and others. It names the table of schemas
// first, so that it is locked first: see lockTables.
func (c *postgresConn) beside(columns, sql string) string {
	return "SELECT s.version, s.at, " + columns + "q.* FROM " + schemasTable + " s LEFT JOIN (" + sql + ") AS q ON true WHERE s.version"
}

func (c *postgresConn) knows(version int64) { c.known = strconv.FormatInt(version, 10) }

// lookOne runs a query that has one row at the most, whose first column is not null. Nil
// means that it cannot be answered in this way: it is to be sent in a transaction.
func (c *postgresConn) lookOne(sql string, args []model.Value) (*postgresRows, error) {
	rows, err := c.direct(0, c.beside("", sql)+" >= "+c.known, args)
	if rows == nil || err != nil {
		return nil, err
	}
	// Another row is that of a later version.
	rows.keep()
	later := rows.reader.NextRow()
	if _, err := rows.reader.Close(); err != nil || later {
		rows.close()
		return nil, err
	}
	return rows, nil
}

// front runs a query that has any number of rows, in their order: s is one row, and they are
// gone through for it.
func (c *postgresConn) front(read func(model.Row), columns []string, sql string, take int64, more ...model.Value) (rows, error) {
	if c.begun || c.isolated != beginRead || c.otherwise == nil {
		return nil, nil
	}
	sql = c.beside(strings.Join(columns, ", ")+", ", sql) + " = " + c.known +
		" AND NOT EXISTS (SELECT FROM " + schemasTable + " WHERE version > " + c.known + ") LIMIT $1"
	args := append([]model.Value{model.IntValue(take)}, more...)
	rows, err := c.direct(len(columns), sql, args)
	if c.renewed(err) {
		rows, err = c.direct(len(columns), sql, args)
	}
	if rows == nil || err != nil {
		return nil, err
	}
	read(&postgresRows{raw: rows.front})
	return rows, nil
}

// direct sends a query that was put beside a number of columns, and goes to its first row.
func (c *postgresConn) direct(columns int, sql string, args []model.Value) (*postgresRows, error) {
	ctx, cancel := c.wait()
	rows := &postgresRows{end: cancel, ahead: 2 + columns}
	prepared, err := c.raw.Prepare(ctx, sql, sql)
	if err == nil {
		params := postgresParams{oids: prepared.ParamOIDs, values: make([][]byte, 0, len(args))}
		for _, arg := range args {
			arg.Bind(&params)
		}
		if params.other {
			cancel()
			return nil, nil
		}
		rows.reader = c.raw.PgConn().ExecStatement(ctx, prepared, params.values, binaryFormat, binaryFormat)
		err = rows.first(prepared.Fields)
	}
	switch {
	case isOutdated(err), err == nil && (rows.front == nil || !c.holds(&postgresRows{raw: rows.front, fields: prepared.Fields})):
		rows.close()
		return nil, nil
	case err != nil:
		rows.close()
		return nil, err
	}
	rows.front = rows.front[2:]
	return rows, nil
}

// first goes to the first row, of which the columns in front are not those of the query. If
// those are null there is no row.
func (r *postgresRows) first(fields []pgconn.FieldDescription) error {
	if !r.reader.NextRow() {
		_, err := r.reader.Close()
		return err
	}
	r.fields = fields[r.ahead:]
	r.front, r.raw = r.reader.Values()[:r.ahead], r.reader.Values()[r.ahead:]
	r.waits, r.ended = r.raw[0] != nil, r.raw[0] == nil
	return nil
}

// keep copies the row, which else is lost when the next one is read.
func (r *postgresRows) keep() {
	size := 0
	for _, value := range r.raw {
		size += len(value)
	}
	kept, all := make([][]byte, len(r.raw)), make([]byte, 0, size)
	for i, value := range r.raw {
		if value != nil {
			start := len(all)
			all = append(all, value...)
			kept[i] = all[start:len(all):len(all)]
		}
	}
	r.raw = kept
}

// postgresParams is the binary form of values, as the types of the parameters ask for.
type postgresParams struct {
	oids   []uint32
	values [][]byte
	other  bool // there is a type that is not known here
}

func (p *postgresParams) add(value []byte, oid uint32) {
	if at := len(p.values); at >= len(p.oids) || p.oids[at] != oid {
		p.other = true
	}
	p.values = append(p.values, value)
}

func (p *postgresParams) BindNull() { p.values = append(p.values, nil) }

func (p *postgresParams) BindBool(v bool) {
	value := []byte{0}
	if v {
		value[0] = 1
	}
	p.add(value, boolOID)
}

func (p *postgresParams) BindInt(v int64) {
	p.add(binary.BigEndian.AppendUint64(nil, bitsOf(v)), int8OID)
}

func (p *postgresParams) BindFloat(v float64) {
	p.add(binary.BigEndian.AppendUint64(nil, math.Float64bits(v)), float8OID)
}

func (p *postgresParams) BindID(v model.ID) { p.add(v[:], uuidOID) }

func (p *postgresParams) BindText(v string) { p.add([]byte(v), textOID) }

func (p *postgresParams) BindTime(formatted string) {
	p.add(binary.BigEndian.AppendUint64(nil, bitsOf(postgresTime(formatted))), timestamptzOID)
}

// The numbers of the types that columnType names.
const (
	boolOID        = 16
	int8OID        = 20
	textOID        = 25
	float8OID      = 701
	timestamptzOID = 1184
	uuidOID        = 2950
)

// postgresEpoch is what timestamps are counted from, in microseconds.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// postgresTime is the number of a time.
func postgresTime(formatted string) int64 {
	when, _ := time.Parse(time.RFC3339, formatted) // FormatTime wrote it
	return when.UnixMicro() - postgresEpoch
}
