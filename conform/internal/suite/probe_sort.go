package suite

import (
	"encoding/json"
	"slices"
	"strings"
)

// Downwards is the positions in the descending order of ids. read.order checks that the collection
// is in ascending order.
func (p *Probe) Downwards() []int {
	positions := Span(0, len(p.Reference))
	slices.SortFunc(positions, func(a, b int) int { return strings.Compare(p.Reference[b].ID(), p.Reference[a].ID()) })
	return positions
}

// Sortable is an attribute whose values are not already in this order: otherwise a sort without
// effect would not be noticed.
func (p *Probe) Sortable(direction int) Attribute {
	return p.Attribute("string, number or boolean attribute whose values are not sorted by themselves", func(a Attribute) bool {
		return (Ordered(a) || a.Type == "boolean") && !slices.IsSortedFunc(values(a, p.Reference), order(a, direction))
	})
}

func (p *Probe) HasEquals(a Attribute) bool {
	seen := map[string]bool{}
	for _, each := range p.Reference {
		value := EncodeJSON(each.Members[a.Name])
		if seen[value] && each.Has(a.Name) {
			return true
		}
		seen[value] = true
	}
	return false
}

func (p *Probe) Sorted(a Attribute, query string, direction int) {
	got := values(a, p.All(p.Collection.Path(), query))
	if !slices.IsSortedFunc(got, order(a, direction)) {
		p.Fail(p.List(query), map[int]string{1: "ascending", -1: "descending"}[direction]+" values of "+a.Name, "%s", Shorten(EncodeJSON(got)))
	}
}

// values are those that are not null: sort.null checks null.
func values(a Attribute, resources []Resource) []any {
	var values []any
	for _, each := range resources {
		if value := each.Members[a.Name]; !IsNull(value) {
			values = append(values, value)
		}
	}
	return values
}

func order(a Attribute, direction int) func(x, y any) int {
	return func(x, y any) int {
		if a.Type == "boolean" {
			x, y = number(IsTrue(x)), number(IsTrue(y))
		}
		return direction * Compare(x, y)
	}
}

func number(b bool) json.Number {
	if b {
		return "1"
	}
	return "0"
}
