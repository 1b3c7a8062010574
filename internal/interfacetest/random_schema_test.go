package interfacetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// randomAttributes is how attributes of each kind are declared. Only strings with a bound can be indexed.
var randomAttributes = map[string]string{
	"text": "type: string, maxLength: 200", "long": "type: string", "state": "type: string, enum: [new, old, odd]", "email": "type: string, format: email", "whole": "type: integer", "number": "type: number",
	"flag": "type: boolean", "code": "type: string, format: uuid", "day": "type: string, format: date", "moment": "type: string, format: date-time", "money": "type: string, format: decimal, scale: 2",
	"exact": "type: string, format: decimal, scale: 0", "texts": "type: array, items: {type: string}", "wholes": "type: array, items: {type: integer}", "monies": "type: array, items: {type: string, format: decimal, scale: 2}",
	"days": "type: array, items: {type: string, format: date}", "flags": "type: array, items: {type: boolean}", "list": "type: array", "box": "type: object",
	"spot":  "type: object, properties: {city: {type: string, maxLength: 200}, floor: {type: integer}, fee: {type: string, format: decimal, scale: 2}, since: {type: string, format: date-time}, deep: {type: object, properties: {tags: {type: array, items: {type: string}}, on: {type: boolean}}}}",
	"place": "type: object, properties: {name: {type: string, enum: [new, old]}, size: {type: number}, day: {type: string, format: date}, code: {type: string, format: uuid}}, additionalProperties: false",
}

var (
	randomSearchable  = []string{"text", "long", "state", "email"}
	randomPaths       = map[string][]string{"spot": {"city", "floor", "fee", "since", "deep.on"}, "place": {"name", "size", "day", "code"}}
	randomCollections = []string{"alphas", "betas", "gammas", "order-lines", "tables", "sqlite_tests"}
	randomNames       = []string{"any", "some", "none", "order", "value", "key", "select", "rowid", "count", "data", "rank", "limit", "filter", "user", "null_", "xmin", "ctid", "tableoid", "oid", "old", "excluded", "default", "rev", "c", "t"}
)

// randomAttribute is an attribute that was drawn.
type randomAttribute struct {
	name, kind, to, as string
	required           bool
}

// randomCollection is a collection that was drawn.
type randomCollection struct {
	name       string
	attributes []randomAttribute
}

func (c *randomCollection) names(kinds ...string) (names []string) {
	for _, a := range c.attributes {
		if slices.Contains(kinds, a.kind) {
			names = append(names, a.name)
		}
	}
	return names
}

// attributeOf is an attribute of each kind, to draw values of it.
var attributeOf = sync.OnceValue(func() map[string]*model.Attribute {
	text := "collections:\n  samples:\n    attributes:\n"
	for kind, declared := range randomAttributes {
		text += fmt.Sprintf("      %s: {%s}\n", kind, declared)
	}
	file, err := schema.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	attributes := map[string]*model.Attribute{}
	all := (*model.Schema)(file.Schema).Collections()[0].Attributes
	for i := range all {
		attributes[all[i].Name] = &all[i]
	}
	return attributes
})

// drawSchema draws a schema file: a few collections that refer to each other and to themselves, with any
// attributes, indexes and searches, and roles that see some of it. Defaults is those in it, by collection.attribute.
func drawSchema(t *rapid.T) (file string, defaults map[string]string) {
	d := &dice{t}
	defaults = map[string]string{}
	var collections []*randomCollection
	for _, name := range pickSome(t, "collections", randomCollections, 2, 4) {
		collections = append(collections, &randomCollection{name: name})
	}
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	line("collections:")
	for _, c := range collections {
		line("  %s:\n    timestamps: %v\n    attributes:", c.name, d.chance("timestamps", 2))
		var required []string
		for i, kind := range pickSome(t, "kinds", slices.Concat(sortedKeys(randomAttributes), sortedKeys(randomAttributes)), 2, 6) {
			a := randomAttribute{name: fmt.Sprint(kind, i), kind: kind}
			if name := d.one("name", randomNames...); d.chance("odd name", 4) && !slices.ContainsFunc(c.attributes, func(a randomAttribute) bool { return a.name == name }) {
				a.name = name
			}
			declared := randomAttributes[kind]
			if d.chance("default", 4) {
				value := drawJSON(t, attributeOf()[kind])
				defaults[c.name+"."+a.name] = value
				declared += ", default: " + value
			}
			line("      %s: {%s}", a.name, declared)
			if a.required = d.chance("required", 6); a.required {
				required = append(required, a.name)
			}
			c.attributes = append(c.attributes, a)
		}
		for i := range pick(t, "references", []int{0, 1, 2, 2, 3}) {
			a := randomAttribute{name: fmt.Sprintf("ref%d_id", i), kind: "reference", to: pick(t, "to", collections).name, as: fmt.Sprint("ref", i)}
			options := ""
			if d.chance("as", 3) {
				a.name, a.as = fmt.Sprint("by", i), fmt.Sprint("maker", i)
				options = ", as: " + a.as
			}
			if d.chance("inverse", 2) {
				options += fmt.Sprintf(", inverse: %s_by%d", strings.ReplaceAll(c.name, "-", "_"), i)
			}
			line("      %s: {references: {collection: %s, on_delete: %s}%s}", a.name, a.to, d.one("on delete", "restrict", "set_null", "cascade"), options)
			c.attributes = append(c.attributes, a)
		}
		if d.chance("sub-collection", 2) {
			a := randomAttribute{name: "up_id", kind: "reference", to: pick(t, "parent", collections).name, as: "up"}
			line("    parent: {collection: %s, attribute: up_id, inverse: subs_%s, on_delete: %s}", a.to, strings.ReplaceAll(c.name, "-", "_"), d.one("on delete", "restrict", "set_null", "cascade"))
			c.attributes = append(c.attributes, a)
		}
		line("    required: [%s]", strings.Join(required, ", "))
		scalar := c.names("text", "state", "email", "whole", "number", "flag", "code", "day", "moment", "money", "exact", "reference")
		var unique []string
		seen := map[string]bool{} // the order of a group does not matter
		for range d.number("unique", 0, 2) {
			names := pickSome(t, "unique", append(scalar, ""), 1, 2)
			if group := joinSorted(names); !slices.Contains(names, "") && !seen[group] {
				seen[group] = true
				unique = append(unique, "["+strings.Join(names, ", ")+"]")
			}
		}
		line("    unique: [%s]", strings.Join(unique, ", "))
		var indexes []string
		for _, a := range c.attributes {
			for _, path := range randomPaths[a.kind] {
				scalar = append(scalar, a.name+"."+path)
			}
		}
		for range d.number("indexes", 0, 3) {
			names := pickSome(t, "index", append(scalar, ""), 1, 2)
			if index := "[" + strings.Join(names, ", ") + "]"; !slices.Contains(names, "") && !slices.Contains(indexes, index) {
				indexes = append(indexes, index)
			}
		}
		for _, name := range c.names("texts", "wholes", "monies", "days", "flags") {
			if d.chance("index", 2) {
				indexes = append(indexes, name)
			}
		}
		line("    index: [%s]", strings.Join(indexes, ", "))
		if searchable := c.names(randomSearchable...); len(searchable) > 0 {
			line("    search: [%s]", strings.Join(pickSome(t, "search", searchable, 0, 2), ", "))
			if d.chance("label", 2) {
				line("    label: %s", d.one("label", searchable...))
			}
		}
	}
	line("access:\n  roles:\n    editor:")
	for _, c := range collections {
		line("      %s: [list, read, create, update, delete]", c.name)
	}
	for _, role := range []string{"reader", "public"} {
		line("    %s:", role)
		for i, c := range collections {
			if i > 0 && d.chance("nothing", 8) {
				continue
			}
			visible := ""
			if d.chance("hidden", 2) {
				var names []string
				for _, a := range c.attributes {
					if !d.chance("hidden", 3) {
						names = append(names, a.name)
					}
				}
				visible = ", visible: [" + strings.Join(names, ", ") + "]"
			}
			update := ""
			if role == "reader" && d.chance("update", 2) {
				update = ", update: " + drawRandomRule(d, collections, c)
			}
			line("      %s: {list: %v, read: %s%s%s}", c.name, !d.chance("unlisted", 6), drawRandomRule(d, collections, c), update, visible)
		}
	}
	return text.String(), defaults
}

// drawRandomRule draws a row rule, which may read resources that are referred to.
func drawRandomRule(d *dice, collections []*randomCollection, c *randomCollection) string {
	var leaves []string
	var add func(prefix string, c *randomCollection, steps int)
	add = func(prefix string, c *randomCollection, steps int) {
		for _, a := range c.attributes {
			name := prefix + a.name
			switch a.kind {
			case "text", "long":
				leaves = append(leaves, name+" == auth.sub", name+" != 'Ada'", name+".startsWith('A')", name+" in ['Ada', 'lodz', auth.sub]")
			case "state":
				leaves = append(leaves, name+" == 'new'", name+" in ['new', 'odd']")
			case "whole":
				leaves = append(leaves, name+" > 0", name+" != 1")
				if !a.required { // else a comparison with null is refused
					leaves = append(leaves, name+" == null || "+name+" < 2")
				}
			case "number":
				leaves = append(leaves, name+" <= 0.5")
			case "flag":
				leaves = append(leaves, name, "!"+name, name+" == true", name+" != false")
			case "day":
				leaves = append(leaves, name+" == '2024-02-29'", name+" < '2026-01-01'")
			case "moment":
				leaves = append(leaves, name+" < timestamp('2026-01-31T23:59:59.999Z')")
			case "reference":
				leaves = append(leaves, name+" == null", name+" == auth.sub", name+" != '"+randomID(0, 1)+"'")
				for _, to := range collections {
					if to.name == a.to && steps > 0 {
						add(prefix+a.as+".", to, steps-1)
					}
				}
			}
		}
	}
	add("resource.", c, 2)
	if len(leaves) == 0 || d.chance("everything", 3) {
		return "true"
	}
	rule := d.one("rule", leaves...)
	for range d.number("more", 0, 2) {
		rule = fmt.Sprintf(d.one("combination", "(%s) && (%s)", "(%s) || (%s)", "(%s) || (%s)", "!(%s) || (%s)"), rule, d.one("rule", leaves...))
	}
	return `"` + rule + `"`
}

// randomID is the id of a row of a collection.
func randomID(collection, row int) string { return id(1000*(collection+1) + row) }

// drawJSON draws a value of an attribute, not null, as the server writes it. There are few, so that they meet.
func drawJSON(t *rapid.T, a *model.Attribute) string {
	d := &dice{t}
	switch {
	case a.Enum != nil:
		return d.one("state", `"new"`, `"old"`)
	case a.Type == model.Object && len(a.Properties) == 0:
		return d.one("object", "{}", `{"a":1}`)
	case a.Type == model.Object:
		var members []string
		for i := range a.Properties {
			if property := &a.Properties[i]; !d.chance("absent", 4) {
				members = append(members, quoted(property.Name)+":"+drawJSON(t, property))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	case a.Type == model.Array && a.Items == nil:
		return d.one("array", "[]", `[1,"a",null]`)
	case a.Type == model.Array:
		return "[" + d.some("items", 0, 3, ",", func() string { return drawJSON(t, a.Items) }) + "]"
	case a.Format == "email":
		return d.one("email", `"new@example.com"`)
	}
	switch kind := a.Kind(); {
	case kind == model.KindInteger:
		return d.one("integer", "0", "1", "2", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808")
	case kind == model.KindNumber:
		return d.one("number", "0", "0.5", "-2.25", "1024", "3")
	case kind == model.KindBoolean:
		return d.one("boolean", "true", "false")
	case kind == model.KindUUID:
		return quoted(d.one("uuid", edgeIDs...))
	case kind == model.KindDate:
		return quoted(d.one("day", "2024-02-29", "0001-01-01", "9999-12-31", "2026-01-31"))
	case kind == model.KindDateTime:
		return quoted(d.one("moment", "2024-02-29T00:00:00.000Z", "2026-01-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z", "2026-01-31T23:00:00.000Z", "9999-12-31T23:59:59.999Z"))
	case kind.IsDecimal() && kind.Scale() == 0:
		return quoted(d.one("exact", "0", "-1", "10", "999999999999999999"))
	case kind.IsDecimal():
		return quoted(d.one("money", "0.00", "-0.05", "1.50", "10.00", "9999999999999999.99"))
	}
	if d.chance("short", 2) {
		return d.one("text", `""`, `"Ada"`, `"lodz"`)
	}
	return string(model.AppendQuoted(nil, d.some("text", 0, 3, " ", func() string { return d.one("word", sortedKeys(modelWords)...) })))
}
