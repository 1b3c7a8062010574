package postgres

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// A query that is the only one of its transaction needs no transaction: it reads one snapshot,
// taken after it has its locks. The same statement reads the version of the schema, so there is
// one round trip.

// withVersion adds columns to a query: the version of the schema, and whether the row belongs to
// the query. There is at least one row, with the version. The table of schemas comes first, so
// that it is locked first: see lockTables.
func withVersion(sql string) string {
	return "SELECT s.version, s.at, q.* FROM (" + db.SelectVersion + ") AS s LEFT JOIN (SELECT true, r.* FROM (" + sql + ") AS r) AS q ON true"
}

// versionColumns is how many columns withVersion adds before those of the query.
const versionColumns = 3

// queryDirectly runs a query without a transaction. Nil rows mean that this is not possible, and
// that the query must be sent in a transaction.
func (c *connection) queryDirectly(sql string, args []model.Value) (db.Rows, error) {
	sql = withVersion(sql)
	c.trace(sql)
	ctx, cancel := c.wait()
	rows := &result{skip: versionColumns, end: cancel}
	expected := false
	var statement *prepared
	var err error
	if rows.driver, err = c.driverOf(ctx); err == nil {
		statement, err = rows.driver.prepare(ctx, c.raw, sql)
	}
	if err == nil {
		params := parameters{oids: statement.ParamOIDs, values: make([][]byte, 0, len(args))}
		for _, arg := range args {
			arg.Bind(&params)
		}
		if params.other {
			cancel()
			return nil, nil
		}
		rows.reader = c.raw.PgConn().ExecStatement(ctx, statement.StatementDescription, params.values, binaryFormat, binaryFormat)
		expected, err = rows.first(statement.Fields, c.expected)
	}
	if err == nil && expected {
		return rows, nil
	}
	rows.Close()
	if isOutdated(err) {
		err = nil
	}
	return nil, err
}

// first moves to the first row, and reports whether the schema has the expected version.
func (r *result) first(fields []pgconn.FieldDescription, v db.Version) (expected bool, err error) {
	if !r.reader.NextRow() {
		_, err := r.reader.Close()
		return false, r.driver.note(err) // no row: the table of schemas is empty
	}
	all := r.reader.Values()
	r.fields, r.raw = fields[versionColumns:], all[versionColumns:]
	r.peeked, r.ended = all[versionColumns-1] != nil, all[versionColumns-1] == nil
	return db.ScanVersion(&result{raw: all, fields: fields}) == v, nil
}

// parameters holds values in binary form, as the types of the parameters require.
type parameters struct {
	oids   []uint32
	values [][]byte
	other  bool // a parameter has a type that is not supported here
}

func (p *parameters) add(value []byte, oid uint32) {
	if at := len(p.values); at >= len(p.oids) || p.oids[at] != oid {
		p.other = true
	}
	p.values = append(p.values, value)
}

func (p *parameters) BindNull() { p.values = append(p.values, nil) }

func (p *parameters) BindBool(v bool) {
	value := []byte{0}
	if v {
		value[0] = 1
	}
	p.add(value, boolOID)
}

func (p *parameters) BindInt(v int64) {
	p.add(binary.BigEndian.AppendUint64(nil, db.BitsOf(v)), int8OID)
}

func (p *parameters) BindFloat(v float64) {
	p.add(binary.BigEndian.AppendUint64(nil, math.Float64bits(v)), float8OID)
}

func (p *parameters) BindID(v model.ID) { p.add(v[:], uuidOID) }

func (p *parameters) BindText(v string) {
	if at := len(p.values); at < len(p.oids) && p.oids[at] == uuidArrayOID {
		p.add(binaryIDs(v), uuidArrayOID)
		return
	}
	p.add([]byte(v), textOID)
}

// binaryIDs is an array of ids, as List writes it, in binary form.
func binaryIDs(list string) []byte {
	var ids []byte
	count := uint32(0)
	for text := range strings.SplitSeq(strings.Trim(list, "{}"), ",") {
		if id, ok := model.ParseID(text); ok {
			ids = append(binary.BigEndian.AppendUint32(ids, uint32(len(id))), id[:]...)
			count++
		}
	}
	fields := []uint32{1, 0, uuidOID, count, 1} // dimensions, nulls, type, length, first index
	if count == 0 {
		fields = []uint32{0, 0, uuidOID}
	}
	header := make([]byte, 0, 4*len(fields)+len(ids))
	for _, field := range fields {
		header = binary.BigEndian.AppendUint32(header, field)
	}
	return append(header, ids...)
}

func (p *parameters) BindTime(formatted string) {
	p.add(binary.BigEndian.AppendUint64(nil, db.BitsOf(timeOf(formatted))), timestamptzOID)
}

var binaryFormat = []int16{1}

// The OIDs of the types that columnType uses.
const (
	boolOID        = 16
	int8OID        = 20
	textOID        = 25
	float8OID      = 701
	timestamptzOID = 1184
	uuidOID        = 2950
	uuidArrayOID   = 2951
)

// epoch is the origin of PostgreSQL timestamps, in microseconds.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// timeOf is a time in microseconds since the epoch.
func timeOf(formatted string) int64 {
	when, _ := time.Parse(time.RFC3339, formatted) // FormatTime wrote it
	return when.UnixMicro() - epoch
}
