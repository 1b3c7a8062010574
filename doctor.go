package plural

import (
	"context"

	"github.com/plural-go/plural/internal/store"
)

// ExamineOptions says what Examine does. The zero value changes nothing.
type ExamineOptions struct {
	// Repair computes again what is wrong.
	Repair bool
}

// Examine compares what is derived from the resources of a database with them: the
// totals of collections and sub-collections, and the positions that make offsets
// fast. It returns what is wrong. A server may be using the database.
func Examine(ctx context.Context, database string, options ExamineOptions) (findings []string, err error) {
	return store.Examine(ctx, database, options.Repair)
}
