package postgres

import (
	"cmp"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Load uses COPY, which also takes numbers for dialect.RevisionType.
func (c *connection) Load(table string, columns []string, next func() (model.Record, error)) error {
	if err := c.flush(); err != nil {
		return err
	}
	var failed error // the database would return only its text
	_, err := c.raw.CopyFrom(c.ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		record, err := next()
		if err != nil || record == nil {
			failed = err
			return nil, err
		}
		return arguments(record), nil
	}))
	return cmp.Or(failed, err)
}

const revisionSequence = "pg_get_serial_sequence('" + db.ChangesTable + "', 'revision')"
