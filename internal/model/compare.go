package model

import "slices"

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
