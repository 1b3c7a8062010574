package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
)

// redact hides the names of attributes that the caller may not see. That there is a conflict
// cannot be hidden.
func (p Path) redact(conflicts fault.List) fault.List {
	visible, writable := p.By.Visible(p.Collection), p.By.Writable(p.Collection)
	if visible == nil {
		return conflicts
	}
	unknown := func(column int) bool { return !visible.Has(column) && !writable.Has(column) }
	redacted := make(fault.List, len(conflicts))
	for i, conflict := range conflicts {
		redacted[i] = conflict
		for _, group := range p.Collection.UniqueGroups() {
			first := "/" + p.Collection.Columns()[group[0]].Name
			if conflict.Code == fault.CodeNotUnique && conflict.Source.Pointer == first && slices.ContainsFunc(group, unknown) {
				redacted[i] = fault.New(fault.CodeNotUnique, "Another resource has the same values of attributes that must be unique.")
			}
		}
	}
	return redacted
}
