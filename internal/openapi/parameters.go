package openapi

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// parameter is a reference to a parameter of the document, which is made when it is
// asked for the first time.
func (b *builder) parameter(name string, make func() object) object {
	if b.isNew("parameter " + name) {
		b.parameters.add(name, make())
	}
	return reference("parameters", name)
}

// reserveParameters takes the names of all parameters that lists of a collection may have.
func (b *builder) reserveParameters(c *model.Collection) {
	taken := append(slices.Collect(maps.Keys(sharedParameters)), "limit", "l", "Range.limit", "Range.l")
	for _, name := range c.FieldNames() {
		if prefix := b.filterPrefix(c, c.Field(name)); prefix != "" {
			taken = append(taken, prefix)
			for _, op := range operatorsOf(c, c.Field(name)) {
				taken = append(taken, prefix+"."+op)
			}
		}
	}
	for _, name := range []string{"sort", "filters", "search", "fields", "include", "on_conflict", "by", "having", "groups.sort", "groups.include"} {
		taken = append(taken, c.Name+"."+name)
	}
	for _, function := range query.Functions {
		taken = append(taken, c.Name+"."+string(function))
	}
	for _, relation := range c.Relations() {
		taken = append(taken, c.Name+".fields."+relation.Name)
		for _, option := range []string{"limit", "sort", "total"} {
			taken = append(taken, c.Name+".include."+relation.Name+"."+option)
		}
	}
	for _, name := range taken {
		b.componentNames[plain(name)] = true
	}
}

// inQuery is a reference to a parameter of the query.
func (b *builder) inQuery(component, name, description string, jsonSchema object, example any) object {
	return b.parameter(component, func() object { return parameterIn("query", name, description, jsonSchema, example) })
}

func parameterIn(place, name, description string, jsonSchema object, example any) object {
	return object{{"name", name}, {"in", place}, {"description", description}, {"schema", jsonSchema}, {"example", example}}
}

// several is a reference to a parameter of the query that can have several values.
func (b *builder) several(component, name, description string, jsonSchema object, example any) object {
	return b.parameter(component, func() object {
		return object{
			{"name", name}, {"in", "query"},
			{"description", description + " Several are given as several parameters, or in one with commas between them."},
			{"style", "form"}, {"explode", true}, {"schema", jsonSchema}, {"example", list{example}},
		}
	})
}

// someOf is the schema of some of the values, at most as many as are allowed.
func someOf(values []string, most int) object {
	return listOf(object{{"type", "string"}, {"enum", texts(values)}}, most)
}

// listOf is a list of different values.
func listOf(one object, most int) object {
	return object{{"type", "array"}, {"minItems", 1}, {"maxItems", most}, {"uniqueItems", true}, {"items", one}}
}

// sharedParameters are those that are the same in every operation that has them, by component. Nothing may change them.
var sharedParameters = map[string]object{
	"offset": parameterIn("query", "offset", "The position to count from; the first is 0. Without it, the start, or the end if the limit is negative.", aCount, 0),
	"o":      parameterIn("query", "o", "Short for `offset`.", aCount, 0),
	"cursor": parameterIn("query", "cursor",
		"The id of a resource: the range starts there, and with a negative limit ends before it. It keeps its place when others come and go. Not together with an offset.",
		object{{"type", "string"}, {"format", "uuid"}}, exampleID),
	"dry_run": parameterIn("query", "dry_run",
		"`true`: everything is checked and answered as usual, without `ETag` and `Location`, and nothing is changed. `X-Affected` tells how many resources would be. Not together with `Idempotency-Key`.",
		aFlag, true),
	"since":            since("The position or the id of a change that the range begins after. Not together with a cursor."),
	"Since" + ofStream: since("Only with `Accept: text/event-stream`, which takes no range and no sort: the position that the stream begins after, as in the link `changes` of a list or the id of an event. Without it, the stream begins with a snapshot."),
	"Last-Event-ID":    parameterIn("header", "Last-Event-ID", "Of a stream: the id of the last event that was received. It comes before `since`.", aText, "AQ"),
	"X-Request-Id": parameterIn("header", "X-Request-Id",
		"What the answer and the log call this request. Without one, or with one that is longer than 128 characters or not printable, the server makes one.", aText, "order-4711"),
	"If-Match": parameterIn("header", "If-Match",
		"412 unless the resource is in one of these states: the `ETag` that came with it, several with commas between them, or `*` for any.", etags, `"1a.1.k3"`),
	"If-Match-Required": { // in a collection where changes must say what they are about
		{"name", "If-Match"}, {"in", "header"}, {"required", true},
		{"description", "The `ETag` that came with the resource, several with commas between them, or `*` for any state. 412 if it is in another state, 428 without this header."},
		{"schema", etags}, {"example", `"1a.1.k3"`},
	},
	"If-None-Match": parameterIn("header", "If-None-Match", "304 without a body if the resource is in one of these states; of a change 412.", etags, `"1a.1.k3"`),
	"Idempotency-Key": parameterIn("header", "Idempotency-Key",
		"Makes it safe to send the request again: it is carried out once, and answered as it was the first time. 1 to 255 printable ASCII characters, such as a UUID.",
		object{{"type", "string"}, {"minLength", 1}, {"maxLength", 255}, {"pattern", "^[ -~]+$"}}, "d9b6c2f0-5a53-4a8f-9d5e-0b3a3c0c7c11"),
	"Prefer-Async": parameterIn("header", "Prefer",
		"`respond-async`: answered with 202 as soon as the change is stored to be carried out. `respond-async, wait=10`: answered as usual if that takes at most 10 seconds.", aText, "respond-async, wait=10"),
	"Prefer-Count": parameterIn("header", "Prefer", "`count=exact`: `X-Total-Count` is also sent for a list with filters.", aText, "count=exact"),
	"Prefer-Wait": parameterIn("header", "Prefer", // of a list of changes
		"`wait=30`: with `since` or `cursor`, answered as soon as there is a change after that, or after 30 seconds, of at most 300. `count=exact`: `X-Total-Count` is sent, if no change is hidden from you.", aText, "wait=30"),
}

// etags is what If-Match and If-None-Match hold: any state, or a list of ETags.
var etags = object{{"type", "string"}, {"pattern", `^\s*\*\s*$|^[\s,]*(W/)?"[^\s"]*"(\s*,[\s,]*(W/)?"[^\s"]*")*[\s,]*$`}}

func since(description string) object {
	return object{{"name", "since"}, {"in", "query"}, {"description", description}, {"schema", object{{"type", "string"}, {"minLength", 1}}}}
}

// shared is a reference to one of the sharedParameters.
func (b *builder) shared(component string) object {
	return b.parameter(component, func() object { return sharedParameters[component] })
}

// idParameter is a parameter of the path.
func idParameter(name, description string) object {
	return object{
		{"name", name}, {"in", "path"}, {"required", true}, {"description", description},
		{"schema", object{{"type", "string"}, {"format", "uuid"}}}, {"example", exampleID},
	}
}

// selection is the parameters that select resources, with the limit of a list or of a write.
func (b *builder) selection(c *model.Collection, limit func(name string) object) list {
	return append(list{b.shared("offset"), b.shared("o"), limit("limit"), limit("l"), b.shared("cursor"), b.sort(c)}, b.conditions(c)...)
}

func (b *builder) limit(name string) object {
	text := "How many resources: a negative number counts back from where the range starts. There may be fewer."
	if name == "l" {
		text = "Short for `limit`."
	}
	jsonSchema := limitSchema(b.MaxLimit)
	jsonSchema.addIf(name == "limit", "default", b.DefaultLimit) // some clients send defaults, and not both must be sent
	return b.inQuery(name, name, text, jsonSchema, b.DefaultLimit)
}

// limitSchema is the schema of a limit, which can be negative. A maximum of 0 is none.
func limitSchema(most int64) object {
	jsonSchema := object{{"type", "integer"}}
	if most > 0 {
		jsonSchema = append(jsonSchema, member{"minimum", -most}, member{"maximum", most})
	}
	return jsonSchema
}

// fields lists what the reader can filter and sort by: id, type, the attributes, and the
// timestamps.
func (b *builder) fields(c *model.Collection) []*model.Field {
	visible := b.By.Visible(c)
	var fields []*model.Field
	for i, column := range c.Columns() {
		if field := c.Field(column.Name); field != nil && visible.Has(i) {
			fields = append(fields, field)
		}
		if i == model.IDColumn {
			fields = append(fields, c.Field("type"))
		}
	}
	return fields
}

// fieldNames lists their names.
func (b *builder) fieldNames(c *model.Collection) (names []string) {
	for _, field := range b.fields(c) {
		names = append(names, field.Name)
	}
	return names
}

func (b *builder) sort(c *model.Collection) object {
	var names []string
	for _, field := range b.fields(c) {
		if field.Kind != model.KindJSON {
			names = append(names, field.Name)
		}
	}
	text, paths := "", append(pathPatterns(pathPattern, b.objects(c), b.relationNames(c, true)), b.counts(c)...)
	if len(paths) > 0 {
		text = " Also a property of an object, a field behind one or two references, and the number of related resources: `address.city`, `customer.name`, `count.orders`."
	}
	return b.several(c.Name+".sort", "sort",
		"Fields to sort by, downwards with a minus before the name; what is equal in all of them is in the order of ids, which is also the order without this."+text,
		keysOf(names, paths, true, query.MaxSortKeys), "-id")
}

// pathPattern is what follows the first name of a path.
const pathPattern = `\.[a-z][^,:]*`

// keysOf is the schema of some of the names, at most as many as are allowed, perhaps with a minus before each. Patterns of further
// names make it one pattern: a list of all paths would be long.
func keysOf(names, patterns []string, signed bool, most int) object {
	if len(patterns) > 0 {
		pattern := oneOf(slices.Concat(patterns, names))
		if signed {
			pattern = "-?" + pattern
		}
		return listOf(object{{"type", "string"}, {"pattern", "^" + pattern + "$"}}, most)
	}
	if signed {
		var both []string
		for _, name := range names {
			both = append(both, name, "-"+name)
		}
		names = both
	}
	return someOf(names, most)
}

// openParameter is a reference to a parameter whose members are parameters of their own, with names of a pattern. Its schema allows other
// members, because validators take all parameters of a query for members of such an object.
func (b *builder) openParameter(component, name string, make func() (text, pattern string)) object {
	return b.parameter(component, func() object {
		text, pattern := make()
		return object{
			{"name", name}, {"in", "query"}, {"description", text}, {"style", "form"}, {"explode", true},
			{"schema", object{{"type", "object"}, {"patternProperties", object{{"^" + pattern + "$", aText}}}, {"additionalProperties", aText}}},
		}
	})
}

// oneOf is the pattern of one of several names. Names have no characters that mean something in a pattern, or are patterns.
func oneOf(names []string) string { return "(" + strings.Join(names, "|") + ")" }

// objects lists the fields of objects with declared properties.
func (b *builder) objects(c *model.Collection) (names []string) {
	for _, field := range b.fields(c) {
		if a := definitionOf(c, field); a != nil && len(a.Properties) > 0 {
			names = append(names, field.Name)
		}
	}
	return names
}

// counts is the pattern of the numbers of related resources, or nothing. A field or a relation named count is what count.x leads into.
func (b *builder) counts(c *model.Collection) []string {
	one, many := b.relationNames(c, true), b.relationNames(c, false)
	if len(many) == 0 || slices.Contains(slices.Concat(b.fieldNames(c), one, many), "count") {
		return nil
	}
	return []string{`count\.` + oneOf(many)}
}

// pathPatterns is the pattern of paths that begin with some names, or nothing if there are no names.
func pathPatterns(rest string, names ...[]string) []string {
	all := slices.Concat(names...)
	if len(all) == 0 {
		return nil
	}
	return []string{oneOf(all) + rest}
}

// relationNames lists the relations of a collection that lead to one resource, or to several.
func (b *builder) relationNames(c *model.Collection, one bool) []string {
	return namesOf(slices.DeleteFunc(b.relations(c), func(r *model.Relation) bool { return r.One != one }))
}

// valueSchema is a value of a field: what a filter can compare it with, or as it is stored. The caller may change it.
func valueSchema(kind model.Kind, stored bool) object {
	if kind.IsDecimal() {
		return object{{"type", "string"}, {"format", "decimal"}, {"pattern", decimalPattern(kind.Scale(), stored)}}
	}
	dateTime := dateTimeIn
	if stored {
		dateTime = dateTimeOut
	}
	switch kind {
	case model.KindInteger:
		return object{{"type", "integer"}, {"format", "int64"}}
	case model.KindNumber:
		return object{{"type", "number"}, {"format", "double"}}
	case model.KindBoolean:
		return object{{"type", "boolean"}}
	case model.KindUUID:
		return object{{"type", "string"}, {"format", "uuid"}}
	case model.KindDate:
		return object{{"type", "string"}, {"format", "date"}}
	case model.KindDateTime:
		return object{{"type", "string"}, {"format", "date-time"}, {"pattern", dateTime}}
	}
	return object{{"type", "string"}}
}

// thousands writes a number as people read it.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
