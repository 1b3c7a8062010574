package checks

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

var filterChecks = []suite.Check{
	{
		ID: "filter.restricts", Title: "a filter restricts", Source: suite.ConventionParameters,
		Rule: "filter[<field>] restricts the collection, for example to the active users.",
		Run: func(p *suite.Probe) {
			a := p.Divided("boolean attribute that is true for some and not for others", func(a suite.Attribute) bool { return a.Type == "boolean" }, suite.IsTrue)
			got := p.Filtered("filter[" + a.Name + "]=true")
			if len(got) == 0 || len(got) >= len(p.Reference) || slices.Contains(got, -1) {
				p.Fail(p.List("filter["+a.Name+"]=true"), fmt.Sprintf("some of the %d resources of the collection", len(p.Reference)), "%s", suite.Describe(got))
			}
		},
	},
	{
		ID: "filter.equals", Title: "filter[field]=value", Source: suite.OurFilters,
		Rule: "filter[field]=v selects the resources whose field equals v.",
		Run: func(p *suite.Probe) {
			a, value := p.Valued("string or number", suite.Ordered)
			p.Selects("filter["+a.Name+"]="+escaped(value), func(each suite.Resource) bool { return suite.EqualJSON(each.Members[a.Name], value) })
		},
	},
	{
		ID: "filter.boolean", Title: "filter[boolean]=false", Source: suite.OurFilters,
		Rule: "filter[field]=false selects the resources in which a boolean is false.",
		Run: func(p *suite.Probe) {
			a := p.Divided("boolean attribute that is false for some", func(a suite.Attribute) bool { return a.Type == "boolean" }, isFalse)
			p.Selects("filter["+a.Name+"]=false", func(each suite.Resource) bool { return isFalse(each.Members[a.Name]) })
		},
	},
	{
		ID: "filter.any-of", Title: "filter[field] given more than once", Source: suite.OurFilters,
		Rule: "filter[field] given more than once selects any of the values.",
		Run: func(p *suite.Probe) {
			a, first, second := p.TwoValues()
			p.Selects(fmt.Sprintf("filter[%s]=%s&filter[%s]=%s", a.Name, escaped(first), a.Name, escaped(second)), suite.AnyOf(a, first, second))
		},
	},
	{
		ID: "filter.all-hold", Title: "several filters", Source: suite.OurFilters, Needs: 4,
		Rule: "All given filters must match.",
		Run: func(p *suite.Probe) {
			first, last := p.Reference[1].ID(), p.Reference[len(p.Reference)-2].ID()
			p.Selects("filter[id][gte]="+first+"&filter[id][lte]="+last, func(each suite.Resource) bool { return each.ID() >= first && each.ID() <= last })
		},
	},
	{
		ID: "filter.bare-boolean", Title: "filter[boolean] without a value", Source: suite.OurFilters,
		Rule: "filter[field] without = selects the resources in which a boolean is true; so does an empty value.",
		Run: func(p *suite.Probe) {
			a := p.Divided("boolean attribute that is true for some and not for others", func(a suite.Attribute) bool { return a.Type == "boolean" }, suite.IsTrue)
			for _, query := range []string{"filter[" + a.Name + "]", "filter[" + a.Name + "]="} {
				p.Selects(query, func(each suite.Resource) bool { return suite.IsTrue(each.Members[a.Name]) })
			}
		},
	},
	{
		ID: "filter.bare", Title: "filter[field] without a value", Source: suite.OurFilters,
		Rule: "filter[field] without = selects the resources in which a field that is not a boolean is not null.",
		Run: func(p *suite.Probe) {
			a := p.Divided("attribute that is null for some and is no boolean", func(a suite.Attribute) bool { return a.Type != "boolean" }, suite.IsNull)
			p.Selects("filter["+a.Name+"]", func(each suite.Resource) bool { return !suite.IsNull(each.Members[a.Name]) })
		},
	},
	{
		ID: "filter.null", Title: "filter[field][null]", Source: suite.OurFilters,
		Rule: "[null]=true selects the resources in which a field is null, and =false the others.",
		Run: func(p *suite.Probe) {
			a := p.Divided("attribute that is null for some", func(suite.Attribute) bool { return true }, suite.IsNull)
			p.Selects("filter["+a.Name+"][null]=true", func(each suite.Resource) bool { return suite.IsNull(each.Members[a.Name]) })
			p.Selects("filter["+a.Name+"][null]=false", func(each suite.Resource) bool { return !suite.IsNull(each.Members[a.Name]) })
		},
	},
	{
		ID: "filter.not-equal", Title: "filter[field][ne]", Source: suite.OurFilters,
		Rule: "[ne]=v selects the resources whose field does not equal v, including null.",
		Run: func(p *suite.Probe) {
			a, value := p.Valued("string or number", suite.Ordered)
			p.Selects("filter["+a.Name+"][ne]="+escaped(value), func(each suite.Resource) bool { return !suite.EqualJSON(each.Members[a.Name], value) })
		},
	},
	{
		ID: "filter.in", Title: "filter[field][in]", Source: suite.OurFilters,
		Rule: "[in]=a,b selects the resources whose field is one of the values.",
		Run: func(p *suite.Probe) {
			a, first, second := p.TwoValues()
			p.Selects(fmt.Sprintf("filter[%s][in]=%s,%s", a.Name, escaped(first), escaped(second)), suite.AnyOf(a, first, second))
		},
	},
	{
		ID: "filter.not-in", Title: "filter[field][not_in]", Source: suite.OurFilters,
		Rule: "[not_in]=a,b selects the resources whose field is none of the values, including null.",
		Run: func(p *suite.Probe) {
			a, first, second := p.TwoValues()
			isOne := suite.AnyOf(a, first, second)
			p.Selects(fmt.Sprintf("filter[%s][not_in]=%s,%s", a.Name, escaped(first), escaped(second)), func(each suite.Resource) bool { return !isOne(each) })
		},
	},
	{
		ID: "filter.list-repeated", Title: "filter[field][in] and [not_in] given more than once", Source: suite.OurFilters,
		Rule: "[in] and [not_in] can be repeated: all their values count.",
		Run: func(p *suite.Probe) {
			a, first, second := p.TwoValues()
			isOne := suite.AnyOf(a, first, second)
			p.Selects(fmt.Sprintf("filter[%[1]s][in]=%[2]s&filter[%[1]s][in]=%[3]s", a.Name, escaped(first), escaped(second)), isOne)
			p.Selects(fmt.Sprintf("filter[%[1]s][not_in]=%[2]s&filter[%[1]s][not_in]=%[3]s", a.Name, escaped(first), escaped(second)), func(each suite.Resource) bool { return !isOne(each) })
		},
	},
	{
		ID: "filter.compare", Title: "filter[field][lt], [lte], [gt], [gte]", Source: suite.OurFilters,
		Rule: "[lt], [lte], [gt] and [gte] compare, strings by code point; a comparison with null is false.",
		Run: func(p *suite.Probe) {
			a, value := p.Valued("string or number", suite.Ordered)
			for op, holds := range map[string]func(int) bool{
				"lt": func(c int) bool { return c < 0 }, "lte": func(c int) bool { return c <= 0 },
				"gt": func(c int) bool { return c > 0 }, "gte": func(c int) bool { return c >= 0 },
			} {
				p.Selects("filter["+a.Name+"]["+op+"]="+escaped(value), func(each suite.Resource) bool {
					got := each.Members[a.Name]
					return !suite.IsNull(got) && holds(suite.Compare(got, value))
				})
			}
		},
	},
	{
		ID: "filter.text", Title: "filter[field][contains], [starts_with]", Source: suite.OurFilters,
		Rule: "[contains] and [starts_with] search in strings, case-sensitively.",
		Run: func(p *suite.Probe) {
			a, value := p.Valued("string without a format", suite.Attribute.Plain)
			given, _ := value.(string)
			text := []rune(given)
			p.SkipIf(len(text) < 2, "the strings of %s are too short", a.Name)
			start, end := string(text[:len(text)-1]), string(text[1:])
			p.Selects("filter["+a.Name+"][starts_with]="+escaped(start), func(each suite.Resource) bool { return strings.HasPrefix(each.Text(a.Name), start) })
			p.Selects("filter["+a.Name+"][contains]="+escaped(end), func(each suite.Resource) bool { return strings.Contains(each.Text(a.Name), end) })
		},
	},
	{
		ID: "filter.id", Title: "filter[id]", Source: suite.OurFilters, Needs: 4,
		Rule: "Filters work on id.",
		Run: func(p *suite.Probe) {
			want := p.Reference[3].ID()
			p.Selects("filter[id]="+want, func(each suite.Resource) bool { return each.ID() == want })
		},
	},
	{
		ID: "filter.unknown-field", Title: "a filter for a field that does not exist", Source: suite.OurFilters,
		Rule: "A filter for a field that does not exist is 400.",
		Run:  refused("filter[conform_unknown]=1"),
	},
	{
		ID: "filter.unknown-operator", Title: "an operator that does not exist", Source: suite.OurFilters,
		Rule: "A filter with an operator that does not exist is 400.",
		Run:  refused("filter[id][conform]=1"),
	},
	{
		ID: "filter.wrong-value", Title: "a value of the wrong type", Source: suite.OurFilters,
		Rule: "Values are parsed by the type of the field; a wrong one is 400.",
		Run:  refused("filter[id]=conform"),
	},
}

func isFalse(value any) bool { return value == false }

// escaped is a value as it is written in a query.
func escaped(value any) string { return url.QueryEscape(fmt.Sprint(value)) }
