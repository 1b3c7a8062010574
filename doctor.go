package plural

import (
	"context"

	"github.com/plural-go/plural/internal/maintain"
)

// Examine compares what is derived from the resources of a database with them: the
// totals of collections and sub-collections, and the positions that make offsets
// fast. It returns what is wrong, and with repair makes it anew. A server may be
// using the database.
func Examine(ctx context.Context, database string, repair bool) (findings []string, err error) {
	return maintain.Examine(ctx, database, repair)
}
