package rules

import "github.com/plural-go/plural/internal/model"

// Shown returns whether callers who see some columns may see a rule: it reads no other column, so that its text names
// nothing that they do not know.
func (s *Set) Shown(visible model.ColumnSet) func(rule model.Rule) bool {
	return func(rule model.Rule) bool { return visible == nil }
}
