package conform

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

var filterChecks = []Check{
	{
		ID: "filter.restricts", Title: "a filter restricts", Source: seedParameters,
		Rule: "filter[<field>] restricts the collection, for example to the active users.",
		run: func(p *probe) {
			a := p.divided("boolean attribute that is true for some and not for others", func(a attribute) bool { return a.Type == "boolean" }, isTrue)
			got := p.filtered("filter[" + a.Name + "]=true")
			if len(got) == 0 || len(got) >= len(p.reference) || slices.Contains(got, -1) {
				p.fail(p.list("filter["+a.Name+"]=true"), fmt.Sprintf("some of the %d resources of the collection", len(p.reference)), "%s", describe(got))
			}
		},
	},
	{
		ID: "filter.equals", Title: "filter[field]=value", Source: ourFilters,
		Rule: "filter[field]=v selects the resources whose field equals v.",
		run: func(p *probe) {
			a, value := p.valued("string or number", ordered)
			p.selects("filter["+a.Name+"]="+escaped(value), func(each resource) bool { return equalJSON(each.members[a.Name], value) })
		},
	},
	{
		ID: "filter.boolean", Title: "filter[boolean]=false", Source: ourFilters,
		Rule: "filter[field]=false selects the resources in which a boolean is false.",
		run: func(p *probe) {
			a := p.divided("boolean attribute that is false for some", func(a attribute) bool { return a.Type == "boolean" }, isFalse)
			p.selects("filter["+a.Name+"]=false", func(each resource) bool { return isFalse(each.members[a.Name]) })
		},
	},
	{
		ID: "filter.any-of", Title: "filter[field] given more than once", Source: ourFilters,
		Rule: "filter[field] given more than once selects any of the values.",
		run: func(p *probe) {
			a, first, second := p.twoValues()
			p.selects(fmt.Sprintf("filter[%s]=%s&filter[%s]=%s", a.Name, escaped(first), a.Name, escaped(second)), anyOf(a, first, second))
		},
	},
	{
		ID: "filter.all-hold", Title: "several filters", Source: ourFilters,
		Rule: "All given filters must match.",
		run: func(p *probe) {
			p.need(4)
			first, last := p.reference[1].id(), p.reference[len(p.reference)-2].id()
			p.selects("filter[id][gte]="+first+"&filter[id][lte]="+last, func(each resource) bool { return each.id() >= first && each.id() <= last })
		},
	},
	{
		ID: "filter.bare-boolean", Title: "filter[boolean] without a value", Source: ourFilters,
		Rule: "filter[field] without = selects the resources in which a boolean is true; so does an empty value.",
		run: func(p *probe) {
			a := p.divided("boolean attribute that is true for some and not for others", func(a attribute) bool { return a.Type == "boolean" }, isTrue)
			for _, query := range []string{"filter[" + a.Name + "]", "filter[" + a.Name + "]="} {
				p.selects(query, func(each resource) bool { return isTrue(each.members[a.Name]) })
			}
		},
	},
	{
		ID: "filter.bare", Title: "filter[field] without a value", Source: ourFilters,
		Rule: "filter[field] without = selects the resources in which a field that is not a boolean is not null.",
		run: func(p *probe) {
			a := p.divided("attribute that is null for some and is no boolean", func(a attribute) bool { return a.Type != "boolean" }, isNull)
			p.selects("filter["+a.Name+"]", func(each resource) bool { return !isNull(each.members[a.Name]) })
		},
	},
	{
		ID: "filter.null", Title: "filter[field][null]", Source: ourFilters,
		Rule: "[null]=true selects the resources in which a field is null, and =false the others.",
		run: func(p *probe) {
			a := p.divided("attribute that is null for some", func(attribute) bool { return true }, isNull)
			p.selects("filter["+a.Name+"][null]=true", func(each resource) bool { return isNull(each.members[a.Name]) })
			p.selects("filter["+a.Name+"][null]=false", func(each resource) bool { return !isNull(each.members[a.Name]) })
		},
	},
	{
		ID: "filter.not-equal", Title: "filter[field][ne]", Source: ourFilters,
		Rule: "[ne]=v selects the resources whose field does not equal v, including null.",
		run: func(p *probe) {
			a, value := p.valued("string or number", ordered)
			p.selects("filter["+a.Name+"][ne]="+escaped(value), func(each resource) bool { return !equalJSON(each.members[a.Name], value) })
		},
	},
	{
		ID: "filter.in", Title: "filter[field][in]", Source: ourFilters,
		Rule: "[in]=a,b selects the resources whose field is one of the values.",
		run: func(p *probe) {
			a, first, second := p.twoValues()
			p.selects(fmt.Sprintf("filter[%s][in]=%s,%s", a.Name, escaped(first), escaped(second)), anyOf(a, first, second))
		},
	},
	{
		ID: "filter.not-in", Title: "filter[field][not_in]", Source: ourFilters,
		Rule: "[not_in]=a,b selects the resources whose field is none of the values, including null.",
		run: func(p *probe) {
			a, first, second := p.twoValues()
			isOne := anyOf(a, first, second)
			p.selects(fmt.Sprintf("filter[%s][not_in]=%s,%s", a.Name, escaped(first), escaped(second)), func(each resource) bool { return !isOne(each) })
		},
	},
	{
		ID: "filter.list-repeated", Title: "filter[field][in] and [not_in] given more than once", Source: ourFilters,
		Rule: "[in] and [not_in] can be repeated: all their values count.",
		run: func(p *probe) {
			a, first, second := p.twoValues()
			isOne := anyOf(a, first, second)
			p.selects(fmt.Sprintf("filter[%[1]s][in]=%[2]s&filter[%[1]s][in]=%[3]s", a.Name, escaped(first), escaped(second)), isOne)
			p.selects(fmt.Sprintf("filter[%[1]s][not_in]=%[2]s&filter[%[1]s][not_in]=%[3]s", a.Name, escaped(first), escaped(second)), func(each resource) bool { return !isOne(each) })
		},
	},
	{
		ID: "filter.compare", Title: "filter[field][lt], [lte], [gt], [gte]", Source: ourFilters,
		Rule: "[lt], [lte], [gt] and [gte] compare, strings by code point; a comparison with null is false.",
		run: func(p *probe) {
			a, value := p.valued("string or number", ordered)
			for op, holds := range map[string]func(int) bool{
				"lt": func(c int) bool { return c < 0 }, "lte": func(c int) bool { return c <= 0 },
				"gt": func(c int) bool { return c > 0 }, "gte": func(c int) bool { return c >= 0 },
			} {
				p.selects("filter["+a.Name+"]["+op+"]="+escaped(value), func(each resource) bool {
					got := each.members[a.Name]
					return !isNull(got) && holds(compare(got, value))
				})
			}
		},
	},
	{
		ID: "filter.text", Title: "filter[field][contains], [starts_with]", Source: ourFilters,
		Rule: "[contains] and [starts_with] search in strings, case-sensitively.",
		run: func(p *probe) {
			a, value := p.valued("string without a format", attribute.plain)
			given, _ := value.(string)
			text := []rune(given)
			if len(text) < 2 {
				p.skip("the strings of %s are too short", a.Name)
			}
			start, end := string(text[:len(text)-1]), string(text[1:])
			p.selects("filter["+a.Name+"][starts_with]="+escaped(start), func(each resource) bool { return strings.HasPrefix(each.text(a.Name), start) })
			p.selects("filter["+a.Name+"][contains]="+escaped(end), func(each resource) bool { return strings.Contains(each.text(a.Name), end) })
		},
	},
	{
		ID: "filter.id", Title: "filter[id]", Source: ourFilters,
		Rule: "Filters work on id.",
		run: func(p *probe) {
			p.need(4)
			want := p.reference[3].id()
			p.selects("filter[id]="+want, func(each resource) bool { return each.id() == want })
		},
	},
	{
		ID: "filter.unknown-field", Title: "a filter for a field that does not exist", Source: ourFilters,
		Rule: "A filter for a field that does not exist is 400.",
		run:  func(p *probe) { p.status(p.list("filter[conform_unknown]=1"), 400) },
	},
	{
		ID: "filter.unknown-operator", Title: "an operator that does not exist", Source: ourFilters,
		Rule: "A filter with an operator that does not exist is 400.",
		run:  func(p *probe) { p.status(p.list("filter[id][conform]=1"), 400) },
	},
	{
		ID: "filter.wrong-value", Title: "a value of the wrong type", Source: ourFilters,
		Rule: "Values are parsed by the type of the field; a wrong one is 400.",
		run:  func(p *probe) { p.status(p.list("filter[id]=conform"), 400) },
	},
}

func isTrue(value any) bool  { return value == true }
func isFalse(value any) bool { return value == false }
func isNull(value any) bool  { return value == nil }

// ordered: a string without a format or a number, whose order needs no
// knowledge of a format.
func ordered(a attribute) bool {
	return a.Type == "string" && a.Format == "" && a.References == "" || a.Type == "integer" || a.Type == "number"
}

func compare(a, b any) int {
	if text, isText := a.(string); isText {
		other, _ := b.(string)
		return strings.Compare(text, other)
	}
	x, okX := a.(json.Number)
	y, okY := b.(json.Number)
	left, okLeft := rational(x)
	right, okRight := rational(y)
	if !okX || !okY || !okLeft || !okRight {
		return 0
	}
	return left.Cmp(right)
}

// escaped is a value as it is written in a query.
func escaped(value any) string { return url.QueryEscape(fmt.Sprint(value)) }

func anyOf(a attribute, values ...any) func(resource) bool {
	return func(each resource) bool {
		return slices.ContainsFunc(values, func(value any) bool { return equalJSON(each.members[a.Name], value) })
	}
}

// divided is an attribute for which a condition holds in some resources and not in others:
// otherwise a filter without effect would not be noticed.
func (p *probe) divided(what string, fits func(attribute) bool, is func(any) bool) attribute {
	return p.attribute(what, func(a attribute) bool {
		if !fits(a) {
			return false
		}
		count := len(p.where(func(each resource) bool { return each.has(a.Name) && is(each.members[a.Name]) }))
		return count > 0 && count < len(p.reference)
	})
}

// valued is an attribute with a value that some resources have and others do not.
func (p *probe) valued(what string, fits func(attribute) bool) (attribute, any) {
	var value any
	a := p.attribute(what+" attribute with different values", func(a attribute) bool {
		if fits(a) {
			value = p.someValue(a, nil)
		}
		return value != nil
	})
	return a, value
}

func (p *probe) twoValues() (a attribute, first, second any) {
	a = p.attribute("string or number attribute with three different values", func(a attribute) bool {
		if !ordered(a) {
			return false
		}
		if first = p.someValue(a, nil); first == nil {
			return false
		}
		second = p.someValue(a, first)
		return second != nil && len(p.where(anyOf(a, first, second))) < len(p.reference)
	})
	return a, first, second
}

// someValue is a value from the middle of the collection that not every
// resource has, other than one. Values that would have to be quoted are left out.
func (p *probe) someValue(a attribute, other any) any {
	for i := range p.reference {
		value := p.reference[(i+len(p.reference)/2)%len(p.reference)].members[a.Name]
		if text, isText := value.(string); isText && (text == "" || strings.ContainsAny(text, `,\`)) {
			continue
		}
		if isNull(value) || equalJSON(value, other) {
			continue
		}
		if len(p.where(anyOf(a, value))) < len(p.reference) {
			return value
		}
	}
	return nil
}

// filtered is the positions of the resources that a filter selects.
func (p *probe) filtered(query string) []int {
	return p.positionsOf(p.all(p.collection.path(), query))
}

// selects fails unless a filter selects exactly the resources that fit.
func (p *probe) selects(query string, fits func(resource) bool) {
	got, want := p.filtered(query), p.where(fits)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		p.fail(p.list(query), describe(want), "%s", describe(got))
	}
}
