package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// groups is the paths of the groups of collections.
func (b *builder) groups() object {
	paths := object{}
	for _, c := range b.schema.All() {
		p := place{collection: c}
		o, may := b.begin(schema.MayList, p, "Group", true) // statusIn knows the id by this word
		if !may {
			continue
		}
		o.queried = true
		o.description = "Groups of the resources that pass the filters, with the number of resources of each group, and with sums, averages, least and greatest values of fields, and numbers of different values. Null values are not part of these. At most " + fmt.Sprint(query.MaxGroupValues) + " such values can be asked for."
		o.parameters = append(b.groupParameters(c), b.shared("Prefer-Count"), b.shared("If-Match"), b.shared("If-None-Match"))
		o.responses = object{{"200", b.grouped(c)}, {"304", b.unchanged()}}
		o.codes = append(b.ofList(p), problem.CodeOutOfRange)
		paths.add("/-/groups/"+c.Name, object{{"get", b.describe(o)}})
	}
	return paths
}

// groupKeys lists what the reader can group a collection by, with the kind of the values.
func (b *builder) groupKeys(c *model.Collection) (names []string, kinds []model.Kind) {
	for _, field := range b.fields(c) {
		if field.Kind == model.KindJSON || field.Column == model.NoColumn {
			continue
		}
		names, kinds = append(names, field.Name), append(kinds, field.Kind)
		for _, unit := range query.Units(field.Kind) {
			names, kinds = append(names, field.Name+":"+string(unit)), append(kinds, field.Kind)
		}
	}
	return names, kinds
}

// groupPaths is the pattern of keys through references, or nothing if there are none.
func (b *builder) groupPaths(c *model.Collection) []string {
	return pathPatterns(`(\.[a-z][a-z0-9_]*){1,2}(:[a-z]+)?`, b.relationNames(c, true))
}

// groupIncluded lists the relations whose resources groups can include.
func (b *builder) groupIncluded(c *model.Collection) []*model.Relation {
	return slices.DeleteFunc(b.included(c), func(r *model.Relation) bool { return !r.One || query.IsMember(r.Name) })
}

// groupParameters is all that groups can be asked by.
func (b *builder) groupParameters(c *model.Collection) list {
	keys, _ := b.groupKeys(c)
	paths, text := b.groupPaths(c), ""
	if paths != nil {
		text = " `" + b.relationNames(c, true)[0] + ".field` is a field of the resource that is referred to, through one or two references."
	}
	all := list{b.several(c.Name+".by", "by", "Fields whose values make the groups. Dates and date-times can be truncated, in UTC; a week is its Monday, a quarter its first day."+text+" Without it, all resources are one group.", keysOf(keys, paths, false, query.MaxGroupKeys), keys[0])}
	values := []string{"count"}
	for _, function := range query.Functions {
		fields := b.groupFields(c, function)
		if len(fields) == 0 {
			continue
		}
		all = append(all, b.several(c.Name+"."+string(function), string(function), functionTexts[function], someOf(fields, query.MaxGroupValues), fields[0]))
		for _, field := range fields {
			values = append(values, string(function)+`\.`+field)
		}
	}
	keys = append(slices.DeleteFunc(keys, func(key string) bool { return key == values[0] }), values[0]) // a field named count cannot be sorted by
	all = append(all, b.several(c.Name+".groups.sort", "sort", "Keys to sort by, downwards with a minus before the name: `count`, which is the number of resources, what `by` has, and values that are asked for, such as `-sum.price`. Groups that are equal in these are in the order of `by`.",
		keysOf(keys, append(paths, values[1:]...), true, query.MaxGroupKeys+query.MaxGroupValues+1), values[0]))
	all = append(all, b.having(c, values))
	if relations := b.groupIncluded(c); len(relations) > 0 {
		names := namesOf(relations)
		all = append(all, b.include(c.Name+".groups.include",
			"The resources to which keys of the groups refer: `"+names[0]+"` with `by="+c.Columns()[relations[0].Column].Name+"`. Relations of these are embedded as in lists.", names))
	}
	all = append(all, b.shared("offset"), b.shared("o"), b.limit("limit"), b.limit("l"))
	return append(all, b.conditions(c)...)
}

// having says which groups are kept.
func (b *builder) having(c *model.Collection, values []string) object {
	return b.openParameter(c.Name+".having", "having", func() (text, pattern string) {
		return "Which groups are kept, each condition as a parameter of its own: `having[count][gte]=2`, and `having[sum.price][gt]=1000` for values that are asked for. The operators are " + strings.Join(query.HavingOperators, ", ") + ".",
			`having\[` + oneOf(values) + `\](\[` + oneOf(query.HavingOperators) + `\])?`
	})
}

var functionTexts = map[query.Function]string{
	query.Sum: "Fields whose values are added up. Sums of integers and decimals are exact; 400 if one is out of range.",
	query.Avg: "Fields whose average is computed, as a number; null if no resource has a value.",
	query.Min: "Fields whose least value is found; null if no resource has a value.",
	query.Max: "Fields whose greatest value is found; null if no resource has a value.",

	query.Distinct: "Fields whose different values are counted, without null.",
}

// groupFields lists the fields of which a function computes values.
func (b *builder) groupFields(c *model.Collection, function query.Function) (fields []string) {
	for _, field := range b.fields(c) {
		if field.Column != model.NoColumn && function.AppliesTo(field.Kind) {
			fields = append(fields, field.Name)
		}
	}
	return fields
}

// grouped is the answer with groups.
func (b *builder) grouped(c *model.Collection) object {
	return b.response(c, "Groups", func() object {
		example := object{{"id", exampleID}, {"type", query.GroupsType}, {"by", object{{"id", exampleID}}}, {"count", 1}}
		return b.answer("A range of the groups, in their order.", jsonOf(enveloped(arrayOf(b.groupSchema(c))), dataOf(list{example})),
			"Accept-Query", "Link", "X-Total-Count", "Preference-Applied", "Content-Encoding")
	})
}

func (b *builder) groupSchema(c *model.Collection) object {
	keys := object{}
	names, kinds := b.groupKeys(c)
	for i, name := range names {
		keys.add(name, storedSchema(kinds[i], true))
	}
	by := closedObject("The values of the fields that the resources are grouped by.", keys, nil)
	for _, paths := range b.groupPaths(c) {
		by.add("patternProperties", object{{"^" + paths + "$", object{{"type", list{"string", "number", "boolean", "null"}}}}})
	}
	properties := object{
		{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}, {"description", "A UUIDv5 of the collection and of `by`."}}},
		{"type", object{{"type", "string"}, {"const", query.GroupsType}}},
		{"by", by},
		{"count", object{{"type", "integer"}, {"format", "int64"}, {"minimum", 0}, {"description", "How many resources the group has."}}},
	}
	for _, function := range query.Functions {
		values := object{}
		for _, name := range b.groupFields(c, function) {
			kind := query.GroupValue{Function: function, Kind: c.Field(name).Kind}.ResultKind()
			values.add(name, storedSchema(kind, function != query.Sum && function != query.Distinct))
		}
		if len(values) > 0 {
			properties.add(string(function), closedObject(fmt.Sprintf("The values that `%s` asked for.", function), values, nil))
		}
	}
	for _, relation := range b.groupIncluded(c) {
		properties.add(relation.Name, b.embedded(relation))
	}
	return closedObject("Resources that have the same values.", properties, list{"id", "type", "by", "count"})
}

// storedSchema is the schema of a value as the server shows it.
func storedSchema(kind model.Kind, nullable bool) object {
	stored := valueSchema(kind, true)
	for i, each := range stored {
		if each.name == "type" && nullable {
			stored[i].value = list{each.value, "null"}
		}
	}
	return stored
}
