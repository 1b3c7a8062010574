package conform

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

var filterMoreChecks = []Check{
	{
		ID: "filter.groups", Title: "filter[any][0][field]", Source: ourFilters,
		Rule: "Of filters filter[any][number][field], all of one number must match, for at least one number.",
		run: func(p *probe) {
			a, first, second := p.twoValues()
			at := p.where(anyOf(a, first))[0]
			query := fmt.Sprintf("filter[any][0][%[1]s]=%[2]s&filter[any][0][id]=%[4]s&filter[any][1][%[1]s]=%[3]s", a.Name, escaped(first), escaped(second), p.reference[at].id())
			isSecond := anyOf(a, second)
			p.selects(query, func(each resource) bool { return each.id() == p.reference[at].id() || isSecond(each) })
		},
	},
	{
		ID: "filter.inside", Title: "filter[object.property]", Source: ourFilters,
		Rule: "filter[object.property] filters by a declared property of an object.",
		run: func(p *probe) {
			name, property, value := p.divide(func(a attribute) (names []string) {
				for name, d := range a.Properties {
					if a.Type == "object" && (d.Type == "string" && d.Format == "" || d.Type == "integer") {
						names = append(names, name)
					}
				}
				slices.Sort(names)
				return names
			}, inside)
			p.selects("filter["+name+"."+property+"]="+escaped(value), func(each resource) bool { return equalJSON(inside(each.members[name], property), value) })
		},
	},
	{
		ID: "filter.has", Title: "filter[array][has]", Source: ourFilters,
		Rule: "[has]=v selects the resources in which an array of scalars has an item.",
		run: func(p *probe) {
			name, _, value := p.divide(func(a attribute) []string {
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
			p.selects("filter["+name+"][has]="+escaped(value), func(each resource) bool {
				items, _ := each.members[name].([]any)
				return slices.ContainsFunc(items, func(item any) bool { return equalJSON(item, value) })
			})
		},
	},
}

// inside is a property of an object.
func inside(object any, property string) any {
	members, _ := object.(map[string]any)
	return members[property]
}

// divide finds an attribute, one of its parts, and a value of that part that some resources have, and
// others do not.
func (p *probe) divide(parts func(attribute) []string, of func(value any, part string) any) (name, part string, value any) {
	for _, a := range p.collection.Attributes {
		for _, part := range parts(a) {
			for _, each := range p.reference {
				value := of(each.members[a.Name], part)
				text, isText := value.(string)
				if value == nil || isText && text == "" {
					continue
				}
				count := len(p.where(func(other resource) bool { return equalJSON(of(other.members[a.Name], part), value) }))
				if count < len(p.reference) {
					return a.Name, part, value
				}
			}
		}
	}
	p.skip("the collection has no attribute for this, with different values")
	return "", "", nil
}

var searchChecks = []Check{
	{
		ID: "search.words", Title: "search", Source: ourSearch,
		Rule: "search selects the resources in which each word begins a word of a searched attribute, in any case.",
		run: func(p *probe) {
			if len(p.collection.Search) == 0 {
				p.skip("GET / lists no attributes that are searched")
			}
			found := func(prefix string) func(resource) bool {
				return func(each resource) bool {
					return slices.ContainsFunc(p.words(each), func(word string) bool { return strings.HasPrefix(word, prefix) })
				}
			}
			for _, each := range p.reference {
				for _, word := range p.words(each) {
					if count := len(p.where(found(word))); len(word) > 2 && count < len(p.reference) {
						p.selects("search="+strings.ToUpper(word[:len(word)-1]), found(word[:len(word)-1]))
						p.selects("search="+word+"+"+word, found(word))
						return
					}
				}
			}
			p.skip("no word is in some of the resources and not in others")
		},
	},
	{
		ID: "search.refused", Title: "a search that cannot be done", Source: ourSearch,
		Rule: "search is 400 without a word, and in a collection that is not searched.",
		run: func(p *probe) {
			if !p.collection.described {
				p.skip("the server does not describe the collection at GET /")
			}
			word := "conform"
			if len(p.collection.Search) > 0 {
				word = "+"
			}
			p.status(p.list("search="+word), 400)
		},
	},
}

// plainWords is text whose words everybody sees alike.
var plainWords = regexp.MustCompile(`^[A-Za-z0-9 ]*$`)

// words are those of the searched attributes, in lower case.
func (p *probe) words(each resource) (words []string) {
	for _, name := range p.collection.Search {
		text := each.text(name)
		if !plainWords.MatchString(text) {
			p.skip("the values of %s are not plain words", name)
		}
		words = append(words, strings.Fields(strings.ToLower(text))...)
	}
	return words
}

var groupChecks = []Check{
	{
		ID: "groups.count", Title: "groups by an attribute", Source: ourGroups,
		Rule: "GET /-/groups/<collection>?by=field counts the resources of each value, null included.",
		run: func(p *probe) {
			a, found := p.collection.find(func(a attribute) bool { return a.Type == "boolean" || len(a.Enum) > 0 && ordered(a) }) // few groups
			if !found {
				a = p.attribute("attribute to group by", ordered)
			}
			want := map[string]int{}
			for _, each := range p.reference {
				want[encodeJSON(each.members[a.Name])]++
			}
			r := p.groups("by=" + a.Name + "&limit=100000")
			got := map[string]int{}
			for _, each := range r.resources() {
				by, _ := each.members["by"].(map[string]any)
				got[encodeJSON(by[a.Name])] += wholeNumber(each.members["count"])
			}
			if encodeJSON(got) != encodeJSON(want) {
				p.fail(r, encodeJSON(want), "%s", encodeJSON(got))
			}
		},
	},
	{
		ID: "groups.all", Title: "one group without by", Source: ourGroups,
		Rule: "Without by there is one group, whose by is {}; filters restrict what is counted.",
		run: func(p *probe) {
			p.need(2)
			for query, want := range map[string]int{"": len(p.reference), "filter[id]=" + p.reference[1].id(): 1} {
				r := p.groups(query)
				all := r.resources()
				if len(all) != 1 || encodeJSON(all[0].members["by"]) != "{}" || wholeNumber(all[0].members["count"]) != want {
					p.fail(r, fmt.Sprintf("one group with by {} and count %d", want), "%s", r.summary())
				}
			}
		},
	},
	{
		ID: "groups.values", Title: "sum, min and max of groups", Source: ourGroups,
		Rule: "sum, min and max of integers are exact; null does not count.",
		run: func(p *probe) {
			a := p.attribute("integer with values", func(a attribute) bool {
				return a.Type == "integer" && len(p.where(func(each resource) bool { return !isNull(each.members[a.Name]) })) > 1
			})
			sum, low, high := new(big.Int), (*big.Int)(nil), (*big.Int)(nil)
			for _, each := range p.reference {
				text, _ := each.members[a.Name].(json.Number)
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
			if !sum.IsInt64() {
				p.skip("the sum of %s does not fit into 64 bits", a.Name)
			}
			r := p.groups(fmt.Sprintf("sum=%[1]s&min=%[1]s&max=%[1]s", a.Name))
			for operation, want := range map[string]*big.Int{"sum": sum, "min": low, "max": high} {
				got := inside(r.resource().members[operation], a.Name)
				if !equalJSON(got, json.Number(want.String())) {
					p.fail(r, fmt.Sprintf("%s of %s is %s", operation, a.Name, want), "%s", encodeJSON(got))
				}
			}
		},
	},
	{
		ID: "groups.refused", Title: "groups that cannot be made", Source: ourGroups,
		Rule: "by with a field that does not exist, and cursor, are 400.",
		run: func(p *probe) {
			for _, query := range []string{"by=conform_unknown", "cursor=" + newUUID()} {
				p.status(p.get("/-/groups"+p.collection.path()+"?"+query), 400)
			}
		},
	},
}

// groups asks for groups of the collection.
func (p *probe) groups(query string) *reply {
	return p.ok(p.get("/-/groups" + p.collection.path() + "?" + query))
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
