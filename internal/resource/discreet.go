package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// discreet is conflicts with other resources as a caller may be told of them: that
// there is one cannot be hidden, but the names of attributes can.
func (p Path) discreet(conflicts problem.Errors) problem.Errors {
	visible, writable := p.By.Visible(p.Collection), p.By.Writable(p.Collection)
	if visible == nil {
		return conflicts
	}
	unknown := func(column int) bool { return !visible.Has(column) && !writable.Has(column) }
	told := make(problem.Errors, len(conflicts))
	for i, conflict := range conflicts {
		told[i] = conflict
		for _, group := range p.Collection.UniqueGroups() {
			first := "/" + p.Collection.Columns()[group[0]].Name
			if conflict.Code == problem.CodeNotUnique && conflict.Source.Pointer == first && slices.ContainsFunc(group, unknown) {
				told[i] = fault.New(problem.CodeNotUnique, "Another resource has values that no two can share.")
			}
		}
	}
	return told
}
