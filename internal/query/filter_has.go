package query

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
)

// Has holds when an array in the column has one of the values, or all of them. The values differ
// from each other, and there is at least one.
type Has struct {
	Column int
	Kind   model.Kind // of the values, as model.Kind.Item
	Values []model.Value
	All    bool
}

// Match looks at the items of the array.
func (f Has) Match(r model.Record) bool {
	items := r[f.Column].Items(f.Kind)
	has := func(value model.Value) bool { return slices.Contains(items, value) }
	if f.All {
		return !slices.ContainsFunc(f.Values, func(value model.Value) bool { return !has(value) })
	}
	return slices.ContainsFunc(f.Values, has)
}
