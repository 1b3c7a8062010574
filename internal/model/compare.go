package model

import (
	"encoding/json"
	"math/big"
	"slices"
)

// Tightened lists the keywords by which the attribute refuses values that
// another definition of the same kind may have let in. Whether there are such
// values is for the data to tell. What a definition requires of the collection
// (required, unique, references) is not looked at.
func (a *Attribute) Tightened(before *Attribute) []string {
	var keywords []string
	note := func(keyword string, tighter bool) {
		if tighter && !slices.Contains(keywords, keyword) {
			keywords = append(keywords, keyword)
		}
	}
	note("type", a.Type != before.Type && !(a.Type == Number && before.Type == Integer))
	note("format", a.Format != before.Format && a.Format != "")
	note("scale", a.Scale != before.Scale)
	note("minLength", a.MinLength > before.MinLength)
	note("maxLength", lowered(a.MaxLength, before.MaxLength))
	note("pattern", a.Pattern != before.Pattern && a.Pattern != "")
	note("minimum", raised(a.Minimum, before.Minimum, 1))
	note("maximum", raised(a.Maximum, before.Maximum, -1))
	note("exclusiveMinimum", raised(a.ExclusiveMinimum, before.ExclusiveMinimum, 1))
	note("exclusiveMaximum", raised(a.ExclusiveMaximum, before.ExclusiveMaximum, -1))
	note("multipleOf", a.MultipleOf != "" && (before.multiple == nil || a.multiple.Cmp(before.multiple) != 0))
	note("enum", len(a.enum) > 0 && (len(before.enum) == 0 || !containsAll(a.enum, before.enum)))
	note("minItems", a.MinItems > before.MinItems)
	note("maxItems", lowered(a.MaxItems, before.MaxItems))
	note("items", a.Items != nil && (before.Items == nil || len(a.Items.Tightened(before.Items)) > 0))
	note("additionalProperties", a.Closed && !before.Closed)
	a.tightenedProperties(before, note)
	return keywords
}

func (a *Attribute) tightenedProperties(before *Attribute, note func(string, bool)) {
	for i := range a.Properties {
		property := &a.Properties[i]
		old := before.Property(property.Name)
		if old == nil {
			// A closed object could not have the member at all.
			note("properties", !before.Closed)
			note("required", property.Required)
			continue
		}
		note("properties", len(property.Tightened(old)) > 0)
		note("required", property.Required && !old.Required)
	}
	for i := range before.Properties {
		note("properties", a.Closed && a.Property(before.Properties[i].Name) == nil)
	}
}

// lowered compares upper bounds of which 0 means none.
func lowered(now, before int) bool { return now > 0 && (before == 0 || now < before) }

// raised reports whether a bound excludes more: a larger one with the sign 1, a
// smaller one with -1.
func raised(now, before json.Number, sign int) bool {
	if now == "" || before == "" {
		return now != ""
	}
	a, _ := new(big.Rat).SetString(string(now)) // both were checked
	b, _ := new(big.Rat).SetString(string(before))
	return a.Cmp(b) == sign
}

func containsAll(all, some []Value) bool {
	for _, value := range some {
		if !slices.Contains(all, value) {
			return false
		}
	}
	return true
}
