package rules

import "github.com/plural-go/plural/internal/model"

// Shown returns whether callers who see some columns may see a rule: it reads no other column, so that its text names
// nothing that they do not know of.
func (s *Set) Shown(visible model.ColumnSet) func(rule model.Rule) bool {
	hidden := map[model.Rule]bool{}
	note := func(rule model.Rule, reads model.ColumnSet) {
		for column := range s.collection.Columns() {
			hidden[rule] = hidden[rule] || reads.Has(column) && !visible.Has(column)
		}
	}
	if s != nil && visible != nil {
		for _, each := range s.computed {
			note(each.attribute.Computed, each.Reads)
		}
		for _, each := range s.checks {
			note(each.Declared.Rule, each.Reads)
		}
	}
	return func(rule model.Rule) bool { return !hidden[rule] }
}
