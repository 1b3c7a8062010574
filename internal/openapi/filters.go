package openapi

import (
	"regexp"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// furtherFilters is the filters that are too many to be declared one by one: groups, values inside
// objects, and fields of related resources. It is one object, whose members are parameters of their
// own.
func (b *builder) furtherFilters(c *model.Collection) object {
	return b.parameter(c.Name+".filters", func() object {
		var names, prefixes []string
		for _, field := range b.fields(c) {
			names = append(names, regexp.QuoteMeta(field.Name))
			if a := definitionOf(c, field); a != nil && len(a.Properties) > 0 {
				prefixes = append(prefixes, field.Name)
			}
		}
		text := "Further filters, each as a parameter of its own. `filter[any][0][field]=value`: conditions with the same number must all hold, and those of one number at least."
		if len(prefixes) > 0 {
			text += " `filter[" + prefixes[0] + ".property]=value`: a declared property of an object."
		}
		for i, relation := range b.relations(c) {
			if i == 0 {
				text += " `filter[" + relation.Name + ".field]=value`: a field of a related resource, through one or two relations."
			}
			prefixes = append(prefixes, relation.Name)
		}
		field := strings.Join(names, "|")
		pattern := `any\]\[[0-9]{1,2}\]\[(` + field + `)`
		if len(prefixes) > 0 {
			dotted := `(` + strings.Join(prefixes, "|") + `)\.[^\[\]]+`
			pattern = `any\]\[[0-9]{1,2}\]\[(` + field + `|` + dotted + `)|` + dotted
		}
		pattern = `^filter\[(` + pattern + `)\](\[(` + strings.Join(query.AllOperators(), "|") + `)\])?$`
		return object{
			{"name", "filters"}, {"in", "query"}, {"description", text + " The operators are those of other filters."},
			{"style", "form"}, {"explode", true},
			{"schema", object{{"type", "object"}, {"propertyNames", object{{"pattern", pattern}}}, {"additionalProperties", object{{"type", "string"}}}}},
		}
	})
}
