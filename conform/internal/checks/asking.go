package checks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/conform/internal/suite"
)

// relatedFilterChecks are about filters and sorts that look at related resources.
var relatedFilterChecks = []suite.Check{
	{
		ID: "sort.related", Title: "sort by a field of a related resource", Source: suite.OurSorting, Writes: true, Synchronous: ofReads,
		Rule: "sort=reference.field sorts by a field of the resource that is referred to.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			name := p.RelationToParent(f)
			first, second := f.Children, f.SecondChildren
			if f.First > f.Second {
				first, second = second, first
			}
			p.Lists(f.Child.Path()+"?sort="+name+".id&"+among(name+".id", f.First, f.Second), slices.Concat(first, second))
			p.Lists(f.Child.Path()+"?sort=-"+name+".id&"+among(name+".id", f.First, f.Second), slices.Concat(second, first))
		},
	},
	{
		ID: "sort.count", Title: "sort by the number of related resources", Source: suite.OurSorting, Writes: true, Synchronous: ofReads,
		Rule: "sort=count.relation sorts by the number of related resources.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			count := countable(p, f)
			p.Lists(f.Parent.Path()+"?sort="+count+"&"+among("id", f.First, f.Second), []string{f.Second, f.First})
			p.Lists(f.Parent.Path()+"?sort=-"+count+"&"+among("id", f.First, f.Second), []string{f.First, f.Second})
		},
	},
	{
		ID: "filter.count", Title: "filter[count.relation]", Source: suite.OurFilters, Writes: true, Synchronous: ofReads,
		Rule: "filter[count.relation] compares the number of related resources.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			path := f.Parent.Path() + "?" + among("id", f.First, f.Second) + "&filter[" + countable(p, f) + "]"
			p.Lists(path+"[gte]=2", []string{f.First})
			p.Lists(path+"[lt]=2", []string{f.Second})
			p.Lists(path+"=3", []string{f.First})
		},
	},
	{
		ID: "filter.some", Title: "filter[some][0][relation.field]", Source: suite.OurFilters, Writes: true, Synchronous: ofReads,
		Rule: "One related resource must fulfil all conditions of filter[some] with the same number; each number can be about another one.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			field := "][" + p.RelationToChildren(f) + ".id]="
			path := f.Parent.Path() + "?filter[some][0" + field + f.Children[0]
			p.Lists(path, []string{f.First})
			p.Lists(path+"&filter[some][0]["+p.RelationToChildren(f)+".id][gt]="+f.Children[0], []string{})
			p.Lists(path+"&filter[some][1"+field+f.Children[1], []string{f.First})
		},
	},
	{
		ID: "filter.none", Title: "filter[none][0][relation.field]", Source: suite.OurFilters, Writes: true, Synchronous: ofReads,
		Rule: "No related resource may fulfil all conditions of filter[none] with the same number.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			p.Lists(f.Parent.Path()+"?"+among("id", f.First, f.Second)+"&filter[none][0]["+p.RelationToChildren(f)+".id]="+f.Children[0], []string{f.Second})
		},
	},
	{
		ID: "filter.exists", Title: "filter[relation][exists]", Source: suite.OurFilters, Writes: true, Synchronous: ofReads,
		Rule: "[exists]=true selects the resources that have a related one, and =false the others, for relations of either kind.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			alone := p.NewParent(f)
			path := f.Parent.Path() + "?" + among("id", f.First, alone) + "&filter[" + p.RelationToChildren(f) + "][exists]="
			p.Lists(path+"true", []string{f.First})
			p.Lists(path+"false", []string{alone})
			p.Lists(f.Child.Path()+"?filter[id]="+f.Children[0]+"&filter["+p.RelationToParent(f)+"][exists]=true", f.Children[:1])
			p.Lists(f.Child.Path()+"?filter[id]="+f.Children[0]+"&filter["+p.RelationToParent(f)+"][exists]=false", []string{})
		},
	},
	{
		ID: "filter.null-many", Title: "null through a relation to several resources", Source: suite.OurFilters, Writes: true, Synchronous: ofReads,
		Rule: "[null]=true through a relation to several resources is 400, as it has no clear meaning.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			p.Status(p.Get(f.Parent.Path()+"?filter["+p.RelationToChildren(f)+".id][null]=true"), 400)
		},
	},
	{
		ID: "groups.related", Title: "groups by a field of a related resource", Source: suite.OurGroups, Writes: true, Synchronous: ofReads,
		Rule: "by=reference.field groups by a field of the resource that is referred to.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			key := p.RelationToParent(f) + ".id"
			r := p.OK(p.Get("/-/groups" + f.Child.Path() + "?by=" + key + "&" + among(key, f.First, f.Second)))
			hasCounts(p, r, key, map[string]int{suite.EncodeJSON(f.First): 3, suite.EncodeJSON(f.Second): 1})
		},
	},
	{
		ID: "groups.include", Title: "groups with what they are about", Source: suite.OurGroups, Writes: true, Synchronous: ofReads,
		Rule: "include of a reference that groups are by embeds the resource in each group.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			name := p.RelationToParent(f)
			parent := p.OK(p.Get(f.Parent.PathOf(f.First))).Resource()
			r := p.OK(p.Get("/-/groups" + f.Child.Path() + "?by=" + f.Attribute + "&include=" + name + "&filter[" + name + ".id]=" + f.First))
			for _, group := range r.Resources() {
				p.FailIf(!suite.EqualJSON(group.Members[name], any(parent.Members)), r, name+" as "+suite.EncodeJSON(parent.Members), "%s", suite.EncodeJSON(group.Members[name]))
			}
			p.FailIf(len(r.Resources()) != 1, r, "one group", "%d", len(r.Resources()))
		},
	},
}

// among is a filter by several values.
func among(field string, values ...string) string {
	return "filter[" + field + "][in]=" + strings.Join(values, ",")
}

// countable is the number of the children of a parent, as filters and sorts name it.
func countable(p *suite.Probe, f suite.Parents) string {
	isCount := func(name string) bool { return name == "count" }
	for _, a := range f.Parent.Attributes {
		p.SkipIf(isCount(a.Name), "%s has an attribute named count", f.Parent.Name)
	}
	for _, relation := range f.Parent.Relations {
		p.SkipIf(isCount(relation.Name), "%s has a relation named count", f.Parent.Name)
	}
	return "count." + p.RelationToChildren(f)
}

// hasCounts fails unless groups by a key have these numbers of resources, by the JSON of their values.
func hasCounts(p *suite.Probe, r *suite.Reply, key string, want map[string]int) {
	got := map[string]int{}
	for _, each := range r.Resources() {
		got[suite.EncodeJSON(inside(each.Members["by"], key))] += wholeNumber(each.Members["count"])
	}
	p.FailIf(suite.EncodeJSON(got) != suite.EncodeJSON(want), r, suite.EncodeJSON(want), "%s", suite.EncodeJSON(got))
}

// askingChecks are about further filters of fields, and about groups.
var askingChecks = []suite.Check{
	{
		ID: "filter.search", Title: "filter[field][search]", Source: suite.OurFilters,
		Rule: "[search] of a searched attribute selects the resources in which each word begins a word of it, in any case.",
		Run: func(p *suite.Probe) {
			for _, name := range p.Collection.Search {
				of := func(each suite.Resource) []string { return p.WordsOf(each, name) }
				for _, each := range p.Reference {
					for _, word := range of(each) {
						found := func(each suite.Resource) bool {
							return slices.ContainsFunc(of(each), func(other string) bool { return strings.HasPrefix(other, word[:len(word)-1]) })
						}
						if len(word) > 2 && len(p.Where(found)) < len(p.Reference) {
							p.Selects("filter["+name+"][search]="+strings.ToUpper(word[:len(word)-1]), found)
							return
						}
					}
				}
			}
			p.Skip("no searched attribute has a word in some of the resources and not in others")
		},
	},
	{
		ID: "filter.enum", Title: "a value that an enum does not have", Source: suite.OurFilters,
		Rule: "A filter by a value that the enum of an attribute does not have is 400.",
		Run: func(p *suite.Probe) {
			a := p.Attribute("string with an enum", func(a suite.Attribute) bool { return a.Type == "string" && len(a.Enum) > 0 && suite.Ordered(a) })
			for _, op := range []string{"", "[ne]", "[in]", "[not_in]"} {
				p.Status(p.List("filter["+a.Name+"]"+op+"=conform_unknown"), 400)
			}
		},
	},
	{
		ID: "groups.sort", Title: "groups sorted by a value", Source: suite.OurGroups, Needs: 2,
		Rule: "sort=-count sorts groups by their number of resources, and sort=-distinct.field by a value that is asked for.",
		Run: func(p *suite.Probe) {
			a := groupable(p)
			for _, key := range []string{"count", "distinct.id"} {
				for sign, direction := range map[string]int{"": 1, "-": -1} {
					r := p.Groups("by=" + a.Name + "&distinct=id&sort=" + sign + key + "&limit=100000")
					previous := 0
					for i, each := range r.Resources() {
						count := wholeNumber(each.Members["count"])
						p.FailIf(i > 0 && (count-previous)*direction < 0, r, "groups in the order of "+sign+key, "%d after %d", count, previous)
						previous = count
					}
				}
			}
		},
	},
	{
		ID: "groups.distinct", Title: "distinct", Source: suite.OurGroups,
		Rule: "distinct=field counts different values; null does not count.",
		Run: func(p *suite.Probe) {
			a := groupable(p)
			different := map[string]bool{}
			for _, each := range p.Reference {
				if value := each.Members[a.Name]; !suite.IsNull(value) {
					different[suite.EncodeJSON(value)] = true
				}
			}
			r := p.Groups("distinct=" + a.Name)
			got := wholeNumber(inside(r.Resource().Members["distinct"], a.Name))
			p.FailIf(got != len(different), r, fmt.Sprint(len(different)), "%d", got)
		},
	},
	{
		ID: "groups.having", Title: "having", Source: suite.OurGroups,
		Rule: "having[count] keeps the groups whose number of resources compares so, and having[distinct.field] those with such a value.",
		Run: func(p *suite.Probe) {
			a := groupable(p)
			counts, least := map[string]int{}, 0
			for _, each := range p.Reference {
				counts[suite.EncodeJSON(each.Members[a.Name])]++
			}
			for _, count := range counts {
				least = max(least, count)
			}
			p.SkipIf(len(counts) < 2, "%s has one value", a.Name)
			want := map[string]int{}
			for value, count := range counts {
				if count >= least {
					want[value] = count
				}
			}
			for _, name := range []string{"count", "distinct.id"} {
				hasCounts(p, p.Groups(fmt.Sprintf("by=%s&distinct=id&having[%s][gte]=%d&limit=100000", a.Name, name, least)), a.Name, want)
			}
		},
	},
	{
		ID: "groups.units", Title: "groups by week and quarter", Source: suite.OurGroups,
		Rule: "by=field:week groups by the Monday of the week, and by=field:quarter by the first day of the quarter, in UTC.",
		Run: func(p *suite.Probe) {
			p.HasTimestamps()
			for unit, first := range map[string]func(time.Time) time.Time{
				"week": func(at time.Time) time.Time { return at.AddDate(0, 0, -(int(at.Weekday())+6)%7) },
				"quarter": func(at time.Time) time.Time {
					return time.Date(at.Year(), at.Month()-(at.Month()-1)%3, 1, 0, 0, 0, 0, time.UTC)
				},
			} {
				want := map[string]int{}
				for _, each := range p.Reference {
					at, err := time.Parse(time.RFC3339, each.Text("created_at"))
					p.SkipIf(err != nil, "created_at is no date-time")
					want[suite.EncodeJSON(first(at.UTC()).Format("2006-01-02")+"T00:00:00.000Z")]++
				}
				key := "created_at:" + unit
				hasCounts(p, p.Groups("by="+key+"&limit=100000"), key, want)
			}
		},
	},
	{
		ID: "groups.rank-refused", Title: "groups by values that are not asked for", Source: suite.OurGroups,
		Rule: "sort and having by a value that is not asked for are 400.",
		Run: func(p *suite.Probe) {
			for _, query := range []string{"sort=-distinct.id", "having[distinct.id][gte]=1", "having[conform_unknown]=1", "sort=conform_unknown"} {
				p.Status(p.Get("/-/groups"+p.Collection.Path()+"?"+query), 400)
			}
		},
	},
}

// groupable is an attribute to group by, if possible with few values.
func groupable(p *suite.Probe) suite.Attribute {
	if a, found := p.Collection.Find(func(a suite.Attribute) bool { return a.Type == "boolean" || len(a.Enum) > 0 && suite.Ordered(a) }); found {
		return a
	}
	return p.Attribute("attribute to group by", suite.Ordered)
}
