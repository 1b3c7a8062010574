package schema

import "github.com/plural-go/plural/internal/model"

// ruleShape is a boolean, or a rule in CEL.
var ruleShape = map[string]any{"type": []string{"boolean", "string"}}

// groupListShape is a list of attributes and of lists of attributes.
var groupListShape = map[string]any{"oneOf": []any{
	model.TextShape,
	map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"oneOf": []any{model.TextShape, model.With(model.NamesShape, "minItems", 1)}}},
}}

var rootKeys = []model.Keyword{
	{Name: "collections", Shape: model.ReferenceShape("collections"),
		Description: "The collections of resources, by name. Each name is a plural, such as users, and the first part of a path: /users."},
	{Name: "access", Shape: model.ReferenceShape("access"),
		Description: "Who may do what. Without it the server is open, and listens on this machine only."},
	{Name: "server", Shape: model.ReferenceShape("server"),
		Description: "Settings of the server. Environment variables and flags come before them."},
}

var collectionKeys = []model.Keyword{
	{Name: "description", Shape: model.TextShape,
		Description: "What the collection holds. Shown in the documentation of the API."},
	{Name: "attributes", Shape: model.OptionalShape(map[string]any{"propertyNames": model.ReferenceShape("attributeName"), "additionalProperties": model.ReferenceShape("attribute")}),
		Description: "The attributes of a resource, in the order in which they are shown. id, type, created_at and updated_at are always there."},
	{Name: "required", Shape: model.NamesShape,
		Description: "Attributes that must have a value other than null. A default provides one."},
	{Name: "unique", Shape: groupListShape,
		Description: "Attributes, or lists of them, whose values no two resources share. Strings without a format that bounds them need a maxLength."},
	{Name: "index", Shape: groupListShape,
		Description: "Attributes, or lists of them, that are often filtered or sorted by. Strings without a format that bounds them need a maxLength."},
	{Name: "parent", Shape: model.NameOrShape(parentKeys, "collection"),
		Description: "Makes this a sub-collection, /users/<id>/posts, with an attribute for the id of the parent."},
	{Name: "singular", Shape: model.ReferenceShape("collectionName"),
		Description: "The name of one of them. Default: derived from the name of the collection by the rules of English."},
	{Name: "timestamps", Shape: model.With(model.FlagShape, "default", true),
		Description: "Whether resources have created_at and updated_at."},
	{Name: "require_if_match", Shape: model.With(model.FlagShape, "default", false),
		Description: "Whether PUT, PATCH and DELETE must say by If-Match which state of the resource they change."},
	{Name: "async", Shape: map[string]any{"oneOf": []any{model.FlagShape, map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": model.WriteMethods()}}}},
		Description: "Whether writes are accepted and done later: all of them (true), or those of a list of methods. An array of resources is always created at once."},
	{Name: "renamed_from", Shape: model.ReferenceShape("collectionName"),
		Description: "The name that the collection had before. A migration keeps its resources then."},
}

var accessKeys = []model.Keyword{
	{Name: "roles", Shape: model.OptionalShape(map[string]any{"propertyNames": model.NameShape(roleName), "additionalProperties": model.ReferenceShape("role")}),
		Description: "What each role may do, by collection. What no role is granted is denied. The role public is whoever sends no credentials."},
	{Name: "metrics", Shape: model.NamesShape,
		Description: "The roles that may read /-/metrics."},
	{Name: "rates", Shape: model.OptionalShape(map[string]any{"additionalProperties": map[string]any{"type": "string", "pattern": "^[1-9][0-9]*/[smh]$"}}),
		Description: "How many requests a caller may send, by role: 10/s, 600/m or 5000/h. Those of the public are counted by address."},
	{Name: "tokens", Shape: model.ObjectShape(tokenKeys, "audience"),
		Description: "Which JSON Web Tokens are accepted. API keys always are."},
}

// grantKeys are the verbs, and what else can be said of a role in a collection.
var grantKeys = []model.Keyword{
	{Name: "list", Shape: model.FlagShape,
		Description: "Whether the resources that can be read can be listed."},
	{Name: "read", Shape: ruleShape,
		Description: "Whether resources can be read: true, or a rule in CEL. Others do not exist for the role."},
	{Name: "create", Shape: ruleShape,
		Description: "Whether resources can be created: true, or a rule that a new one must meet."},
	{Name: "update", Shape: ruleShape,
		Description: "Whether resources can be changed: true, or a rule that they must meet before and after."},
	{Name: "delete", Shape: ruleShape,
		Description: "Whether resources can be deleted: true, or a rule that they must meet."},
	{Name: "changes", Shape: model.FlagShape,
		Description: "Whether the history of the resources that can be read is shown: former values, and who changed them."},
	{Name: "visible", Shape: model.NamesShape,
		Description: "The attributes that are shown. Default: all. id, type, created_at and updated_at are always shown."},
	{Name: "writable", Shape: model.NamesShape,
		Description: "The attributes that can be set. Default: those that are visible."},
}

var tokenKeys = []model.Keyword{
	{Name: "issuer", Shape: model.TextShape,
		Description: "The URL of an OpenID Connect provider, whose keys are discovered, and what the claim iss must be."},
	{Name: "public_key", Shape: model.TextShape,
		Description: "A file with a public key in PEM, in place of discovery."},
	{Name: "audience", Shape: model.TextShape,
		Description: "What must be among the claim aud."},
	{Name: "role_claim", Shape: model.With(model.TextShape, "default", "role"),
		Description: "The claim that gives the role, by its name or in a list. A dot leads into an object: realm_access.roles."},
	{Name: "algorithms", Shape: map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": signingAlgorithms()}},
		Description: "The algorithms that may have signed. Default: RS256, ES256 and EdDSA."},
	{Name: "clock_skew", Shape: model.With(model.TextShape, "default", "1m"),
		Description: "How far the clocks of the issuer and of this server may be apart, such as 30s."},
}

var parentKeys = []model.Keyword{
	{Name: "collection", Shape: model.ReferenceShape("collectionName"),
		Description: "The collection of the parents."},
	{Name: "attribute", Shape: model.ReferenceShape("attributeName"),
		Description: "The attribute with the id of the parent. Default: the singular of the parent and _id. It need not be declared."},
	{Name: "on_delete", Shape: model.OnDeleteShape,
		Description: "What becomes of the children when their parent is deleted: it cannot be (restrict), they are deleted too (cascade), or they go on without it (set_null)."},
	{Name: "as", Shape: model.ReferenceShape("attributeName"),
		Description: "The name of the relation to the parent, by which it can be included. Default: the attribute without _id."},
	{Name: "inverse", Shape: model.ReferenceShape("attributeName"),
		Description: "The name of the relation to the children, by which they can be included. Default: the name of this collection."},
}
