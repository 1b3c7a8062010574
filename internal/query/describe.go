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
	case OnValue:
		return []string{f.name(c) + operator(f.Filter)}
	case *Related:
		return []string{f.Relation.Name}
	case Search:
		return []string{"search"}
	}
	if column, ok := columnOf(f); ok {
		return []string{c.Columns()[column].Name + operator(f)}
	}
	return []string{"other"}
}

// operator is the operator of a condition on a column.
func operator(f any) string {
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
	case Has:
		return "[has]"
	}
	return ""
}

// SortNames are the fields of a sort, with a minus where it is descending.
func SortNames(c *model.Collection, sort []SortKey) (names []string) {
	for _, key := range sort {
		name := key.name(c)
		if key.Descending {
			name = "-" + name
		}
		names = append(names, name)
	}
	return names
}

// IncludePath is the name of an included relation, with those before it: comments.author.
func IncludePath(includes []*Include, of *Include) string {
	for _, each := range includes {
		if each == of {
			return each.Relation.Name
		}
		if rest := IncludePath(each.Includes, of); rest != "" {
			return each.Relation.Name + "." + rest
		}
	}
	return ""
}
