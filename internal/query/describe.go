package query

import (
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Conditions describes what must hold for a filter on a collection, without its values, for logs: state[eq],
// created_at[gte], any. An equality is always written as [eq].
func Conditions(c *model.Collection, f Filter) []string {
	name := func(column int) string { return c.Columns()[column].Name }
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
		return []string{name(f.Column) + operator(f)}
	case In:
		return []string{name(f.Column) + operator(f)}
	case IsNull:
		return []string{name(f.Column) + operator(f)}
	case Has:
		return []string{name(f.Column) + "[has]"}
	case Inside:
		return []string{name(f.Column) + "." + strings.Join(f.Path, ".") + operator(f.Filter)}
	case Related:
		return []string{f.Relation.Name}
	case Search:
		return []string{"search"}
	}
	return []string{"other"}
}

// operator is the operator of a condition on a column, or on a value inside an object.
func operator(f Filter) string {
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
