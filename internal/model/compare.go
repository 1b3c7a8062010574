package model

import (
	"reflect"
	"slices"
)

// Tightened lists the keywords by which the attribute refuses values that
// another definition of the same kind may have accepted. Whether there are such
// values depends on the data. It ignores what a definition requires of the
// collection (required, unique, references).
func (a *Attribute) Tightened(before *Attribute) []string {
	var keywords []string
	for _, k := range AttributeKeywords {
		if k.tighter != nil && k.tighter(k, a, before) {
			keywords = append(keywords, k.Name)
		}
	}
	// The table cannot refer to itself, so the keywords of the values inside are here.
	if a.Items != nil && (before.Items == nil || len(a.Items.Tightened(before.Items)) > 0) {
		keywords = append(keywords, "items")
	}
	if a.tightenedProperties(before) {
		keywords = append(keywords, "properties")
	}
	if slices.ContainsFunc(a.Properties, func(property Attribute) bool {
		old := before.Property(property.Name)
		return property.Required && (old == nil || !old.Required)
	}) {
		keywords = append(keywords, "required")
	}
	return keywords
}

// boundBy is the definition with the keywords of another one that only refuse more, also of the values inside.
func (a *Attribute) boundBy(other *Attribute) *Attribute {
	bound := *a
	c, more := &bound.compiled, &other.compiled
	for _, k := range AttributeKeywords {
		if k.tighter == nil || !k.tighter(k, other, a) || k.tighter(k, a, other) || k.Name == "additionalProperties" {
			continue
		}
		reflect.ValueOf(k.Field(&bound)).Elem().Set(reflect.ValueOf(k.Field(other)).Elem())
		switch k.Name {
		case "pattern":
			c.Pattern = more.Pattern
		case "enum":
			c.Enum = more.Enum
		case "multipleOf":
			c.Multiple = more.Multiple
		}
	}
	c.MinInt, c.MaxInt = max(c.MinInt, more.MinInt), min(c.MaxInt, more.MaxInt)
	if more.Min > c.Min || more.Min == c.Min && more.MinOpen {
		c.Min, c.MinOpen = more.Min, more.MinOpen
	}
	if more.Max < c.Max || more.Max == c.Max && more.MaxOpen {
		c.Max, c.MaxOpen = more.Max, more.MaxOpen
	}
	if a.Items != nil && other.Items != nil {
		bound.Items = a.Items.boundBy(other.Items)
	}
	bound.Properties = slices.Clone(a.Properties)
	for i := range bound.Properties {
		if property := &bound.Properties[i]; other.Property(property.Name) != nil {
			required := property.Required || other.Property(property.Name).Required
			*property = *property.boundBy(other.Property(property.Name))
			property.Required = required
		}
	}
	return &bound
}

func (a *Attribute) tightenedProperties(before *Attribute) bool {
	for i := range a.Properties {
		property := &a.Properties[i]
		old := before.Property(property.Name)
		if old == nil && !before.Closed { // a closed object could not have the member at all
			return true
		}
		if old != nil && len(property.Tightened(old)) > 0 {
			return true
		}
	}
	return a.Closed && slices.ContainsFunc(before.Properties, func(old Attribute) bool { return a.Property(old.Name) == nil })
}
