package query

import (
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Conditions describes what must hold for a filter on a collection, without its values, for logs: state[eq],
// created_at[gte], any. An equality is always written as [eq].
func Conditions(c *model.Collection, f Filter) []string {
	switch f := f.(type) {
	case nil:
		return nil
	case And:
		var all []string
		for _, each := range f {
			all = append(all, Conditions(c, each)...)
		}
		return all
	case Or:
		return []string{"any"}
	case Not:
		return []string{"not " + strings.Join(Conditions(c, f.Filter), " ")}
	case Compare:
		return []string{c.Columns()[f.Column].Name + "[" + string(f.Op) + "]"}
	case In:
		if len(f.Values) == 1 {
			return []string{c.Columns()[f.Column].Name + "[eq]"}
		}
		return []string{c.Columns()[f.Column].Name + "[in]"}
	case IsNull:
		return []string{c.Columns()[f.Column].Name + "[null]"}
	case Has:
		return []string{c.Columns()[f.Column].Name + "[has]"}
	case Inside:
		return []string{c.Columns()[f.Column].Name + "." + strings.Join(f.Path, ".") + insideOperator(f.Filter)}
	case Related:
		return []string{f.Relation.Name}
	case Search:
		return []string{"search"}
	}
	return []string{"other"}
}

// insideOperator is the operator of a condition on a value inside an object.
func insideOperator(f Filter) string {
	switch f := f.(type) {
	case Compare:
		return "[" + string(f.Op) + "]"
	case In:
		if len(f.Values) == 1 {
			return "[eq]"
		}
		return "[in]"
	case IsNull:
		return "[null]"
	}
	return ""
}

// SortNames are the fields of a sort, with a minus where it is descending.
func SortNames(c *model.Collection, sort []SortKey) (names []string) {
	for _, key := range sort {
		name := c.Columns()[key.Column].Name
		if key.Descending {
			name = "-" + name
		}
		names = append(names, name)
	}
	return names
}
