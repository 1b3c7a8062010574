package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// definitionOf is the definition of a field, nil if it has none.
func definitionOf(c *model.Collection, field *model.Field) *model.Attribute {
	if field.Column == model.NoColumn {
		return nil
	}
	return c.Columns()[field.Column].Attribute
}

func operatorsOf(c *model.Collection, field *model.Field) []string {
	return query.Operators(field.Kind, definitionOf(c, field), slices.Contains(c.SearchColumns(), field.Column))
}

// filterPrefix is the component of the plain filter of a field, with which those of its operators begin. Filters are components
// if several operations have them: those of fields that every collection has, and those of the change log. Of others it is empty.
func (b *builder) filterPrefix(c *model.Collection, field *model.Field) string {
	switch {
	case definitionOf(c, field) == nil:
		return "filter." + field.Name
	case c == b.schema.Changes():
		return c.Name + ".filter." + field.Name
	}
	return ""
}

// conditions is the search and all filters of a collection, the latter as one parameter: a document of many collections would be
// mostly filters if each operation had them one by one.
func (b *builder) conditions(c *model.Collection) list {
	return append(b.search(c), b.anyFilter(c))
}

// fieldFilters is the filters of fields one by one, with the types of their values.
func (b *builder) fieldFilters(c *model.Collection) list {
	var all list
	for _, field := range b.fields(c) {
		all = append(all, b.filters(c, field)...)
	}
	return all
}

// search lists the parameter of a collection in which the reader can search.
func (b *builder) search(c *model.Collection) list {
	var names []string
	for _, name := range c.SearchNames(b.By.Visible(c)) {
		names = append(names, "`"+name+"`")
	}
	if len(names) == 0 {
		return nil
	}
	text := fmt.Sprintf("Each of these words is the beginning of a word in %s. Case and accents do not matter. At most %d words.", strings.Join(names, " or "), query.MaxWords)
	return list{b.inQuery(c.Name+".search", "search", text, searchSchema, "ada lov")}
}

// searchSchema is a text with words.
var searchSchema = object{{"type", "string"}, {"maxLength", query.MaxSearch}, {"pattern", `[\p{L}\p{N}]`}}

// filters lists the parameters by which a field can be filtered.
func (b *builder) filters(c *model.Collection, field *model.Field) list {
	prefix, jsonSchema := b.filterPrefix(c, field), b.choiceSchema(c, field)
	of := func(suffix string, make func() object) object {
		if prefix == "" {
			return make()
		}
		return b.parameter(prefix+suffix, make)
	}
	all := list{of("", func() object { return plainFilter(field, jsonSchema) })}
	for _, op := range operatorsOf(c, field) {
		all = append(all, of("."+op, func() object { return operatorFilter(field, op, jsonSchema, definitionOf(c, field).ScalarItems()) }))
	}
	return all
}

func plainFilter(field *model.Field, value object) object {
	jsonSchema := valuesOf(value)
	text := fmt.Sprintf("`%s` is this, or one of these; without `=`, not null.", field.Name)
	switch field.Kind {
	case model.KindBoolean:
		text = fmt.Sprintf("`%s` is this; without a value, true.", field.Name)
	case model.KindJSON:
		text = fmt.Sprintf("`%s` is not null. Written without `=`.", field.Name)
		jsonSchema = object{{"type", "array"}, {"items", aText}, {"maxItems", 0}}
	}
	return object{
		{"name", "filter[" + field.Name + "]"}, {"in", "query"}, {"description", text},
		{"allowEmptyValue", true}, {"schema", jsonSchema},
	}
}

// opTexts says when a filter holds.
var opTexts = map[string]string{
	"eq": "equals this", "ne": "does not equal this, or is null",
	"lt": "is less than this", "lte": "is at most this", "gt": "is more than this", "gte": "is at least this",
	"in": "is one of these. " + commaText, "not_in": "is none of these, or is null. " + commaText,
	"has": "has this item, or one of these", "has_all": "has all of these items. " + commaText,
	"contains": "contains this, with the same upper and lower case", "starts_with": "starts with this, with the same upper and lower case",
	"search": "has words that begin with each of these words, in upper or lower case, with or without accents", "null": "is null, or with `false` is not",
}

// commaText says how the values of a list are written in one parameter.
const commaText = "In one parameter with commas between them, `\\,` within a value"

// operatorFilter is the parameter of an operator. Items is the definition of the items of an array.
func operatorFilter(field *model.Field, op string, value object, items *model.Attribute) object {
	filter := object{
		{"name", "filter[" + field.Name + "][" + op + "]"}, {"in", "query"},
		{"description", "`" + field.Name + "` " + opTexts[op] + "."},
	}
	switch op {
	case "in", "not_in":
		return append(filter, member{"schema", valuesOf(value)})
	case "has":
		return append(filter, member{"schema", valuesOf(valueSchema(items.Kind(), false))})
	case "has_all":
		value = aText
	case "null":
		value = aFlag
	case "contains", "starts_with":
		value = object{{"type", "string"}, {"maxLength", query.MaxPart}}
	case "search":
		value = searchSchema
	case "lt", "lte", "gt", "gte":
		value = valueSchema(field.Kind, false)
	}
	return append(filter, member{"schema", value})
}

// valuesOf is the schema of the values of one filter.
func valuesOf(value object) object {
	return object{{"type", "array"}, {"minItems", 1}, {"maxItems", query.MaxValues}, {"items", value}}
}

// anyFilter is all filters of a collection: also groups, values inside objects, and fields of related resources, which are too many
// to be declared one by one.
func (b *builder) anyFilter(c *model.Collection) object {
	return b.openParameter(c.Name+".filters", "filters", func() (text, pattern string) {
		const number = `(any\]\[[0-9]{1,2}\]\[)?`
		operators := oneOf(query.AllOperators())
		text = "All filters, each as a parameter of its own. `filter[field]=value` and `filter[field][operator]=value`: those that `GET /" + c.Name + "` has one by one. `filter[any][0][field]=value`: conditions with the same number must all hold, and those of one number at least."
		objects, many, counts := b.objects(c), b.relationNames(c, false), b.counts(c)
		if len(objects) > 0 {
			text += " `filter[" + objects[0] + ".property]=value`: a declared property of an object."
		}
		related := append(b.relationNames(c, true), many...)
		names := slices.Concat(b.fieldNames(c), pathPatterns(`\.[^\[\]]+`, objects, related), counts)
		pattern = number + oneOf(names) + `\](\[` + operators + `\])?`
		if len(related) > 0 {
			text += " `filter[" + related[0] + ".field]=value`: a field of a related resource, through one or two relations. `filter[" + related[0] + "][exists]=false`: there is no related resource."
			pattern += "|" + number + oneOf(related) + `\]\[exists\]`
		}
		if len(many) > 0 {
			text += " `filter[some][0][" + many[0] + ".field]=value`: one of `" + many[0] + "` fulfils all conditions with the same number; with `none`, none does."
			pattern += `|(some|none)\]\[[0-7]\]\[` + oneOf(many) + `\.[^\[\]]+\](\[` + operators + `\])?`
		}
		if counts != nil {
			text += " `filter[count." + many[0] + "][gte]=1`: how many of `" + many[0] + "` there are."
		}
		return text + " The operators are those of other filters.", `filter\[(` + pattern + `)`
	})
}

// choiceSchema is what a filter can ask to be equal: of changes, only kinds and collections that
// there are for the caller.
func (b *builder) choiceSchema(c *model.Collection, field *model.Field) object {
	jsonSchema := valueSchema(field.Kind, false)
	if c != b.schema.Changes() {
		if a := definitionOf(c, field); a != nil {
			enum := choices(a, false, false)
			jsonSchema.addIf(enum != nil, "enum", enum)
		}
		return jsonSchema
	}
	switch field.Name {
	case "kind":
		return append(jsonSchema, member{"enum", list{"created", "updated", "deleted"}})
	case model.ChangeCollection:
		var names list
		for _, each := range b.schema.Collections() {
			if b.By.MayKnow(each) {
				names = append(names, each.Name)
			}
		}
		return append(jsonSchema, member{"enum", names})
	}
	return jsonSchema
}
