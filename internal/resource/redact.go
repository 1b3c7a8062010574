package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// redact hides the names of attributes that the caller may not see. That there is a conflict
// cannot be hidden.
func (p Path) redact(conflicts problem.Errors) problem.Errors {
	visible, writable := p.By.Visible(p.Collection), p.By.Writable(p.Collection)
	if visible == nil {
		return conflicts
	}
	unknown := func(column int) bool { return !visible.Has(column) && !writable.Has(column) }
	redacted := make(problem.Errors, len(conflicts))
	for i, conflict := range conflicts {
		redacted[i] = conflict
		// Several groups may begin with the same attribute, which the pointer has. The detail names all attributes.
		isKnown := func(group []int) bool {
			return !slices.ContainsFunc(group, unknown) && conflict.Detail == store.ConflictOf(p.Collection, group).Detail
		}
		if conflict.Code == problem.CodeNotUnique && !slices.ContainsFunc(p.Collection.UniqueGroups(), isKnown) {
			redacted[i] = fault.New(problem.CodeNotUnique, "Another resource has the same values of attributes that must be unique.")
		}
	}
	return redacted
}
