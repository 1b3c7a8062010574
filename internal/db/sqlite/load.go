package sqlite

import (
	"strings"

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
