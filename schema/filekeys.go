package schema

import "slices"

// key is one key of the schema file: what the parser knows, and what editors
// are told about it.
type key struct {
	name        string
	description string
	shape       map[string]any // JSON Schema of its value

	// Keys of attributes: the types they belong to (none: all), and whether
	// they are not for the values inside an attribute.
	types          []Type
	onlyAttributes bool

	// Keys of attributes that belong to decimals too, only to them, or not to them,
	// although these are strings.
	decimals, onlyDecimals, noDecimals bool
}

var rootKeys = []key{
	{name: "collections", shape: referenceShape("collections"),
		description: "The collections of resources, by name. Each name is a plural, such as users, and the first part of a path: /users."},
	{name: "access", shape: referenceShape("access"),
		description: "Who may do what. Without it the server is open, and listens on this machine only."},
	{name: "server", shape: referenceShape("server"),
		description: "Settings of the server. Environment variables and flags come before them."},
}

var collectionKeys = []key{
	{name: "description", shape: textShape,
		description: "What the collection holds. Shown in the documentation of the API."},
	{name: "attributes", shape: optionalShape(map[string]any{"propertyNames": referenceShape("attributeName"), "additionalProperties": referenceShape("attribute")}),
		description: "The attributes of a resource, in the order in which they are shown. id, type, created_at and updated_at are always there."},
	{name: "required", shape: namesShape,
		description: "Attributes that must have a value other than null. A default provides one."},
	{name: "unique", shape: groupListShape,
		description: "Attributes, or lists of them, whose values no two resources share. Strings without a format that bounds them need a maxLength."},
	{name: "index", shape: groupListShape,
		description: "Attributes, or lists of them, that are often filtered or sorted by. Strings without a format that bounds them need a maxLength."},
	{name: "parent", shape: nameOrShape(parentKeys, "collection"),
		description: "Makes this a sub-collection, /users/<id>/posts, with an attribute for the id of the parent."},
	{name: "singular", shape: referenceShape("collectionName"),
		description: "The name of one of them. Default: derived from the name of the collection by the rules of English."},
	{name: "timestamps", shape: with(flagShape, "default", true),
		description: "Whether resources have created_at and updated_at."},
	{name: "require_if_match", shape: with(flagShape, "default", false),
		description: "Whether PUT, PATCH and DELETE must say by If-Match which state of the resource they change."},
	{name: "async", shape: map[string]any{"oneOf": []any{flagShape, map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": WriteMethods()}}}},
		description: "Whether writes are accepted and done later: all of them (true), or those of a list of methods. An array of resources is always created at once."},
	{name: "renamed_from", shape: referenceShape("collectionName"),
		description: "The name that the collection had before. A migration keeps its resources then."},
}

var accessKeys = []key{
	{name: "roles", shape: optionalShape(map[string]any{"propertyNames": nameShape(roleName), "additionalProperties": referenceShape("role")}),
		description: "What each role may do, by collection. What no role is granted is denied. The role public is whoever sends no credentials."},
	{name: "metrics", shape: namesShape,
		description: "The roles that may read /-/metrics."},
	{name: "rates", shape: optionalShape(map[string]any{"additionalProperties": map[string]any{"type": "string", "pattern": "^[1-9][0-9]*/[smh]$"}}),
		description: "How many requests a caller may send, by role: 10/s, 600/m or 5000/h. Those of the public are counted by address."},
	{name: "tokens", shape: objectShape(tokenKeys, "audience"),
		description: "Which JSON Web Tokens are accepted. API keys always are."},
}

// grantKeys are the verbs, and what else can be said of a role in a collection.
var grantKeys = []key{
	{name: "list", shape: flagShape,
		description: "Whether the resources that can be read can be listed."},
	{name: "read", shape: ruleShape,
		description: "Whether resources can be read: true, or a rule in CEL. Others do not exist for the role."},
	{name: "create", shape: ruleShape,
		description: "Whether resources can be created: true, or a rule that a new one must meet."},
	{name: "update", shape: ruleShape,
		description: "Whether resources can be changed: true, or a rule that they must meet before and after."},
	{name: "delete", shape: ruleShape,
		description: "Whether resources can be deleted: true, or a rule that they must meet."},
	{name: "visible", shape: namesShape,
		description: "The attributes that are shown. Default: all. id, type, created_at and updated_at are always shown."},
	{name: "writable", shape: namesShape,
		description: "The attributes that can be set. Default: those that are visible."},
}

var tokenKeys = []key{
	{name: "issuer", shape: textShape,
		description: "The URL of an OpenID Connect provider, whose keys are discovered, and what the claim iss must be."},
	{name: "public_key", shape: textShape,
		description: "A file with a public key in PEM, in place of discovery."},
	{name: "audience", shape: textShape,
		description: "What must be among the claim aud."},
	{name: "role_claim", shape: with(textShape, "default", "role"),
		description: "The claim that gives the role, by its name or in a list. A dot leads into an object: realm_access.roles."},
	{name: "algorithms", shape: map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": SigningAlgorithms()}},
		description: "The algorithms that may have signed. Default: RS256, ES256 and EdDSA."},
	{name: "clock_skew", shape: with(textShape, "default", "1m"),
		description: "How far the clocks of the issuer and of this server may be apart, such as 30s."},
}

var parentKeys = []key{
	{name: "collection", shape: referenceShape("collectionName"),
		description: "The collection of the parents."},
	{name: "attribute", shape: referenceShape("attributeName"),
		description: "The attribute with the id of the parent. Default: the singular of the parent and _id. It need not be declared."},
	{name: "on_delete", shape: onDeleteShape,
		description: "What becomes of the children when their parent is deleted: it cannot be (restrict), they are deleted too (cascade), or they go on without it (set_null)."},
}

var referenceKeys = []key{
	{name: "collection", shape: referenceShape("collectionName"),
		description: "The collection that the attribute refers to."},
	{name: "on_delete", shape: onDeleteShape,
		description: "What becomes of the resource when the one it refers to is deleted: that cannot be (restrict), it is deleted too (cascade), or the attribute becomes null (set_null)."},
}

var attributeKeys = []key{
	{name: "type", shape: map[string]any{"enum": types},
		description: "The type of the value. Nothing is converted: \"1\" is no integer. Any attribute that is not required can also be null."},
	{name: "format", shape: map[string]any{"enum": formats}, types: []Type{String},
		description: "What the string must be. It is checked."},
	{name: "description", shape: textShape,
		description: "What the attribute means. Shown in the documentation of the API."},
	{name: "minLength", shape: countShape(0), types: []Type{String}, noDecimals: true,
		description: "The least number of characters."},
	{name: "maxLength", shape: countShape(1), types: []Type{String}, noDecimals: true,
		description: "The greatest number of characters. Needed for unique and index, unless the format bounds it."},
	{name: "pattern", shape: textShape, types: []Type{String}, noDecimals: true,
		description: "A regular expression in RE2 syntax that must match somewhere in the string; use ^ and $ to match all of it."},
	{name: "scale", shape: map[string]any{"type": "integer", "minimum": 0, "maximum": MaxDecimalDigits}, types: []Type{String}, decimals: true, onlyDecimals: true,
		description: "How many digits a decimal has behind the point, 2 for most money. All its digits together are at most 18."},
	{name: "enum", shape: map[string]any{"type": "array", "minItems": 1, "uniqueItems": true, "items": notNullShape},
		description: "The only values allowed."},
	{name: "minimum", shape: decimalShape, types: []Type{Integer, Number}, decimals: true,
		description: "The least value allowed."},
	{name: "maximum", shape: decimalShape, types: []Type{Integer, Number}, decimals: true,
		description: "The greatest value allowed."},
	{name: "exclusiveMinimum", shape: decimalShape, types: []Type{Integer, Number}, decimals: true,
		description: "Values must be greater than this."},
	{name: "exclusiveMaximum", shape: decimalShape, types: []Type{Integer, Number}, decimals: true,
		description: "Values must be less than this."},
	{name: "multipleOf", shape: with(decimalShape, "exclusiveMinimum", 0), types: []Type{Integer, Number}, decimals: true,
		description: "Values must be this number times an integer."},
	{name: "items", shape: referenceShape("definition"), types: []Type{Array},
		description: "What each item of the array must be. Default: anything."},
	{name: "minItems", shape: countShape(0), types: []Type{Array},
		description: "The least number of items."},
	{name: "maxItems", shape: countShape(1), types: []Type{Array},
		description: "The greatest number of items."},
	{name: "properties", shape: optionalShape(map[string]any{"additionalProperties": referenceShape("definition")}), types: []Type{Object},
		description: "The members of the object. Others are allowed too, unless additionalProperties is false."},
	{name: "required", shape: namesShape, types: []Type{Object},
		description: "Members that the object must have. An attribute itself is required by the list of its collection."},
	{name: "additionalProperties", shape: with(flagShape, "default", true), types: []Type{Object},
		description: "Whether the object can have members that are not in properties."},
	{name: "default", shape: notNullShape, onlyAttributes: true,
		description: "The value of the attribute when a new resource is sent without it."},
	{name: "unique", shape: flagShape, onlyAttributes: true, types: []Type{String, Integer, Number, Boolean},
		description: "Whether no two resources can have the same value. A string then needs a maxLength, or a format that bounds it."},
	{name: "index", shape: flagShape, onlyAttributes: true, types: []Type{String, Integer, Number, Boolean},
		description: "Whether there is an index, which makes filters and sorting fast. A string then needs a maxLength, or a format that bounds it."},
	{name: "references", shape: nameOrShape(referenceKeys, "collection"), onlyAttributes: true,
		description: "The collection whose ids the attribute holds. Type and format can be left out."},
	{name: "renamed_from", shape: referenceShape("attributeName"), onlyAttributes: true,
		description: "The name that the attribute had before. A migration keeps its values then."},
}

// definitionKeys are the keys of a value inside an attribute.
var definitionKeys = slices.DeleteFunc(slices.Clone(attributeKeys), func(k key) bool { return k.onlyAttributes })

func findKey(keys []key, name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func keyNames(keys []key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}
