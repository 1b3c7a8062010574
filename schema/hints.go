package schema

import (
	"strings"

	"github.com/plural-go/plural/internal/suggest"
)

// typeHints says what to write in place of the types of other languages and databases.
var typeHints = hints{
	"datetime timestamp date-time time": "write type: string and format: date-time",
	"date":                              "write type: string and format: date",
	"uuid guid":                         "write type: string and format: uuid",
	"email mail":                        "write type: string and format: email",
	"uri url link":                      "write type: string and format: uri",
	"enum":                              "write type: string and enum: [a, b]",
	"text str varchar char":             "write type: string",
	"int int32 int64 long bigint":       "write type: integer",
	"float float64 double real":         "write type: number",
	"decimal numeric money currency":    "write type: string, format: decimal and scale: 2",
	"bool":                              "write type: boolean",
	"json jsonb map dict hash struct":   "write type: object",
	"list slice set":                    "write type: array",
	"ref reference relation":            "write references: and the name of a collection, without a type",
	"null":                              "write the type of the values that are not null; what is not in required can be null",
}

// keyHints says what to write in place of keys that other tools have, by the first of the keys
// that are known at a place.
var keyHints = map[string]hints{
	rootKeys[0].name: {
		"tables models entities resources":      "write collections",
		"permissions policies rules roles auth": "write access",
		"settings config":                       "write server",
	},
	collectionKeys[0].name: {
		"fields columns properties props":   "write attributes",
		"indexes indices":                   "write index",
		"belongs_to":                        "write parent",
		"has_many has_one children":         "write parent in the collection of the children",
		"primary_key key id":                "remove it: every resource has an id, which is its key",
		"access permissions rules policies": "write access at the top of the file",
		"name plural table":                 "remove it: the name is the key of the collection",
		"created_at updated_at":             "write timestamps",
	},
	attributeKeys[0].name: {
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
		"initial":                                                  "write default",
	},
	grantKeys[0].name: {
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
var booleanHints = hints{"yes on y": "write true", "no off n": "write false"}

// hints are what to write, by the words that people write instead.
type hints map[string]string

// find is what to write in place of a word, "" if nothing is known of it.
func (h hints) find(word string) string {
	for words, hint := range h {
		for each := range strings.FieldsSeq(words) {
			if suggest.Bare(each) == suggest.Bare(word) {
				return hint
			}
		}
	}
	return ""
}

// instead is what to write in place of a word: by the hints, or else one of the choices.
func instead[T ~string](word string, h hints, choices []T) string {
	if hint := h.find(word); hint != "" {
		return ": " + hint
	}
	return suggest.DidYouMean(word, choices) + ": use " + oneOf(choices)
}
