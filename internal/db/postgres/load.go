package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/schema"
)

// Load uses COPY, which also takes numbers for revisionType.
func (c *connection) Load(table string, columns []string, next func() (schema.Record, error)) error {
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
		return arguments(record), nil
	}))
	if failed != nil {
		return failed
	}
	return err
}

const revisionSequence = "pg_get_serial_sequence('" + db.ChangesTable + "', 'revision')"

func (*Database) LastGiven() string {
	return "SELECT coalesce(pg_sequence_last_value(" + revisionSequence + "::regclass), 0)"
}

// The transactions of another database mean nothing here.
func (*Database) Loading(last int64) (before, after []string) {
	order := "ALTER TABLE " + db.ChangesTable + " ALTER COLUMN transaction SET DEFAULT "
	after = []string{order + "pg_current_xact_id()", "ANALYZE"}
	if last > 0 {
		after = append(after, fmt.Sprintf("SELECT setval(%s, %d)", revisionSequence, last))
	}
	return []string{order + "'0'"}, after
}
