package conform

import (
	"encoding/json"
	"slices"
	"strings"
)

var sortChecks = []Check{
	{
		ID: "sort.ascending", Title: "sort=field", Source: ourSorting,
		Rule: "sort=field sorts by that field in ascending order, strings by code point.",
		run:  func(p *probe) { a := p.sortable(1); p.sorted(a, "sort="+a.Name, 1) },
	},
	{
		ID: "sort.descending", Title: "sort=-field", Source: ourSorting,
		Rule: "A minus before the field sorts in descending order.",
		run:  func(p *probe) { a := p.sortable(-1); p.sorted(a, "sort=-"+a.Name, -1) },
	},
	{
		ID: "sort.ties", Title: "order of equals", Source: ourSorting,
		Rule: "Resources that are equal in the sort fields are ordered by id, in both directions.",
		run: func(p *probe) {
			a := p.attribute("attribute in which resources are equal", func(a attribute) bool {
				return a.Type != "object" && a.Type != "array" && p.hasEquals(a)
			})
			for _, query := range []string{"sort=" + a.Name, "sort=-" + a.Name} {
				all := p.all(p.collection.path(), query)
				// Other checks test the order of the keys.
				for i := 1; i < len(all); i++ {
					if equalJSON(all[i-1].members[a.Name], all[i].members[a.Name]) && all[i-1].id() >= all[i].id() {
						p.fail(p.list(query), "ascending ids where "+a.Name+" is equal", "%s before %s", all[i-1].id(), all[i].id())
					}
				}
			}
		},
	},
	{
		ID: "sort.null", Title: "place of null", Source: ourSorting,
		Rule: "Null is smallest: first in ascending, last in descending order.",
		run: func(p *probe) {
			a := p.divided("attribute that is null for some", func(a attribute) bool { return a.Type != "object" && a.Type != "array" }, isNull)
			count := len(p.where(func(each resource) bool { return isNull(each.members[a.Name]) }))
			for query, nullsFirst := range map[string]bool{"sort=" + a.Name: true, "sort=-" + a.Name: false} {
				all := p.all(p.collection.path(), query)
				for i, each := range all {
					want, place := i < count, "first"
					if !nullsFirst {
						want, place = i >= len(all)-count, "last"
					}
					if got := each.members[a.Name]; isNull(got) != want {
						p.fail(p.list(query), "the resources without "+a.Name+" "+place, "as number %d of %d one with %s", i+1, len(all), encodeJSON(got))
					}
				}
			}
		},
	},
	{
		ID: "sort.range", Title: "a range of a sorted collection", Source: ourSorting,
		Rule: "Offset and limit count in the sorted order.",
		run: func(p *probe) {
			p.need(12)
			r := p.list("sort=-id&offset=2&limit=3")
			p.positions(r, p.downwards()[2:5])
		},
	},
	{
		ID: "sort.cursor", Title: "a cursor in a sorted collection", Source: ourSorting,
		Rule: "A cursor starts at its resource in the sorted order too.",
		run: func(p *probe) {
			p.need(12)
			down := p.downwards()
			r := p.list("sort=-id&cursor=" + p.reference[down[5]].id() + "&limit=3")
			p.positions(r, down[5:8])
		},
	},
	{
		ID: "sort.repeated", Title: "sort given more than once", Source: ourSorting,
		Rule: "sort can be repeated: resources that are equal in the first are sorted by the next.",
		run: func(p *probe) {
			a := p.attribute("attribute in which resources are equal", func(a attribute) bool {
				return a.Type != "object" && a.Type != "array" && p.hasEquals(a)
			})
			want := p.all(p.collection.path(), "sort="+a.Name+",-id")
			got := p.all(p.collection.path(), "sort="+a.Name+"&sort=-id")
			if !slices.EqualFunc(got, want, func(x, y resource) bool { return x.id() == y.id() }) {
				p.fail(p.list("sort="+a.Name+"&sort=-id"), "the order of sort="+a.Name+",-id", "another one")
			}
		},
	},
	{
		ID: "sort.unknown-field", Title: "sort by a field that does not exist", Source: ourSorting,
		Rule: "An unknown sort field, or an empty sort, is 400.",
		run: func(p *probe) {
			for _, query := range []string{"sort=conform_unknown", "sort=", "sort=id,"} {
				p.status(p.list(query), 400)
			}
		},
	},
}

// downwards is the positions in the descending order of ids. read.order checks that the collection
// is in ascending order.
func (p *probe) downwards() []int {
	positions := span(0, len(p.reference))
	slices.SortFunc(positions, func(a, b int) int { return strings.Compare(p.reference[b].id(), p.reference[a].id()) })
	return positions
}

// sortable is an attribute whose values are not already in this order: otherwise a sort without
// effect would not be noticed.
func (p *probe) sortable(direction int) attribute {
	return p.attribute("string, number or boolean attribute whose values are not sorted by themselves", func(a attribute) bool {
		return (ordered(a) || a.Type == "boolean") && !slices.IsSortedFunc(values(a, p.reference), order(a, direction))
	})
}

func (p *probe) hasEquals(a attribute) bool {
	seen := map[string]bool{}
	for _, each := range p.reference {
		value := encodeJSON(each.members[a.Name])
		if seen[value] && each.has(a.Name) {
			return true
		}
		seen[value] = true
	}
	return false
}

func (p *probe) sorted(a attribute, query string, direction int) {
	got := values(a, p.all(p.collection.path(), query))
	if !slices.IsSortedFunc(got, order(a, direction)) {
		p.fail(p.list(query), map[int]string{1: "ascending", -1: "descending"}[direction]+" values of "+a.Name, "%s", shorten(encodeJSON(got)))
	}
}

// values are those that are not null: sort.null checks null.
func values(a attribute, resources []resource) []any {
	var values []any
	for _, each := range resources {
		if value := each.members[a.Name]; !isNull(value) {
			values = append(values, value)
		}
	}
	return values
}

func order(a attribute, direction int) func(x, y any) int {
	return func(x, y any) int {
		if a.Type == "boolean" {
			x, y = number(isTrue(x)), number(isTrue(y))
		}
		return direction * compare(x, y)
	}
}

func number(b bool) json.Number {
	if b {
		return "1"
	}
	return "0"
}
