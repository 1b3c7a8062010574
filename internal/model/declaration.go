package model

import "slices"

// Declaration is a deep copy of what the collection declares, without what was compiled: completing the
// copy does not change the original.
func (c *Collection) Declaration() Collection {
	clone := *c
	clone.layout = layout{}
	clone.Attributes = cloneAttributes(c.Attributes)
	clone.Unique = cloneGroups(c.Unique)
	clone.Index = cloneGroups(c.Index)
	clone.Parent = cloneOf(c.Parent)
	clone.Search = slices.Clone(c.Search)
	clone.Async = slices.Clone(c.Async)
	return clone
}

func cloneAttributes(attributes []Attribute) []Attribute {
	clones := slices.Clone(attributes)
	for i := range clones {
		cloneInto(&clones[i])
	}
	return clones
}

// cloneInto replaces everything the attribute shares with its original.
func cloneInto(a *Attribute) {
	a.compiled = Constraints{}
	a.Enum = slices.Clone(a.Enum)
	a.References = cloneOf(a.References)
	a.Properties = cloneAttributes(a.Properties)
	if a.Items = cloneOf(a.Items); a.Items != nil {
		cloneInto(a.Items)
	}
}

func cloneGroups(groups [][]string) [][]string {
	clones := slices.Clone(groups)
	for i := range clones {
		clones[i] = slices.Clone(clones[i])
	}
	return clones
}

func cloneOf[T any](original *T) *T {
	if original == nil {
		return nil
	}
	clone := *original
	return &clone
}
