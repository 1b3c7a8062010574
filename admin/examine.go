package admin

import (
	"context"

	"github.com/plural-go/plural/internal/maintain"
)

// ExamineOptions says what Examine does. The zero value changes nothing.
type ExamineOptions struct {
	// Repair computes again what is wrong.
	Repair bool
}

// Examine compares derived data with the resources of a database: the totals of collections
// and sub-collections, the indexes that make offsets fast, and the change log. It returns what
// is wrong. A server may be using the database. The repair of a change log removes it and begins
// a new history, as RenewHistory does.
func Examine(ctx context.Context, database string, options ExamineOptions) (findings []string, err error) {
	return maintain.Examine(ctx, database, options.Repair)
}
