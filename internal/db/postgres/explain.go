package postgres

import (
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Explain prepares the query with a plan for any values: the plan of a query with its values would contain
// them. If it fails, the prepared statement stays on the connection, so its name is used once.
func (c *connection) Explain(sql string, parameters int) (plan []string, err error) {
	name := "plural_explain_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	for _, statement := range []string{"SET LOCAL plan_cache_mode = force_generic_plan", "PREPARE " + name + " AS " + sql} {
		if _, err := c.Exec(statement); err != nil {
			return nil, err
		}
	}
	execute := "EXPLAIN EXECUTE " + name
	if parameters > 0 {
		execute += "(NULL" + strings.Repeat(", NULL", parameters-1) + ")"
	}
	if plan, err = db.All(c, func(row model.Row) string { return row.Text(0) }, execute); err != nil {
		return nil, err
	}
	_, err = c.Exec("DEALLOCATE " + name)
	return plan, err
}
