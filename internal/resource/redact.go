package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
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
		for _, group := range p.Collection.UniqueGroups() {
			first := "/" + p.Collection.Columns()[group[0]].Name
			if conflict.Code == problem.CodeNotUnique && conflict.Source.Pointer == first && slices.ContainsFunc(group, unknown) {
				redacted[i] = fault.New(problem.CodeNotUnique, "Another resource has the same values of attributes that must be unique.")
			}
		}
	}
	return redacted
}
