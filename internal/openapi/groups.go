package openapi

import (
	"fmt"

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
		o.description = "Groups of the resources that pass the filters, with the number of resources of each group, and with sums, averages, least and greatest values of fields. Null values are not part of these. At most " + fmt.Sprint(query.MaxGroupValues) + " such values can be asked for."
		o.parameters = append(b.groupParameters(c), b.shared("Prefer-Count"), b.shared("If-Match"), b.shared("If-None-Match"))
		o.responses = object{{"200", b.grouped(c)}, {"304", b.unchanged()}}
		o.codes = append(b.ofList(p), problem.CodeOutOfRange)
		paths.add("/-/groups/"+c.Name, object{{"get", b.describe(o)}})
	}
	return paths
}

// groupKeys lists what the reader can group a collection by, with the kind of the values.
func (b *builder) groupKeys(c *model.Collection) (names list, kinds []model.Kind) {
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

// groupParameters is all that groups can be asked by.
func (b *builder) groupParameters(c *model.Collection) list {
	keys, _ := b.groupKeys(c)
	all := list{b.several(c.Name+".by", "by", "Fields whose values make the groups. Dates and date-times can be truncated, in UTC. Without it, all resources are one group.", someOf(keys, query.MaxGroupKeys), keys[0])}
	for _, function := range query.Functions {
		if fields := b.groupFields(c, function); len(fields) > 0 {
			all = append(all, b.several(c.Name+"."+string(function), string(function), functionTexts[function], someOf(fields, query.MaxGroupValues), fields[0]))
		}
	}
	sorts := list{"count", "-count"}
	for _, key := range keys {
		if key != sorts[0] { // an attribute of this name cannot be sorted by
			sorts = append(sorts, key, "-"+key.(string))
		}
	}
	all = append(all, b.several(c.Name+".groups.sort", "sort", "Keys to sort by, downwards with a minus before the name: `count`, which is the number of resources, and what `by` has. Groups that are equal in these are in the order of `by`.", someOf(sorts, query.MaxGroupKeys+1), sorts[0]))
	all = append(all, b.shared("offset"), b.shared("o"), b.limit("limit"), b.limit("l"))
	return append(all, b.conditions(c)...)
}

var functionTexts = map[query.Function]string{
	query.Sum: "Fields whose values are added up. Sums of integers and decimals are exact; 400 if one is out of range.",
	query.Avg: "Fields whose average is computed, as a number; null if no resource has a value.",
	query.Min: "Fields whose least value is found; null if no resource has a value.",
	query.Max: "Fields whose greatest value is found; null if no resource has a value.",
}

// groupFields lists the fields of which a function computes values.
func (b *builder) groupFields(c *model.Collection, function query.Function) list {
	fields := list{}
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
			"Link", "X-Total-Count", "Preference-Applied", "Content-Encoding")
	})
}

func (b *builder) groupSchema(c *model.Collection) object {
	by := object{}
	names, kinds := b.groupKeys(c)
	for i, name := range names {
		by.add(name.(string), storedSchema(kinds[i], true))
	}
	properties := object{
		{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}, {"description", "A UUIDv5 of the collection and of `by`."}}},
		{"type", object{{"type", "string"}, {"const", query.GroupsType}}},
		{"by", closedObject("The values of the fields that the resources are grouped by.", by, nil)},
		{"count", object{{"type", "integer"}, {"format", "int64"}, {"minimum", 0}, {"description", "How many resources the group has."}}},
	}
	for _, function := range query.Functions {
		values := object{}
		for _, name := range b.groupFields(c, function) {
			kind := query.GroupValue{Function: function, Kind: c.Field(name.(string)).Kind}.ResultKind()
			values.add(name.(string), storedSchema(kind, function != query.Sum))
		}
		if len(values) > 0 {
			properties.add(string(function), closedObject(fmt.Sprintf("The values that `%s` asked for.", function), values, nil))
		}
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
