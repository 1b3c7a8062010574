package compile

import "github.com/plural-go/plural/internal/model"

// operations declares the collection of operations. Its resources are written by the server alone.
func operations() *model.Collection {
	text := func(name, description string, values ...any) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, MaxLength: 16, Required: true, Enum: values, Description: description}
	}
	return builtIn(model.Collection{
		Name: model.OperationsName, Singular: "operation", Description: "Writes that were accepted to be done later.",
		Attributes: []model.Attribute{
			text("status", "How far it has come.", "pending", "running", "succeeded", "failed"),
			text("method", "The method of the request.", "POST", "PUT", "PATCH", "DELETE"),
			{Name: "resource", Type: model.Object, Required: true, Closed: true, Description: "The resource that it is about.", Properties: []model.Attribute{
				{Name: "id", Type: model.String, Format: model.UUID, Required: true}, {Name: "type", Type: model.String, Required: true},
			}},
			{Name: "errors", Type: model.Array, Description: "Why it failed: the errors that the request would have been answered with."},
			{Name: "attempts", Type: model.Integer, Required: true, Minimum: "0", Description: "How often it was tried."},
		},
		Index: [][]string{{"status"}},
	})
}

// changes declares the collection of changes.
func changes() *model.Collection {
	anything := func(name, description string) model.Attribute {
		return model.Attribute{Name: name, Type: model.Object, Description: description}
	}
	return builtIn(model.Collection{
		Name: model.ChangesName, Singular: "change", Description: "Changes of resources, in the order of the change log.",
		Attributes: []model.Attribute{
			{Name: "kind", Type: model.String, MaxLength: 16, Required: true, Enum: []any{"created", "updated", "deleted"}, Description: "What happened to the resource."},
			{Name: "resource", Type: model.Object, Required: true, Closed: true, Description: "The resource that was changed.", Properties: []model.Attribute{
				{Name: "id", Type: model.String, Format: model.UUID, Required: true}, {Name: "type", Type: model.String, Required: true},
			}},
			{Name: "revision", Type: model.Integer, Required: true, Minimum: "1", Description: "The revision of the resource after the change."},
			{Name: "by", Type: model.String, Description: "The caller who made the change; null if there is no access control."},
			anything("previous", "The former values of the changed attributes, or the whole resource as it last was if it was deleted or is hidden; null if it did not exist or was hidden before."),
			anything("data", "The resource after the change; null if it was deleted or is hidden."),
		},
	})
}

// builtIn compiles a collection that every schema has.
func builtIn(c model.Collection) *model.Collection {
	k := Checker{}
	k.attributes(&c, Path{c.Name})
	if len(k.Problems) > 0 {
		panic(k.Problems)
	}
	return &c
}
