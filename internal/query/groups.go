package query

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
)

// GroupsType is the type of a group, as a resource.
const GroupsType = "groups"

// Groups says how resources are grouped, and what is computed of each group.
type Groups struct {
	By     []GroupKey
	Values []GroupValue
	Sort   []GroupSort // a total order of the groups
	Having Filter      // on the Record of a group; nil: all groups are kept
}

// Group is what is known of the resources that have the same values.
type Group struct {
	By     model.Record // of Groups.By
	Count  int64
	Values model.Record // of Groups.Values
}

// Record is all that groups are sorted and kept by: their keys, their count, and their values.
func (g *Group) Record() model.Record {
	return append(append(slices.Clone(g.By), model.IntValue(g.Count)), g.Values...)
}

// CountColumn is the column of the count in the Record of a group. The values follow it.
func (g *Groups) CountColumn() int { return len(g.By) }

// Ranked lists the values by which groups are sorted or kept. Such a value must be known of every group.
func (g *Groups) Ranked() (values []int) {
	add := func(column int) {
		if value := column - g.CountColumn() - 1; value >= 0 && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	for _, key := range g.Sort {
		add(key.Column)
	}
	eachCondition(g.Having, func(each Filter) {
		if column, ok := columnOf(each); ok {
			add(column)
		}
	})
	return values
}

// GroupKey is a field whose values make the groups.
type GroupKey struct {
	Operand
	Name string // as the client wrote it: customer.country, created_at:month
	Unit Unit   // to which values are truncated; empty: they are not
}

// Holds reports whether a value is one of the key. The Monday of a week may be before all dates, and is none then.
func (k GroupKey) Holds(value model.Value) bool {
	return k.Unit != "week" || value.IsNull() || value.Text() >= "0000"
}

// GroupValue is a value that is computed of the resources of a group. Null values do not count.
type GroupValue struct {
	Function Function
	Name     string // of the field
	Column   int
	Kind     model.Kind
}

// ResultKind is the kind of the value. An average is a number.
func (v GroupValue) ResultKind() model.Kind {
	switch v.Function {
	case Avg:
		return model.KindNumber
	case Distinct:
		return model.KindInteger
	}
	return v.Kind
}

// Member is the name by which groups are sorted and kept by the value: sum.total.
func (v GroupValue) Member() string { return string(v.Function) + "." + v.Name }

// GroupSort is one key of the order of groups. Null is smallest.
type GroupSort struct {
	Column     int // of the Record of a group
	Descending bool
}

// Function computes a value of a group.
type Function string

// The functions. A Sum of no values is zero, as is how many different ones there are; the others of no values are null.
const (
	Sum      Function = "sum"
	Avg      Function = "avg"
	Min      Function = "min"
	Max      Function = "max"
	Distinct Function = "distinct"
)

// Functions lists the functions in the order in which their values are shown.
var Functions = []Function{Sum, Avg, Min, Max, Distinct}

// AppliesTo reports whether a function computes a value of a field.
func (f Function) AppliesTo(kind model.Kind) bool {
	switch {
	case f == Distinct:
		return kind != model.KindJSON
	case kind.IsDecimal() || kind == model.KindInteger || kind == model.KindNumber:
		return true
	case kind == model.KindText || kind == model.KindDate || kind == model.KindDateTime:
		return f == Min || f == Max
	}
	return false
}

// Unit is what a date or date-time is truncated to, in UTC: the first moment of it. A week begins on Monday.
type Unit string

// Units lists the units of a kind.
func Units(kind model.Kind) []Unit {
	switch kind {
	case model.KindDateTime:
		return []Unit{"year", "quarter", "month", "week", "day", "hour"}
	case model.KindDate:
		return []Unit{"year", "quarter", "month", "week"}
	}
	return nil
}

// Bounds of a query for groups.
const (
	MaxGroupKeys   = 8
	MaxGroupValues = 16 // of all functions
)
