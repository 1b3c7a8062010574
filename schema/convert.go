package schema

import "github.com/plural-go/plural/internal/model"

// model is the declaration as the checks take it.
func (c *Collection) model() model.Collection {
	m := model.Collection{
		Name: c.Name, Singular: c.Singular, Description: c.Description,
		Attributes: modelAttributes(c.Attributes), Unique: c.Unique, Index: c.Index,
		NoTimestamps: c.NoTimestamps, RequireIfMatch: c.RequireIfMatch, Async: c.Async, RenamedFrom: c.RenamedFrom,
	}
	if c.Parent != nil {
		m.Parent = &model.Parent{Collection: c.Parent.Collection, Attribute: c.Parent.Attribute, OnDelete: model.OnDelete(c.Parent.OnDelete)}
	}
	return m
}

func modelAttributes(attributes []Attribute) []model.Attribute {
	if attributes == nil {
		return nil // an object without properties is not one with none
	}
	m := make([]model.Attribute, len(attributes))
	for i := range attributes {
		m[i] = attributes[i].model()
	}
	return m
}

func (a *Attribute) model() model.Attribute {
	m := model.Attribute{
		Name: a.Name, Type: model.Type(a.Type), Format: model.Format(a.Format), Description: a.Description,
		MinLength: a.MinLength, MaxLength: a.MaxLength, Pattern: a.Pattern, Scale: a.Scale,
		Minimum: a.Minimum, Maximum: a.Maximum, ExclusiveMinimum: a.ExclusiveMinimum, ExclusiveMaximum: a.ExclusiveMaximum,
		MultipleOf: a.MultipleOf, MinItems: a.MinItems, MaxItems: a.MaxItems,
		Properties: modelAttributes(a.Properties), Closed: a.Closed, Enum: a.Enum, Default: a.Default,
		Required: a.Required, Unique: a.Unique, Index: a.Index, RenamedFrom: a.RenamedFrom,
	}
	if a.Items != nil {
		items := a.Items.model()
		m.Items = &items
	}
	if a.References != nil {
		m.References = &model.Reference{Collection: a.References.Collection, OnDelete: model.OnDelete(a.References.OnDelete)}
	}
	return m
}
