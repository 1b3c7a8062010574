package sqlite

import (
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/schema"
)

func (c *connection) Load(table string, columns []string, next func() (schema.Record, error)) error {
	places := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	insert := `INSERT INTO "` + table + `" ("` + strings.Join(columns, `", "`) + `") VALUES (` + places + ")"
	for {
		record, err := next()
		if err != nil || record == nil {
			return err
		}
		if _, err := c.Exec(insert, record...); err != nil {
			return err
		}
	}
}

func (*Database) LastGiven() string {
	return "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '" + db.ChangesTable + "'"
}

// SQLite has a line for a table only once the table had a row.
func (*Database) Loading(last int64) (before, after []string) {
	return nil, []string{
		"DELETE FROM sqlite_sequence WHERE name = '" + db.ChangesTable + "'",
		fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES ('%s', %d)", db.ChangesTable, last),
	}
}
