package store

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/model"
)

func (c *sqliteConn) load(table string, columns []string, next func() (model.Record, error)) error {
	places := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	insert := `INSERT INTO "` + table + `" ("` + strings.Join(columns, `", "`) + `") VALUES (` + places + ")"
	for {
		record, err := next()
		if err != nil || record == nil {
			return err
		}
		if _, err := c.exec(insert, record...); err != nil {
			return err
		}
	}
}

func (*sqliteBackend) lastGiven() string {
	return "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '" + changesTable + "'"
}

// SQLite has a line for a table only once the table had a row.
func (*sqliteBackend) loading(last int64) (before, after []string) {
	return nil, []string{
		"DELETE FROM sqlite_sequence WHERE name = '" + changesTable + "'",
		fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES ('%s', %d)", changesTable, last),
	}
}

// load uses COPY, which also takes numbers for revisionType.
func (c *postgresConn) load(table string, columns []string, next func() (model.Record, error)) error {
	if err := c.flush(); err != nil {
		return err
	}
	var failed error // the database would give only its text back
	_, err := c.raw.CopyFrom(c.ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		record, err := next()
		if err != nil || record == nil {
			failed = err
			return nil, err
		}
		return postgresArgs(record), nil
	}))
	if failed != nil {
		return failed
	}
	return err
}

const revisionSequence = "pg_get_serial_sequence('" + changesTable + "', 'revision')"

func (*postgresBackend) lastGiven() string {
	return "SELECT coalesce(pg_sequence_last_value(" + revisionSequence + "::regclass), 0)"
}

// The transactions of another database mean nothing here.
func (*postgresBackend) loading(last int64) (before, after []string) {
	order := "ALTER TABLE " + changesTable + " ALTER COLUMN transaction SET DEFAULT "
	after = []string{order + "pg_current_xact_id()", "ANALYZE"}
	if last > 0 {
		after = append(after, fmt.Sprintf("SELECT setval(%s, %d)", revisionSequence, last))
	}
	return []string{order + "'0'"}, after
}
