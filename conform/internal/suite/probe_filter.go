package suite

import (
	"encoding/json"
	"slices"
	"strings"
)

func IsTrue(value any) bool { return value == true }

func IsNull(value any) bool { return value == nil }

// Ordered: a string without a format or a number, whose order needs no
// knowledge of a format.
func Ordered(a Attribute) bool {
	return a.Type == "string" && a.Format == "" && a.References == "" || a.Type == "integer" || a.Type == "number"
}

func Compare(a, b any) int {
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

func AnyOf(a Attribute, values ...any) func(Resource) bool {
	return func(each Resource) bool {
		return slices.ContainsFunc(values, func(value any) bool { return EqualJSON(each.Members[a.Name], value) })
	}
}

// Divided is an attribute for which a condition holds in some resources and not in others:
// otherwise a filter without effect would not be noticed.
func (p *Probe) Divided(what string, fits func(Attribute) bool, is func(any) bool) Attribute {
	return p.Attribute(what, func(a Attribute) bool {
		if !fits(a) {
			return false
		}
		count := len(p.Where(func(each Resource) bool { return each.Has(a.Name) && is(each.Members[a.Name]) }))
		return count > 0 && count < len(p.Reference)
	})
}

// Valued is an attribute with a value that some resources have and others do not.
func (p *Probe) Valued(what string, fits func(Attribute) bool) (Attribute, any) {
	var value any
	a := p.Attribute(what+" attribute with different values", func(a Attribute) bool {
		if fits(a) {
			value = p.someValue(a, nil)
		}
		return value != nil
	})
	return a, value
}

func (p *Probe) TwoValues() (a Attribute, first, second any) {
	a = p.Attribute("string or number attribute with three different values", func(a Attribute) bool {
		if !Ordered(a) {
			return false
		}
		if first = p.someValue(a, nil); first == nil {
			return false
		}
		second = p.someValue(a, first)
		return second != nil && len(p.Where(AnyOf(a, first, second))) < len(p.Reference)
	})
	return a, first, second
}

// someValue is a value from the middle of the collection that not every
// resource has, other than one. Values that would have to be quoted are left out.
func (p *Probe) someValue(a Attribute, other any) any {
	for i := range p.Reference {
		value := p.Reference[(i+len(p.Reference)/2)%len(p.Reference)].Members[a.Name]
		if text, isText := value.(string); isText && (text == "" || strings.ContainsAny(text, `,\`)) {
			continue
		}
		if IsNull(value) || EqualJSON(value, other) {
			continue
		}
		if len(p.Where(AnyOf(a, value))) < len(p.Reference) {
			return value
		}
	}
	return nil
}

// Filtered is the positions of the resources that a filter selects.
func (p *Probe) Filtered(query string) []int {
	return p.PositionsOf(p.All(p.Collection.Path(), query))
}

// Selects fails unless a filter selects exactly the resources that fit.
func (p *Probe) Selects(query string, fits func(Resource) bool) {
	got, want := p.Filtered(query), p.Where(fits)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		p.Fail(p.List(query), Describe(want), "%s", Describe(got))
	}
}
