package checks

import (
	"slices"

	"github.com/plural-go/plural/conform/internal/suite"
)

var sortChecks = []suite.Check{
	{
		ID: "sort.ascending", Title: "sort=field", Source: suite.OurSorting,
		Rule: "sort=field sorts by that field in ascending order, strings by code point.",
		Run:  func(p *suite.Probe) { a := p.Sortable(1); p.Sorted(a, "sort="+a.Name, 1) },
	},
	{
		ID: "sort.descending", Title: "sort=-field", Source: suite.OurSorting,
		Rule: "A minus before the field sorts in descending order.",
		Run:  func(p *suite.Probe) { a := p.Sortable(-1); p.Sorted(a, "sort=-"+a.Name, -1) },
	},
	{
		ID: "sort.ties", Title: "order of equals", Source: suite.OurSorting,
		Rule: "Resources that are equal in the sort fields are ordered by id, in both directions.",
		Run: func(p *suite.Probe) {
			a := p.Repeated()
			for _, query := range []string{"sort=" + a.Name, "sort=-" + a.Name} {
				all := p.All(query)
				// Other checks test the order of the keys.
				for i := 1; i < len(all); i++ {
					if suite.EqualJSON(all[i-1].Members[a.Name], all[i].Members[a.Name]) && all[i-1].ID() >= all[i].ID() {
						p.Fail(p.List(query), "ascending ids where "+a.Name+" is equal", "%s before %s", all[i-1].ID(), all[i].ID())
					}
				}
			}
		},
	},
	{
		ID: "sort.null", Title: "place of null", Source: suite.OurSorting,
		Rule: "Null is smallest: first in ascending, last in descending order.",
		Run: func(p *suite.Probe) {
			a := p.Divided("attribute that is null for some", func(a suite.Attribute) bool { return a.Type != "object" && a.Type != "array" }, suite.IsNull)
			count := len(p.Where(func(each suite.Resource) bool { return suite.IsNull(each.Members[a.Name]) }))
			for query, nullsFirst := range map[string]bool{"sort=" + a.Name: true, "sort=-" + a.Name: false} {
				all := p.All(query)
				for i, each := range all {
					want, place := i < count, "first"
					if !nullsFirst {
						want, place = i >= len(all)-count, "last"
					}
					if got := each.Members[a.Name]; suite.IsNull(got) != want {
						p.Fail(p.List(query), "the resources without "+a.Name+" "+place, "as number %d of %d one with %s", i+1, len(all), suite.EncodeJSON(got))
					}
				}
			}
		},
	},
	{
		ID: "sort.range", Title: "a range of a sorted collection", Source: suite.OurSorting, Needs: 12,
		Rule: "Offset and limit count in the sorted order.",
		Run: func(p *suite.Probe) {
			r := p.List("sort=-id&offset=2&limit=3")
			p.Positions(r, p.Downwards()[2:5])
		},
	},
	{
		ID: "sort.cursor", Title: "a cursor in a sorted collection", Source: suite.OurSorting, Needs: 12,
		Rule: "A cursor starts at its resource in the sorted order too.",
		Run: func(p *suite.Probe) {
			down := p.Downwards()
			r := p.List("sort=-id&cursor=" + p.Reference[down[5]].ID() + "&limit=3")
			p.Positions(r, down[5:8])
		},
	},
	{
		ID: "sort.repeated", Title: "sort given more than once", Source: suite.OurSorting,
		Rule: "sort can be repeated: resources that are equal in the first are sorted by the next.",
		Run: func(p *suite.Probe) {
			a := p.Repeated()
			want := p.All("sort=" + a.Name + ",-id")
			got := p.All("sort=" + a.Name + "&sort=-id")
			if !slices.EqualFunc(got, want, func(x, y suite.Resource) bool { return x.ID() == y.ID() }) {
				p.Fail(p.List("sort="+a.Name+"&sort=-id"), "the order of sort="+a.Name+",-id", "another one")
			}
		},
	},
	{
		ID: "sort.unknown-field", Title: "sort by a field that does not exist", Source: suite.OurSorting,
		Rule: "An unknown sort field, or an empty sort, is 400.",
		Run:  refused("sort=conform_unknown", "sort=", "sort=id,"),
	},
}
