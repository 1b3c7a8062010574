//go:build linux

package stored

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// ReadSQLite reads a database file and its write-ahead log.
func ReadSQLite(file string) (*Contents, error) {
	contents := &Contents{Observed: ledger.Observed{Resources: map[ledger.Ref]ledger.Value{}, Changes: []ledger.Change{}}}
	if _, err := os.Stat(file); os.IsNotExist(err) {
		return contents, nil // it crashed before the file was created
	}
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reader := &sqliteReader{conn: conn, contents: contents, records: records{totals: map[total]int64{}, counted: map[total]int64{}}}
	reader.integrity()
	if reader.hasTables() {
		reader.read()
	} else if reader.err == nil {
		return contents, nil
	}
	if concernsMachine(reader.err) {
		return nil, reader.err
	}
	if reader.err != nil {
		// A damaged file is a problem of the server, not an error of the harness. integrity_check does not find all damage.
		contents.Problem("the database cannot be read: %v", reader.err)
		return contents, nil
	}
	reader.examine(contents)
	return contents, nil
}

// concernsMachine reports whether an error is due to the machine of the harness, which reads a copy: to its memory or its disk.
func concernsMachine(err error) bool {
	switch code := sqlite.ErrCode(err); code {
	case sqlite.ResultIOErrSHMOpen, sqlite.ResultIOErrSHMSize, sqlite.ResultIOErrSHMMap, sqlite.ResultIOErrWrite:
		return true
	default:
		return slices.Contains([]sqlite.ResultCode{sqlite.ResultFull, sqlite.ResultNoMem, sqlite.ResultCantOpen}, code.ToPrimary())
	}
}

// sqliteReader reads until the first error.
type sqliteReader struct {
	records
	conn     *sqlite.Conn
	contents *Contents
	tables   []string // of collections
	err      error
}

func (r *sqliteReader) query(sql string, row func(*sqlite.Stmt)) {
	r.queryErr(sql, func(stmt *sqlite.Stmt) error {
		row(stmt)
		return nil
	})
}

func (r *sqliteReader) queryErr(sql string, row func(*sqlite.Stmt) error) {
	if r.err == nil {
		r.err = sqlitex.ExecuteTransient(r.conn, sql, &sqlitex.ExecOptions{ResultFunc: row})
	}
}

func (r *sqliteReader) integrity() {
	r.query("PRAGMA integrity_check", func(stmt *sqlite.Stmt) {
		if line := stmt.ColumnText(0); line != "ok" {
			r.contents.Problem("integrity_check: %s", line)
		}
	})
	r.query("PRAGMA foreign_key_check", func(stmt *sqlite.Stmt) {
		r.contents.Problem("foreign_key_check: a row of %s refers to none in %s", stmt.ColumnText(0), stmt.ColumnText(2))
	})
}

func (r *sqliteReader) hasTables() bool {
	r.query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\_plural\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
		func(stmt *sqlite.Stmt) { r.tables = append(r.tables, stmt.ColumnText(0)) })
	return len(r.tables) > 0
}

func (r *sqliteReader) read() {
	r.queryErr("SELECT numbers FROM _plural_schemas ORDER BY version DESC LIMIT 1", func(stmt *sqlite.Stmt) error { return r.numbers.read(stmt.ColumnText(0)) })
	r.query("SELECT revision, collection, id, kind, previous FROM _plural_changes ORDER BY revision", func(stmt *sqlite.Stmt) {
		r.changes = append(r.changes, logged{stmt.ColumnInt64(0), stmt.ColumnInt64(1), uuid(stmt, 2), stmt.ColumnText(3), stmt.ColumnText(4)})
	})
	r.query("SELECT 1 FROM _plural_meta WHERE key = 'floor'", func(*sqlite.Stmt) { r.cut = true })
	for _, table := range r.tables {
		r.query(`SELECT * FROM "`+table+`"`, func(stmt *sqlite.Stmt) {
			found := stored{ref: ledger.Ref{Collection: table, ID: uuid(stmt, stmt.ColumnIndex("id"))}, revision: stmt.GetInt64("_revision"), columns: map[string][]string{}}
			for column := range stmt.ColumnCount() {
				found.columns[stmt.ColumnName(column)] = asJSON(stmt, column)
			}
			r.stored = append(r.stored, found)
		})
	}
	for statement, totals := range map[string]map[total]int64{keptTotals: r.totals, recordBytes: r.counted} {
		r.query(statement, func(stmt *sqlite.Stmt) {
			totals[total{stmt.ColumnText(0), stmt.ColumnText(1)}] += stmt.ColumnInt64(2)
		})
	}
}

// asJSON lists the JSON forms of a column. A boolean is a number in SQLite.
func asJSON(stmt *sqlite.Stmt, column int) []string {
	switch stmt.ColumnType(column) {
	case sqlite.TypeNull:
		return []string{"null"}
	case sqlite.TypeInteger:
		n := stmt.ColumnInt64(column)
		return []string{strconv.FormatInt(n, 10), strconv.FormatBool(n == 1)}
	case sqlite.TypeBlob:
		return []string{strconv.Quote(uuid(stmt, column))}
	default:
		return textAsJSON(stmt.ColumnText(column))
	}
}

func uuid(stmt *sqlite.Stmt, column int) string {
	var b [16]byte
	stmt.ColumnBytes(column, b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
