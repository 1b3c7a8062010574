package compile

import "github.com/plural-go/plural/internal/suggest"

// TypeHints says what to write in place of the types of other languages and databases.
var TypeHints = suggest.Hints{
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
