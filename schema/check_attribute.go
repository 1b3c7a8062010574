package schema

import (
	"regexp"
	"slices"

	"github.com/plural-go/plural/internal/suggest"
)

var (
	types   = []Type{String, Integer, Number, Boolean, Object, Array}
	formats = []Format{Email, URI, UUID, Date, DateTime, Decimal}
)

func isType(t Type) bool { return slices.Contains(types, t) }

// isFormat accepts the empty format, which is none.
func isFormat(f Format) bool { return f == "" || slices.Contains(formats, f) }

// maxDefinitionDepth bounds how deeply items and properties can be nested.
const maxDefinitionDepth = 32

// attribute checks and compiles the definition of an attribute, or, at a depth
// beyond 1, of a value inside one.
func (k *checker) attribute(a *Attribute, at path, depth int) {
	before := len(k.problems)
	switch {
	case depth > maxDefinitionDepth:
		k.report(at, "definitions can be nested at most %d levels deep", maxDefinitionDepth)
		return
	case a.Type == "":
		k.report(at.to("type"), "add a type: %s", oneOf(types))
		return
	case !isType(a.Type):
		hint := suggest.DidYouMean(string(a.Type), types)
		if known := typeHints.find(string(a.Type)); known != "" {
			hint = ": " + known
		}
		k.report(at.to("type"), "type must be %s, but is %q%s", oneOf(types), a.Type, hint)
		return
	}
	if isFormat(a.Format) {
		a.kind = kindOf(a)
	} else if a.Type == String {
		k.report(at.to("format"), "format must be %s, but is %q%s", oneOf(formats), a.Format, suggest.DidYouMean(string(a.Format), formats))
	}
	k.keywords(a, at, depth > 1)
	if a.Scale < 0 || a.Scale > MaxDecimalDigits {
		k.report(at.to("scale"), "scale must be between 0 and %d, the number of digits that a decimal has", MaxDecimalDigits)
	}
	k.counts(a.MinLength, a.MaxLength, at, "minLength", "maxLength")
	k.counts(a.MinItems, a.MaxItems, at, "minItems", "maxItems")
	k.pattern(a, at.to("pattern"))
	k.bounds(a, at)
	k.nested(a, at, depth)
	// Constants are judged by the rest of the definition, so it must be right.
	if len(k.problems) == before {
		k.constants(a, at)
	}
}

// keywords finds what does not belong to the type of the attribute, or to its place.
func (k *checker) keywords(a *Attribute, at path, nested bool) {
	for _, keyword := range a.given() {
		key := findKey(attributeKeys, keyword)
		if nested && key.onlyAttributes {
			k.report(at.to(keyword), "%s belongs to the attributes of a collection, and not inside them: remove it", keyword)
		} else if key.decimals && a.Format == Decimal && a.Type == String {
			continue
		} else if key.onlyDecimals {
			k.report(at.to(keyword), "%s belongs to decimals: add format: decimal, or remove it", keyword)
		} else if key.noDecimals && a.Format == Decimal {
			k.report(at.to(keyword), "%s does not belong to decimals, which are compared as numbers: remove it, or use minimum and maximum", keyword)
		} else if key.types != nil && !slices.Contains(key.types, a.Type) {
			k.report(at.to(keyword), "%s belongs to %s, and this is %s: remove it, or change the type", keyword, plurals(key.types), article(string(a.Type)))
		}
	}
}

// given lists the keywords that the attribute has, and that not every one can have.
func (a *Attribute) given() []string {
	var names []string
	for _, keyword := range []struct {
		name  string
		given bool
	}{
		{"format", a.Format != ""},
		{"minLength", a.MinLength != 0},
		{"maxLength", a.MaxLength != 0},
		{"pattern", a.Pattern != ""},
		{"scale", a.Scale != 0},
		{"minimum", a.Minimum != ""},
		{"maximum", a.Maximum != ""},
		{"exclusiveMinimum", a.ExclusiveMinimum != ""},
		{"exclusiveMaximum", a.ExclusiveMaximum != ""},
		{"multipleOf", a.MultipleOf != ""},
		{"items", a.Items != nil},
		{"minItems", a.MinItems != 0},
		{"maxItems", a.MaxItems != 0},
		{"properties", a.Properties != nil},
		{"additionalProperties", a.Closed},
		{"default", a.Default != nil},
		{"unique", a.Unique},
		{"index", a.Index},
		{"references", a.References != nil},
		{"renamed_from", a.RenamedFrom != ""},
	} {
		if keyword.given {
			names = append(names, keyword.name)
		}
	}
	return names
}

func plurals(types []Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t) + "s"
	}
	return oneOf(names)
}

// counts checks a pair of bounds on a length.
func (k *checker) counts(least, most int, at path, leastName, mostName string) {
	switch {
	case least < 0:
		k.report(at.to(leastName), "%s cannot be negative", leastName)
	case most < 0:
		k.report(at.to(mostName), "%s must be 1 or more", mostName)
	case most > 0 && least > most:
		k.report(at.to(mostName), "%s is %d and so less than %s, which is %d: nothing would be valid", mostName, most, leastName, least)
	}
}

func (k *checker) pattern(a *Attribute, at path) {
	if a.Pattern == "" {
		return
	}
	compiled, err := regexp.Compile(a.Pattern)
	if err != nil {
		k.report(at, "the pattern is no regular expression in RE2 syntax, which has no look-around and no back-references: %s", regexpProblem(err))
		return
	}
	a.pattern = compiled
}

func (k *checker) nested(a *Attribute, at path, depth int) {
	if a.Items != nil {
		k.attribute(a.Items, at.to("items"), depth+1)
	}
	for i := range a.Properties {
		property := &a.Properties[i]
		place := at.to("properties", property.Name)
		if a.property(property.Name) != property {
			k.report(place, "the property %s is declared twice: remove one of them, or rename it", property.Name)
		}
		k.attribute(property, place, depth+1)
	}
}
