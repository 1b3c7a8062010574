package openapi

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// relations lists the relations of a collection that the reader may include and filter by.
func (b *builder) relations(c *model.Collection) []*model.Relation {
	return slices.DeleteFunc(slices.Clone(c.Relations()), func(r *model.Relation) bool {
		_, _, may := b.By.Related(r)
		return !may
	})
}

// included lists the relations that the document says can be included.
func (b *builder) included(c *model.Collection) []*model.Relation {
	if b.NoIncludes {
		return nil
	}
	return b.relations(c)
}

// partParameters are those that say what is shown of resources. Of relations only the first level is
// listed; the description tells how the others are written.
func (b *builder) partParameters(c *model.Collection) list {
	all := list{b.fieldsOf(c, c.Name+".fields", "fields", "Attributes to return; `id` and `type` always are. The response then has only these, although its schema requires all.")}
	relations := b.included(c)
	if len(relations) == 0 {
		return all
	}
	names := namesOf(relations)
	all = append(all, b.include(c.Name+".include", "Related resources to embed: "+strings.Join(names, ", ")+". A path such as `"+names[0]+".other` embeds relations of these, at most 3 levels deep. Filters of an included collection are written `include[name][filter][field]`.", names))
	for _, relation := range relations {
		name := "include[" + relation.Name + "]"
		all = append(all, b.fieldsOf(relation.To, c.Name+".fields."+relation.Name, "fields["+relation.Name+"]", "Attributes of the included `"+relation.Name+"` to return."))
		if relation.One {
			continue
		}
		option := func(option, text string, shape object, example any) object {
			return b.inQuery(c.Name+".include."+relation.Name+"."+option, name+"["+option+"]", text, shape, example)
		}
		limit := int64(query.MaxIncluded)
		if b.MaxLimit > 0 {
			limit = min(b.MaxLimit, limit)
		}
		all = append(all,
			option("limit", "How many of the included `"+relation.Name+"`: the first ones, or with a negative number the last ones. Without it, the first 10.", limitSchema(limit), 3),
			option("sort", "Fields that the included `"+relation.Name+"` are sorted by, as in `sort`, with commas between them.", aText, "-id"),
			option("total", "Whether `"+relation.TotalName()+"` is added, the number of all of them.", aFlag, true))
	}
	return all
}

func namesOf(relations []*model.Relation) (names []string) {
	for _, relation := range relations {
		names = append(names, relation.Name)
	}
	return names
}

// include is a parameter that embeds the resources of some relations, and of relations behind them.
func (b *builder) include(component, description string, names []string) object {
	return b.several(component, "include", description,
		object{{"type", "array"}, {"minItems", 1}, {"items", object{{"type", "string"}, {"pattern", "^" + oneOf(names) + `(\.[a-z][a-z0-9_-]*){0,2}$`}}}}, names[0])
}

// fieldsOf is a parameter that selects attributes of a collection.
func (b *builder) fieldsOf(c *model.Collection, component, name, description string) object {
	names := object{{"type", "string"}, {"enum", texts(b.fieldNames(c))}}
	return b.several(component, name, description, object{{"type", "array"}, {"minItems", 1}, {"uniqueItems", true}, {"items", names}}, "id")
}

// addRelations adds what is embedded to the properties of a resource. None of it is required.
func (b *builder) addRelations(properties *object, c *model.Collection) {
	for _, relation := range b.included(c) {
		properties.add(relation.Name, b.embedded(relation))
		if !relation.One && c.Field(relation.TotalName()) == nil && c.Relation(relation.TotalName()) == nil {
			properties.add(relation.TotalName(), object{{"type", "integer"}, {"format", "int64"}, {"minimum", 0}, {"description", "How many there are of `" + relation.Name + "`, if `include[" + relation.Name + "][total]` asks for it."}})
		}
	}
}

// embedded is the schema of what a relation embeds: a resource, or an array of them.
func (b *builder) embedded(relation *model.Relation) object {
	one := b.schemaOf(place{collection: relation.To}, readVariant)
	column := relation.Referring().Columns()[relation.Column].Name
	if relation.One {
		return object{{"description", "The resource that `" + column + "` refers to, if `include` names it; null if there is none."}, {"oneOf", list{one, object{{"type", "null"}}}}}
	}
	return object{{"type", "array"}, {"description", "Resources of " + relation.To.Name + " that refer to this one by `" + column + "`, if `include` names them."}, {"items", one}}
}
