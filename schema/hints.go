package schema

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// keyHints says what to write in place of keys that other tools have, by the first of the keys
// that are known at a place.
var keyHints = map[string]suggest.Hints{
	rootKeys[0].Name: {
		"tables models entities resources":      "write collections",
		"permissions policies rules roles auth": "write access",
		"settings config":                       "write server",
		"title contact license licence":         "write it under info",
		"versions api_version":                  "write version, with the number of the newest one",
		"sunset deprecations":                   "write deprecated, with the versions and the dates on which they end",
	},
	infoKeys[0].Name: {
		"licence":              "write license, as in OpenAPI",
		"name":                 "write title",
		"summary":              "write description",
		"owner author support": "write contact",
		"email url":            "write it under contact",
	},
	collectionKeys[0].Name: {
		"fields columns properties props": "write attributes",
		"indexes indices":                 "write index",
		"belongs_to":                      "write parent",
		"has_many has_one children":       "write parent in the collection of the children",
		"primary_key key id":              "remove it: every resource has an id, which is its key",
		"access permissions policies":     "write access at the top of the file",
		"rules constraints validations":   "write checks for what must hold of the data, and access at the top of the file for rights",
		"name plural table":               "remove it: the name is the key of the collection",
		"created_at updated_at":           "write timestamps",
	},
	model.AttributeKeywords[0].Name: {
		"min gte ge":                     "write minimum for a number, minLength for a string, minItems for an array",
		"max lte le":                     "write maximum for a number, maxLength for a string, maxItems for an array",
		"gt":                             "write exclusiveMinimum",
		"lt":                             "write exclusiveMaximum",
		"length size len max_size limit": "write maxLength for a string, maxItems for an array",
		"step precision decimals":        "write scale for a decimal, and multipleOf, such as 0.01, for a number",
		"nullable null optional allow_null blank":                  "remove it: an attribute that is not in the required of the collection can be null",
		"not_null nonnull mandatory":                               "list the attribute in the required of the collection",
		"values options choices allowed oneof":                     "write enum",
		"regex regexp match":                                       "write pattern",
		"indexed":                                                  "write index",
		"ref reference foreign_key relation belongs_to collection": "write references",
		"desc comment doc help":                                    "write description",
		"primary_key primary":                                      "remove it: every resource has an id, which is its key",
		"fields":                                                   "write properties",
		"element of":                                               "write items",
		"readonly read_only immutable fixed frozen":                "write write_once",
		"generated formula expression calculated derived":          "write computed",
		"states workflow state_machine lifecycle":                  "write enum with the states, and transitions",
		"deprecated removed removed_in sunset last_version":        "write until, with the last version that has the attribute",
		"since added added_in from_version":                        "remove it: earlier versions do not have attributes that were added",
	},
	model.ReferenceKeywords[0].Name: {
		"as inverse": "write it beside references, not inside",
	},
	checkKeys[0].Name: {
		"expression expr condition if check cel": "write rule",
		"error detail text description":          "write message",
		"pointer path field column":              "write attribute",
	},
	grantKeys[0].Name: {
		"get view show select find": "write read",
		"index browse":              "write list",
		"post add insert new":       "write create",
		"put patch edit write save": "write update",
		"remove destroy":            "write delete",
		"fields columns attributes": "write visible, or writable",
		"hidden":                    "write visible, with the attributes that are shown",
		"readonly":                  "write writable, with the attributes that can be set",
		"all any":                   "write [list, read, create, update, delete] in place of the mapping",
	},
}

// booleanHints are the words for booleans that YAML has no more.
var booleanHints = suggest.Hints{"yes on y": "write true", "no off n": "write false"}
