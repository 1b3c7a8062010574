package model

import (
	"strings"

	"github.com/plural-go/plural/internal/suggest"
)

// TypeHints says what to write in place of the types of other languages and databases.
var TypeHints = Hints{
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

// Hints are what to write, by the words that people write instead.
type Hints map[string]string

// Find is what to write in place of a word, "" if nothing is known of it.
func (h Hints) Find(word string) string {
	for words, hint := range h {
		for each := range strings.FieldsSeq(words) {
			if suggest.Bare(each) == suggest.Bare(word) {
				return hint
			}
		}
	}
	return ""
}

// Instead is what to write in place of a word: by the Hints, or else one of the choices.
func Instead[T ~string](word string, h Hints, choices []T) string {
	if hint := h.Find(word); hint != "" {
		return ": " + hint
	}
	return suggest.DidYouMean(word, choices) + ": use " + OneOf(choices)
}
