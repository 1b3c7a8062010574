package compile

import (
	"cmp"
	"strings"

	"github.com/gertd/go-pluralize"

	"github.com/plural-go/plural/internal/model"
)

// FillIn derives what was left out. What cannot be derived stays empty, and the checks report it.
// FillIn is idempotent.
func FillIn(declared []model.Collection) {
	for i := range declared {
		if c := &declared[i]; c.Singular == "" {
			c.Singular = deriveSingular(c.Name)
		}
	}
	for i := range declared {
		fillInParent(&declared[i], declared)
		for j := range declared[i].Attributes {
			fillInReference(&declared[i].Attributes[j])
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
func fillInParent(c *model.Collection, declared []model.Collection) {
	if c.Parent == nil {
		return
	}
	c.Parent.Attribute = cmp.Or(c.Parent.Attribute, parentAttribute(declared, c.Parent.Collection))
	a := c.Declared(c.Parent.Attribute)
	if a == nil {
		if AttributeNames.Problem(c.Parent.Attribute) != "" {
			return
		}
		c.Attributes = append(c.Attributes, model.Attribute{Name: c.Parent.Attribute})
		a = &c.Attributes[len(c.Attributes)-1]
	}
	if a.References == nil {
		a.References = &model.Reference{Collection: c.Parent.Collection}
	}
	if a.References.Collection != c.Parent.Collection {
		return
	}
	c.Parent.OnDelete = cmp.Or(c.Parent.OnDelete, a.References.OnDelete, model.Restrict)
	a.References.OnDelete = cmp.Or(a.References.OnDelete, c.Parent.OnDelete)
	a.As = cmp.Or(a.As, c.Parent.As)
	a.Inverse = cmp.Or(a.Inverse, c.Parent.Inverse)
}

// parentAttribute is the default name of the attribute, empty if the parent has no singular.
func parentAttribute(declared []model.Collection, parent string) string {
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

func fillInReference(a *model.Attribute) {
	if a.References == nil {
		return
	}
	a.References.OnDelete = cmp.Or(a.References.OnDelete, model.Restrict)
	a.Type = cmp.Or(a.Type, model.String)
	if a.Type == model.String && a.Format == "" {
		a.Format = model.UUID
	}
}

// requireStates makes attributes with a lifecycle and a default required: null is no state. It comes after FillIn, when
// it is known which attributes are listed in required.
func requireStates(declared []model.Collection) {
	for i := range declared {
		for j := range declared[i].Attributes {
			a := &declared[i].Attributes[j]
			a.Required = a.Required || a.HasLifecycle() && a.Default != nil
		}
	}
}
