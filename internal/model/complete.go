package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gertd/go-pluralize"
)

// complete derives what a declaration may leave out, checks everything and
// compiles the attributes. Stored: the declaration comes from a database.
func complete(declared []Collection, stored bool) Problems {
	FillIn(declared)
	k := Checker{declared: declared, stored: stored}
	k.schema()
	return k.Problems
}

// cloneAll makes deep copies of declarations, so that completing a copy does not change the
// original. It does not copy what was compiled.
func cloneAll(collections []Collection) []Collection {
	clones := slices.Clone(collections)
	for i := range clones {
		c := &clones[i]
		c.layout = layout{}
		c.Attributes = cloneAttributes(c.Attributes)
		c.Unique = cloneGroups(c.Unique)
		c.Index = cloneGroups(c.Index)
		c.Parent = cloneOf(c.Parent)
		c.Search = slices.Clone(c.Search)
		c.Async = slices.Clone(c.Async)
	}
	return clones
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
	a.compiled = compiled{}
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

// FillIn derives what was left out. What cannot be derived stays empty, and the checks report it.
// FillIn is idempotent.
func FillIn(declared []Collection) {
	for i := range declared {
		if c := &declared[i]; c.Singular == "" {
			c.Singular = deriveSingular(c.Name)
		}
	}
	for i := range declared {
		declared[i].fillInParent(declared)
		for j := range declared[i].Attributes {
			declared[i].Attributes[j].fillInReference()
		}
	}
}

// English knows the rules and the exceptions.
var English = pluralize.NewClient()

// deriveSingular returns the singular of a name, empty if it equals the name.
func deriveSingular(name string) string {
	singular := English.Singular(name)
	if singular == name {
		return ""
	}
	return singular
}

// fillInParent declares the attribute of the parent, so that it is an attribute like any other.
func (c *Collection) fillInParent(declared []Collection) {
	if c.Parent == nil {
		return
	}
	if c.Parent.Attribute == "" {
		c.Parent.Attribute = parentAttribute(declared, c.Parent.Collection)
	}
	a := c.Declared(c.Parent.Attribute)
	if a == nil {
		if AttributeNames.Problem(c.Parent.Attribute) != "" {
			return
		}
		c.Attributes = append(c.Attributes, Attribute{Name: c.Parent.Attribute})
		a = &c.Attributes[len(c.Attributes)-1]
	}
	if a.References == nil {
		a.References = &Reference{Collection: c.Parent.Collection}
	}
	if a.References.Collection != c.Parent.Collection {
		return
	}
	if c.Parent.OnDelete == "" {
		c.Parent.OnDelete = a.References.OnDelete
	}
	if c.Parent.OnDelete == "" {
		c.Parent.OnDelete = Restrict
	}
	if a.References.OnDelete == "" {
		a.References.OnDelete = c.Parent.OnDelete
	}
	a.As = cmp.Or(a.As, c.Parent.As)
	a.Inverse = cmp.Or(a.Inverse, c.Parent.Inverse)
}

// parentAttribute is the default name of the attribute, empty if the parent has no singular.
func parentAttribute(declared []Collection, parent string) string {
	// A parent that does not exist is reported as such, and not for its attribute.
	singular := cmp.Or(deriveSingular(parent), parent)
	for i := range declared {
		if declared[i].Name == parent {
			singular = declared[i].Singular
		}
	}
	if singular == "" {
		return ""
	}
	return strings.ReplaceAll(singular, "-", "_") + "_id"
}

func (a *Attribute) fillInReference() {
	if a.References == nil {
		return
	}
	if a.References.OnDelete == "" {
		a.References.OnDelete = Restrict
	}
	if a.Type == "" {
		a.Type = String
	}
	if a.Type == String && a.Format == "" {
		a.Format = UUID
	}
}

// Declared finds a declared attribute by name, or returns nil.
func (c *Collection) Declared(name string) *Attribute {
	for i := range c.Attributes {
		if c.Attributes[i].Name == name {
			return &c.Attributes[i]
		}
	}
	return nil
}
