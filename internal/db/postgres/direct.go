package postgres

import (
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
	rows := &result{end: cancel}
	expected := false
	d, err := c.driverOf(ctx)
	if err == nil {
		var statement *pgconn.StatementDescription
		if statement, err = d.build(ctx, c.raw, sql, arguments(args)); err == nil {
			rows.driver, rows.fields = d, statement.Fields
			rows.reader = c.raw.PgConn().ExecStatement(ctx, statement, d.builder.ParamValues, d.builder.ParamFormats, d.builder.ResultFormats)
			expected, err = rows.first(c.expected)
		}
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

// first moves to the first row of a query withVersion, and reports whether the schema has the expected version.
func (r *result) first(v db.Version) (expected bool, err error) {
	if found, err := r.Next(); err != nil || !found {
		return false, err // no row: the table of schemas is empty
	}
	expected = db.ScanVersion(r) == v
	r.peeked, r.ended = r.raw[versionColumns-1] != nil, r.raw[versionColumns-1] == nil
	r.skip, r.fields, r.raw = versionColumns, r.fields[versionColumns:], r.raw[versionColumns:]
	return expected, nil
}

var binaryFormat = []int16{1}

// timestamptzOID is the type of times.
const timestamptzOID = 1184

// epoch is the origin of PostgreSQL timestamps, in microseconds.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// timeOf is a time in microseconds since the epoch.
func timeOf(formatted string) int64 {
	when, _ := time.Parse(time.RFC3339, formatted) // FormatTime wrote it
	return when.UnixMicro() - epoch
}
