package compile

import (
	"regexp"
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// isFormat reports whether a format is known, or empty.
func isFormat(f model.Format) bool { return f == "" || slices.Contains(model.Formats, f) }

// maxDefinitionDepth bounds how deeply items and properties can be nested.
const maxDefinitionDepth = 32

// attribute checks and compiles the definition of an attribute, or, at a depth
// beyond 1, of a value inside one.
func (k *Checker) attribute(a *model.Attribute, at Path, depth int) {
	before := len(k.Problems)
	switch {
	case depth > maxDefinitionDepth:
		k.Report(at, "definitions can be nested at most %d levels deep", maxDefinitionDepth)
		return
	case a.Type == "":
		k.Report(at.To("type"), "add a type: %s", suggest.OneOf(model.Types))
		return
	case !model.IsType(a.Type):
		hint := suggest.DidYouMean(string(a.Type), model.Types)
		if known := TypeHints.Find(string(a.Type)); known != "" {
			hint = ": " + known
		}
		k.Report(at.To("type"), "type must be %s, but is %q%s", suggest.OneOf(model.Types), a.Type, hint)
		return
	}
	if isFormat(a.Format) {
		a.Constraints().Kind = kindOf(a)
	} else if a.Type == model.String {
		hint := suggest.DidYouMean(string(a.Format), model.Formats)
		if known := formatHints.Find(string(a.Format)); known != "" {
			hint = ": " + known
		}
		k.Report(at.To("format"), "format must be %s, but is %q%s", suggest.OneOf(model.Formats), a.Format, hint)
	}
	k.keywords(a, at, depth > 1)
	if a.Scale < 0 || a.Scale > model.MaxDecimalDigits {
		k.Report(at.To("scale"), "scale must be between 0 and %d, the number of digits that a decimal has", model.MaxDecimalDigits)
	}
	k.counts(a.MinLength, a.MaxLength, at, "minLength", "maxLength")
	k.counts(a.MinItems, a.MaxItems, at, "minItems", "maxItems")
	if a.ContentMediaType != "" && a.ContentMediaType != model.Markdown {
		k.Report(at.To("contentMediaType"), "contentMediaType must be %s, but is %q: leave it out for other texts", model.Markdown, a.ContentMediaType)
	}
	k.pattern(a, at.To("pattern"))
	k.bounds(a, at)
	k.nested(a, at, depth)
	// Constants are checked by the rest of the definition, so it must be valid.
	if len(k.Problems) == before {
		k.constants(a, at)
	}
}

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
	"markdown md richtext":              "write type: string and contentMediaType: text/markdown",
	"null":                              "write the type of the values that are not null; what is not in required can be null",
}

// formatHints says what to write in place of formats that are none here.
var formatHints = suggest.Hints{
	"markdown md text/markdown": "write contentMediaType: text/markdown, without a format",
}

// keywords reports keywords that do not belong to the type of the attribute, or to its place.
func (k *Checker) keywords(a *model.Attribute, at Path, nested bool) {
	for _, key := range model.AttributeKeywords {
		if !key.Given(a) {
			continue
		}
		keyword := key.Name
		if nested && key.OnlyAttributes {
			k.Report(at.To(keyword), "%s belongs to the attributes of a collection, and not inside them: remove it", keyword)
		} else if key.Decimals && a.Format == model.Decimal && a.Type == model.String {
			continue
		} else if key.OnlyDecimals {
			k.Report(at.To(keyword), "%s belongs to decimals: add format: decimal, or remove it", keyword)
		} else if key.NoDecimals && a.Format == model.Decimal {
			k.Report(at.To(keyword), "%s does not belong to decimals, which are compared as numbers: remove it, or use minimum and maximum", keyword)
		} else if key.Types != nil && !slices.Contains(key.Types, a.Type) {
			k.Report(at.To(keyword), "%s belongs to %s, and this is %s: remove it, or change the type", keyword, plurals(key.Types), suggest.Article(string(a.Type)))
		}
	}
}

func plurals(types []model.Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t) + "s"
	}
	return suggest.OneOf(names)
}

// counts checks a pair of bounds on a length.
func (k *Checker) counts(least, most int, at Path, leastName, mostName string) {
	switch {
	case least < 0:
		k.Report(at.To(leastName), "%s cannot be negative", leastName)
	case most < 0:
		k.Report(at.To(mostName), "%s must be 1 or more", mostName)
	case most > 0 && least > most:
		k.Report(at.To(mostName), "%s is %d and so less than %s, which is %d: nothing would be valid", mostName, most, leastName, least)
	}
}

func (k *Checker) pattern(a *model.Attribute, at Path) {
	if a.Pattern == "" {
		return
	}
	compiled, err := regexp.Compile(a.Pattern)
	if err != nil {
		k.Report(at, "the pattern is no regular expression in RE2 syntax, which has no look-around and no back-references: %s", regexpProblem(err))
		return
	}
	a.Constraints().Pattern = compiled
}

func (k *Checker) nested(a *model.Attribute, at Path, depth int) {
	if a.Items != nil {
		k.attribute(a.Items, at.To("items"), depth+1)
	}
	for i := range a.Properties {
		property := &a.Properties[i]
		place := at.To("properties", property.Name)
		if a.Property(property.Name) != property {
			k.Report(place, "the property %s is declared twice: remove one of them, or rename it", property.Name)
		}
		k.attribute(property, place, depth+1)
	}
}
