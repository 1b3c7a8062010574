package checks

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

var filterMoreChecks = []suite.Check{
	{
		ID: "filter.groups", Title: "filter[any][0][field]", Source: suite.OurFilters,
		Rule: "Of filters filter[any][number][field], all of one number must match, for at least one number.",
		Run: func(p *suite.Probe) {
			a, first, second := p.TwoValues()
			at := p.Where(suite.AnyOf(a, first))[0]
			query := fmt.Sprintf("filter[any][0][%[1]s]=%[2]s&filter[any][0][id]=%[4]s&filter[any][1][%[1]s]=%[3]s", a.Name, escaped(first), escaped(second), p.Reference[at].ID())
			isSecond := suite.AnyOf(a, second)
			p.Selects(query, func(each suite.Resource) bool { return each.ID() == p.Reference[at].ID() || isSecond(each) })
		},
	},
	{
		ID: "filter.inside", Title: "filter[object.property]", Source: suite.OurFilters,
		Rule: "filter[object.property] filters by a declared property of an object.",
		Run: func(p *suite.Probe) {
			name, property, value := p.Divide(func(a suite.Attribute) (names []string) {
				for name, d := range a.Properties {
					if a.Type == "object" && (d.Type == "string" && d.Format == "" || d.Type == "integer") {
						names = append(names, name)
					}
				}
				slices.Sort(names)
				return names
			}, inside)
			p.Selects("filter["+name+"."+property+"]="+escaped(value), func(each suite.Resource) bool { return suite.EqualJSON(inside(each.Members[name], property), value) })
		},
	},
	{
		ID: "filter.has", Title: "filter[array][has]", Source: suite.OurFilters,
		Rule: "[has]=v selects the resources in which an array of scalars has an item.",
		Run: func(p *suite.Probe) {
			name, _, value := p.Divide(func(a suite.Attribute) []string {
				if a.Type == "array" && a.Items != nil && (a.Items.Type == "string" && a.Items.Format == "" || a.Items.Type == "integer") {
					return []string{""}
				}
				return nil
			}, func(array any, _ string) any {
				if items, _ := array.([]any); len(items) > 0 {
					return items[0]
				}
				return nil
			})
			p.Selects("filter["+name+"][has]="+escaped(value), func(each suite.Resource) bool {
				items, _ := each.Members[name].([]any)
				return slices.ContainsFunc(items, func(item any) bool { return suite.EqualJSON(item, value) })
			})
		},
	},
}

// inside is a property of an object.
func inside(object any, property string) any {
	members, _ := object.(map[string]any)
	return members[property]
}

var searchChecks = []suite.Check{
	{
		ID: "search.words", Title: "search", Source: suite.OurSearch,
		Rule: "search selects the resources in which each word begins a word of a searched attribute, in any case.",
		Run: func(p *suite.Probe) {
			p.SkipIf(len(p.Collection.Search) == 0, "GET / lists no attributes that are searched")
			found := func(prefix string) func(suite.Resource) bool {
				return func(each suite.Resource) bool {
					return slices.ContainsFunc(p.Words(each), func(word string) bool { return strings.HasPrefix(word, prefix) })
				}
			}
			for _, each := range p.Reference {
				for _, word := range p.Words(each) {
					if count := len(p.Where(found(word))); len(word) > 2 && count < len(p.Reference) {
						p.Selects("search="+strings.ToUpper(word[:len(word)-1]), found(word[:len(word)-1]))
						p.Selects("search="+word+"+"+word, found(word))
						return
					}
				}
			}
			p.Skip("no word is in some of the resources and not in others")
		},
	},
	{
		ID: "search.refused", Title: "a search that cannot be done", Source: suite.OurSearch,
		Rule: "search is 400 without a word, and in a collection that is not searched.",
		Run: func(p *suite.Probe) {
			p.SkipIf(!p.Collection.Described, "the server does not describe the collection at GET /")
			word := "conform"
			if len(p.Collection.Search) > 0 {
				word = "+"
			}
			p.Status(p.List("search="+word), 400)
		},
	},
}

var groupChecks = []suite.Check{
	{
		ID: "groups.count", Title: "groups by an attribute", Source: suite.OurGroups,
		Rule: "GET /-/groups/<collection>?by=field counts the resources of each value, null included.",
		Run: func(p *suite.Probe) {
			a := groupable(p)
			want := map[string]int{}
			for _, each := range p.Reference {
				want[suite.EncodeJSON(each.Members[a.Name])]++
			}
			hasCounts(p, p.Groups("by="+a.Name+"&limit=100000"), a.Name, want)
		},
	},
	{
		ID: "groups.all", Title: "one group without by", Source: suite.OurGroups, Needs: 2,
		Rule: "Without by there is one group, whose by is {}; filters restrict what is counted.",
		Run: func(p *suite.Probe) {
			for query, want := range map[string]int{"": len(p.Reference), "filter[id]=" + p.Reference[1].ID(): 1} {
				r := p.Groups(query)
				all := r.Resources()
				if len(all) != 1 || suite.EncodeJSON(all[0].Members["by"]) != "{}" || wholeNumber(all[0].Members["count"]) != want {
					p.Fail(r, fmt.Sprintf("one group with by {} and count %d", want), "%s", r.Summary())
				}
			}
		},
	},
	{
		ID: "groups.values", Title: "sum, min and max of groups", Source: suite.OurGroups,
		Rule: "sum, min and max of integers are exact; null does not count.",
		Run: func(p *suite.Probe) {
			a := p.Attribute("integer with values", func(a suite.Attribute) bool {
				return a.Type == "integer" && len(p.Where(func(each suite.Resource) bool { return !suite.IsNull(each.Members[a.Name]) })) > 1
			})
			sum, low, high := new(big.Int), (*big.Int)(nil), (*big.Int)(nil)
			for _, each := range p.Reference {
				text, _ := each.Members[a.Name].(json.Number)
				value, ok := new(big.Int).SetString(text.String(), 10)
				if !ok {
					continue
				}
				sum.Add(sum, value)
				if low == nil || value.Cmp(low) < 0 {
					low = value
				}
				if high == nil || value.Cmp(high) > 0 {
					high = value
				}
			}
			p.SkipIf(!sum.IsInt64(), "the sum of %s does not fit into 64 bits", a.Name)
			r := p.Groups(fmt.Sprintf("sum=%[1]s&min=%[1]s&max=%[1]s", a.Name))
			for operation, want := range map[string]*big.Int{"sum": sum, "min": low, "max": high} {
				got := inside(r.Resource().Members[operation], a.Name)
				p.FailIf(!suite.EqualJSON(got, json.Number(want.String())), r, fmt.Sprintf("%s of %s is %s", operation, a.Name, want), "%s", suite.EncodeJSON(got))
			}
		},
	},
	{
		ID: "groups.refused", Title: "groups that cannot be made", Source: suite.OurGroups,
		Rule: "by with a field that does not exist, and cursor, are 400.",
		Run: func(p *suite.Probe) {
			for _, query := range []string{"by=conform_unknown", "cursor=" + suite.NewUUID()} {
				p.Status(p.Get("/-/groups"+p.Collection.Path()+"?"+query), 400)
			}
		},
	},
}

// wholeNumber is a small whole number, -1 if the value is none.
func wholeNumber(value any) int {
	text, isNumber := value.(json.Number)
	whole, err := text.Int64()
	if !isNumber || err != nil {
		return -1
	}
	return int(whole)
}
