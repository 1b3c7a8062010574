package plural

import (
	"context"

	"github.com/plural-go/plural/internal/maintain"
)

// Examine compares derived data with the resources of a database: the totals of collections
// and sub-collections, and the positions that make offsets fast. It returns what is wrong, and
// with repair rebuilds it. A server may be using the database.
func Examine(ctx context.Context, database string, repair bool) (findings []string, err error) {
	return maintain.Examine(ctx, database, repair)
}
