package store

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/schema"
)

// postgresConn is a transaction on a connection. pgx keeps prepared statements
// for it and asks for results in binary form.
type postgresConn struct {
	ctx context.Context
	tx  pgx.Tx
}

func (c *postgresConn) query(sql string, args ...schema.Value) (rows, error) {
	result, err := c.tx.Query(c.ctx, sql, postgresArgs(args)...)
	if err != nil {
		return nil, err
	}
	return &postgresRows{rows: result}, nil
}

func (c *postgresConn) exec(sql string, args ...schema.Value) (int, error) {
	tag, err := c.tx.Exec(c.ctx, sql, postgresArgs(args)...)
	return int(tag.RowsAffected()), err
}

// execEach sends all at once, and waits once.
func (c *postgresConn) execEach(sql string, lists []schema.Record) error {
	var batch pgx.Batch
	for _, values := range lists {
		batch.Queue(sql, postgresArgs(values)...)
	}
	return c.tx.SendBatch(c.ctx, &batch).Close()
}

func postgresArgs(values []schema.Value) []any {
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
func (b *postgresBinder) BindID(v schema.ID)  { *b = append(*b, [16]byte(v)) }
func (b *postgresBinder) BindText(v string)   { *b = append(*b, v) }
func (b *postgresBinder) BindTime(formatted string) {
	when, _ := time.Parse(time.RFC3339, formatted) // FormatTime wrote it
	*b = append(*b, when)
}

// postgresRows reads the binary form of the types that columnType names.
type postgresRows struct {
	rows pgx.Rows
	raw  [][]byte
}

func (r *postgresRows) next() (bool, error) {
	if !r.rows.Next() {
		return false, r.rows.Err()
	}
	r.raw = r.rows.RawValues()
	return true, nil
}

func (r *postgresRows) close() { r.rows.Close() }

func (r *postgresRows) Null(column int) bool { return r.raw[column] == nil }
func (r *postgresRows) Bool(column int) bool { return r.raw[column][0] != 0 }

func (r *postgresRows) Int(column int) int64 {
	if raw := r.raw[column]; len(raw) == 4 {
		return int64(int32(binary.BigEndian.Uint32(raw)))
	}
	return int64(binary.BigEndian.Uint64(r.raw[column]))
}

func (r *postgresRows) Float(column int) float64 {
	return math.Float64frombits(binary.BigEndian.Uint64(r.raw[column]))
}

func (r *postgresRows) ID(column int) schema.ID { return schema.ID(r.raw[column]) }

// postgresEpoch is what timestamps are counted from, in microseconds.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

const timestamptzOID = 1184

func (r *postgresRows) AppendText(dst []byte, column int) []byte {
	raw := r.raw[column]
	if r.rows.FieldDescriptions()[column].DataTypeOID == timestamptzOID {
		micros := int64(binary.BigEndian.Uint64(raw))
		return append(dst, schema.FormatTime(time.UnixMicro(micros+postgresEpoch))...)
	}
	return append(dst, raw...)
}
