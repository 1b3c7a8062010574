package schema

import (
	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// ruleSchema is a boolean, or a rule in CEL.
var ruleSchema = map[string]any{"type": []string{"boolean", "string"}}

// groupListSchema is a list of attributes and of lists of attributes.
var groupListSchema = map[string]any{"oneOf": []any{
	model.TextSchema,
	map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"oneOf": []any{model.TextSchema, model.With(model.NamesSchema, "minItems", 1)}}},
}}

var rootKeys = []model.Keyword{
	{Name: "collections", JSONSchema: model.ReferenceSchema("collections"),
		Description: "The collections of resources, by name. Each name is a plural, such as users, and the first part of a path: /users."},
	{Name: "info", JSONSchema: model.OptionalSchema(model.ObjectSchema(infoKeys)),
		Description: "What the API is called, and who offers it. Shown in the OpenAPI document and the reference."},
	{Name: "version", JSONSchema: model.CountSchema(1),
		Description: "The number of the newest version of the interface, which clients name in API-Version. It never decreases. Default: there are no versions."},
	{Name: "deprecated", JSONSchema: model.OptionalSchema(map[string]any{"propertyNames": map[string]any{"pattern": "^[1-9][0-9]*$"}, "additionalProperties": map[string]any{"type": "string", "format": "date"}}),
		Description: "The versions that clients should leave, each with the date on which it ends: {2: 2027-01-01}."},
	{Name: "access", JSONSchema: model.ReferenceSchema("access"),
		Description: "Who may do what. Without it the server is open, and listens on this machine only."},
	{Name: "server", JSONSchema: model.ReferenceSchema("server"),
		Description: "Settings of the server. Environment variables and flags come before them."},
}

var infoKeys = []model.Keyword{
	{Name: "title", JSONSchema: model.TextSchema,
		Description: "The name of the API. Default: Plural API."},
	{Name: "version", JSONSchema: model.TextSchema,
		Description: "The version of the API, as text: \"1.2\". Default: 1.0.0."},
	{Name: "description", JSONSchema: model.TextSchema,
		Description: "What the API is for, in front of what holds for every API."},
	{Name: "contact", JSONSchema: model.OptionalSchema(model.ObjectSchema(contactKeys)),
		Description: "Whom to ask about the API."},
	{Name: "license", JSONSchema: model.ObjectSchema(licenseKeys, "name"),
		Description: "The licence of the API."},
}

var contactKeys = []model.Keyword{
	{Name: "name", JSONSchema: model.TextSchema,
		Description: "The name of a person or an organisation."},
	{Name: "url", JSONSchema: model.TextSchema,
		Description: "A web page, https://…"},
	{Name: "email", JSONSchema: model.TextSchema,
		Description: "An email address."},
}

var licenseKeys = []model.Keyword{
	{Name: "name", JSONSchema: model.TextSchema,
		Description: "The name of the licence. Required."},
	{Name: "identifier", JSONSchema: model.TextSchema,
		Description: "Its SPDX expression, such as Apache-2.0. Not together with url."},
	{Name: "url", JSONSchema: model.TextSchema,
		Description: "A web page with its text, https://…"},
}

var collectionKeys = []model.Keyword{
	{Name: "description", JSONSchema: model.TextSchema,
		Description: "What the collection holds. Shown in the documentation of the API."},
	{Name: "attributes", JSONSchema: model.OptionalSchema(map[string]any{"propertyNames": model.ReferenceSchema("attributeName"), "additionalProperties": model.ReferenceSchema("attribute")}),
		Description: "The attributes of a resource, in the order in which they are shown. id, type, created_at and updated_at are always there."},
	{Name: "required", JSONSchema: model.NamesSchema,
		Description: "Attributes that must have a value other than null. A default provides one."},
	{Name: "unique", JSONSchema: groupListSchema,
		Description: "Attributes, or lists of them, whose values no two resources share. Strings without a format that bounds them need a maxLength."},
	{Name: "index", JSONSchema: groupListSchema,
		Description: "Attributes, or lists of them, that are often filtered or sorted by. A property of an object is named by its path, such as address.city. A minus means descending, for sorts with several directions: [-population, name]. Strings without a format that bounds them need a maxLength."},
	{Name: "search", JSONSchema: model.With(model.NamesSchema, "maxItems", compile.MaxSearched),
		Description: "Attributes with text whose words the parameter search finds: /posts?search=quick+fox."},
	{Name: "label", JSONSchema: model.ReferenceSchema("attributeName"),
		Description: "The attribute with text that names a resource to people. It is always searched."},
	{Name: "parent", JSONSchema: model.NameOrSchema(parentKeys, "collection"),
		Description: "Makes this a sub-collection, /users/<id>/posts, with an attribute for the id of the parent."},
	{Name: "checks", JSONSchema: map[string]any{"type": "array", "items": model.ObjectSchema(checkKeys, "rule", "message")},
		Description: "Rules that every resource must meet when it is stored."},
	{Name: "singular", JSONSchema: model.ReferenceSchema("collectionName"),
		Description: "The name of one of them. Default: derived from the name of the collection by the rules of English."},
	{Name: "timestamps", JSONSchema: model.With(model.FlagSchema, "default", true),
		Description: "Whether resources have created_at and updated_at."},
	{Name: "require_if_match", JSONSchema: model.With(model.FlagSchema, "default", false),
		Description: "Whether PUT, PATCH and DELETE must say by If-Match which state of the resource they change."},
	{Name: "async", JSONSchema: map[string]any{"oneOf": []any{model.FlagSchema, map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": model.WriteMethods()}}}},
		Description: "Whether writes are accepted and done later: all of them (true), or those of a list of methods. An array of resources is always created at once."},
	{Name: "renamed_from", JSONSchema: model.ReferenceSchema("collectionName"),
		Description: "The name that the collection had before. A migration keeps its resources then."},
}

var checkKeys = []model.Keyword{
	{Name: "rule", JSONSchema: model.TextSchema,
		Description: "The expression in CEL that must hold, such as resource.ends_on >= resource.starts_on. Required."},
	{Name: "message", JSONSchema: model.TextSchema,
		Description: "What clients read if it does not hold. Required."},
	{Name: "attribute", JSONSchema: model.ReferenceSchema("attributeName"),
		Description: "The attribute that the error points at. Default: none."},
}

var accessKeys = []model.Keyword{
	{Name: "roles", JSONSchema: model.OptionalSchema(map[string]any{"propertyNames": roleName.JSONSchema(), "additionalProperties": model.ReferenceSchema("role")}),
		Description: "What each role may do, by collection. What no role is granted is denied. The role public is whoever sends no credentials."},
	{Name: "metrics", JSONSchema: model.NamesSchema,
		Description: "The roles that may read /-/metrics."},
	{Name: "keys", JSONSchema: model.OptionalSchema(map[string]any{"propertyNames": roleName.JSONSchema(), "additionalProperties": model.With(model.NamesSchema, "minItems", 1)}),
		Description: "The roles that may create, list and revoke API keys at /-/keys, each with a list of the roles that these keys may have."},
	{Name: "rates", JSONSchema: model.OptionalSchema(map[string]any{"additionalProperties": map[string]any{"type": "string", "pattern": "^[1-9][0-9]*/[smh]$"}}),
		Description: "How many requests a caller may send, by role: 10/s, 600/m or 5000/h. Those of the public are counted by address."},
	{Name: "tokens", JSONSchema: model.ObjectSchema(tokenKeys, "audience"),
		Description: "Which JSON Web Tokens are accepted. API keys always are."},
}

// grantKeys are the verbs, and what else can be said of a role in a collection.
var grantKeys = []model.Keyword{
	{Name: "list", JSONSchema: model.FlagSchema,
		Description: "Whether the resources that can be read can be listed."},
	{Name: "read", JSONSchema: ruleSchema,
		Description: "Whether resources can be read: true, or a rule in CEL. Others do not exist for the role."},
	{Name: "create", JSONSchema: ruleSchema,
		Description: "Whether resources can be created: true, or a rule that a new one must meet."},
	{Name: "update", JSONSchema: ruleSchema,
		Description: "Whether resources can be changed: true, or a rule that they must meet before and after."},
	{Name: "delete", JSONSchema: ruleSchema,
		Description: "Whether resources can be deleted: true, or a rule that they must meet."},
	{Name: "changes", JSONSchema: model.FlagSchema,
		Description: "Whether the history of the resources that can be read is shown: former values, and who changed them."},
	{Name: "transitions", JSONSchema: model.OptionalSchema(map[string]any{"additionalProperties": map[string]any{"type": "object", "additionalProperties": ruleSchema}}),
		Description: "Rules of the transitions to a state, by attribute and state, in addition to update: {state: {published: auth.role == 'editor'}}."},
	{Name: "visible", JSONSchema: model.NamesSchema,
		Description: "The attributes that are shown. Default: all. id, type, created_at and updated_at are always shown."},
	{Name: "writable", JSONSchema: model.NamesSchema,
		Description: "The attributes that can be set. Default: those that are visible."},
}

var tokenKeys = []model.Keyword{
	{Name: "issuer", JSONSchema: model.TextSchema,
		Description: "The URL of an OpenID Connect provider, whose keys are discovered, and what the claim iss must be."},
	{Name: "public_key", JSONSchema: model.TextSchema,
		Description: "A file with a public key in PEM, in place of discovery."},
	{Name: "audience", JSONSchema: model.TextSchema,
		Description: "What must be among the claim aud."},
	{Name: "role_claim", JSONSchema: model.With(model.TextSchema, "default", "role"),
		Description: "The claim that gives the role, by its name or in a list. A dot leads into an object: realm_access.roles."},
	{Name: "algorithms", JSONSchema: map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": signingAlgorithms()}},
		Description: "The algorithms that may have signed. Default: RS256, ES256 and EdDSA."},
	{Name: "clock_skew", JSONSchema: model.With(model.TextSchema, "default", "1m"),
		Description: "How far the clocks of the issuer and of this server may be apart, such as 30s."},
}

var parentKeys = []model.Keyword{
	{Name: "collection", JSONSchema: model.ReferenceSchema("collectionName"),
		Description: "The collection of the parents."},
	{Name: "attribute", JSONSchema: model.ReferenceSchema("attributeName"),
		Description: "The attribute with the id of the parent. Default: the singular of the parent and _id. It need not be declared."},
	{Name: "on_delete", JSONSchema: model.OnDeleteSchema,
		Description: "What becomes of the children when their parent is deleted: it cannot be (restrict), they are deleted too (cascade), or they go on without it (set_null)."},
	{Name: "as", JSONSchema: model.ReferenceSchema("attributeName"),
		Description: "The name of the relation to the parent, by which it can be included. Default: the attribute without _id."},
	{Name: "inverse", JSONSchema: model.ReferenceSchema("attributeName"),
		Description: "The name of the relation to the children, by which they can be included. Default: the name of this collection."},
}
