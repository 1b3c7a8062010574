package sqlite

import (
	"strings"

	"github.com/plural-go/plural/internal/model"
)

func (c *connection) Load(table string, columns []string, next func() (model.Record, error)) error {
	placeholders := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	insert := `INSERT INTO "` + table + `" ("` + strings.Join(columns, `", "`) + `") VALUES (` + placeholders + ")"
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
