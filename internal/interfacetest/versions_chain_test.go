package interfacetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// chainAttribute is an attribute in one schema of a chain. It keeps its number, whatever its name is.
type chainAttribute struct {
	number               int
	name, from, kind     string // kind: one of chainKinds, reference or parent
	to                   int    // the number of the collection that is referred to
	as, inverse, removal string // of a reference; inverse may be empty
	width                int    // how often its constraint became looser
	required             bool
	value                string // the default as JSON, or empty
	until                int
}

type chainCollection struct {
	number     int
	name, from string
	timestamps bool
	attributes []chainAttribute
}

type chainSchema struct {
	version     int
	collections []chainCollection
}

// chain is schemas that follow each other. Each serves all versions before it.
type chain struct {
	*dice
	schemas []chainSchema
	last    int // number
}

var (
	chainKinds       = []string{"text", "small", "state", "text", "small", "state", "flag", "money", "day", "texts", "spot", "box", "whole"}
	chainStates      = []string{`"new"`, `"old"`, `"odd"`, `"gone"`, `"lost"`, `"late"`, `"last"`}
	chainNames       = []string{"a", "b", "c", "order", "value", "key", "select", "limit"}
	chainCollections = []string{"alphas", "betas", "order-lines", "tables", "gammas"}
)

// chainValues are values of a kind, those that an attribute with a width accepts first. Nil: the kind has no constraint.
func chainValues(kind string, width int) (values []string) {
	for i := range width + 1 {
		switch kind {
		case "text":
			values = append(values, quoted(strings.Repeat("x", chainWidth(kind, i))))
		case "small":
			values = append(values, fmt.Sprint(chainWidth(kind, i)))
		case "state":
			values = append(values, chainStates[i+1])
		}
	}
	switch kind {
	case "text":
		values = append(values, `""`, `"Ada"`, `"ß 東"`)
	case "small":
		values = append(values, "0", "-1")
	case "state":
		values = append(values, chainStates[0])
	case "unique":
		for i := range 40 {
			values = append(values, quoted(fmt.Sprint("k", i)))
		}
	}
	return values
}

// chainWidth is the most that an attribute accepts.
func chainWidth(kind string, width int) int {
	return map[string]int{"text": 5, "small": 10, "state": 2}[kind] + width*map[string]int{"text": 5, "small": 10, "state": 1}[kind]
}

// widthCodes are the codes of errors for values that exceed a width.
var widthCodes = map[string]string{"text": "max_length", "small": "maximum", "state": "enum"}

// drawChain draws 3 to 5 schemas.
func drawChain(t *rapid.T) *chain {
	c := &chain{dice: &dice{t}}
	first := chainSchema{version: 1}
	for range c.number("collections", 1, 2) {
		c.addCollection(&first, nil)
	}
	c.schemas = []chainSchema{first}
	for range c.number("versions", 2, 4) {
		c.schemas = append(c.schemas, c.next())
	}
	return c
}

func (c *chain) count() int {
	c.last++
	return c.last
}

// name draws a name that is not taken. It prefers those that something else had before.
func (c *chain) name(taken, former, pool []string) string {
	free := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(taken, name) })
	}
	if again := free(former); len(again) > 0 && !c.chance("new name", 3) {
		return c.one("name", again...)
	}
	return c.one("name", free(pool)...)
}

// former are the names that the attributes of a collection had in all schemas; of collections, if the number is 0.
func (c *chain) former(number int) (names []string) {
	for _, s := range c.schemas {
		for _, each := range s.collections {
			if number == 0 {
				names = append(names, each.name)
			} else if each.number == number {
				names = append(names, each.names()...)
			}
		}
	}
	return names
}

func (c chainCollection) names() (names []string) {
	for _, a := range c.attributes {
		names = append(names, a.name)
	}
	return names
}

func (s chainSchema) names() (names []string) {
	for _, c := range s.collections {
		names = append(names, c.name)
	}
	return names
}

// find is a collection by its number, and an attribute by its number. Nil: there is none.
func (s chainSchema) find(number int) *chainCollection {
	for i := range s.collections {
		if s.collections[i].number == number {
			return &s.collections[i]
		}
	}
	return nil
}

func (c *chainCollection) find(number int) *chainAttribute {
	if c != nil {
		for i := range c.attributes {
			if c.attributes[i].number == number {
				return &c.attributes[i]
			}
		}
	}
	return nil
}

// addCollection draws a collection with a unique attribute, of which the name is not taken.
func (c *chain) addCollection(s *chainSchema, taken []string) {
	added := chainCollection{number: c.count(), name: c.name(append(taken, s.names()...), nil, chainCollections), timestamps: c.chance("timestamps", 2)}
	added.attributes = []chainAttribute{{number: c.count(), name: "code", kind: "unique"}}
	s.collections = append(s.collections, added)
	into := &s.collections[len(s.collections)-1]
	if len(s.collections) > 1 && c.chance("sub-collection", 2) {
		c.addReference(s, into, nil, "parent")
	}
	for range c.number("attributes", 2, 4) {
		c.addAttribute(s, into, nil, s.version == 1)
	}
}

// addAttribute draws an attribute. An old collection gets no required one without a default.
func (c *chain) addAttribute(s *chainSchema, into *chainCollection, taken []string, bare bool) {
	if c.chance("reference", 4) {
		c.addReference(s, into, taken, "reference")
		return
	}
	a := chainAttribute{number: c.count(), name: c.name(append(taken, into.names()...), c.former(into.number), chainNames), kind: c.one("kind", chainKinds...)}
	if c.chance("default", 2) {
		a.value = c.drawDefault(a)
	}
	a.required = (bare || a.value != "") && c.chance("required", 3)
	into.attributes = append(into.attributes, a)
}

// addReference draws a reference, perhaps that to the parent. The conformance suite takes the first reference to the parent for that.
func (c *chain) addReference(s *chainSchema, into *chainCollection, taken []string, kind string) {
	to := pick(c.t, "to", s.collections).number
	if kind == "parent" {
		to = s.collections[0].number
	} else if slices.ContainsFunc(into.attributes, func(a chainAttribute) bool { return a.kind == "parent" && a.to == to }) {
		to = into.number
	}
	a := chainAttribute{number: c.count(), kind: kind, to: to, removal: c.one("on delete", "restrict", "set_null", "cascade")}
	a.name = c.name(append(taken, into.names()...), c.former(into.number), chainNames)
	c.relate(&a, s.version)
	into.attributes = append(into.attributes, a)
}

// relate gives the relations of a reference names that no other has.
func (c *chain) relate(a *chainAttribute, version int) {
	a.as, a.inverse = fmt.Sprintf("to%d_%d", a.number, version), fmt.Sprintf("of%d_%d", a.number, version)
	if a.kind == "reference" && c.chance("no inverse", 3) {
		a.inverse = ""
	}
}

// drawDefault draws a default that all versions accept.
func (c *chain) drawDefault(a chainAttribute) string {
	if values := chainValues(a.kind, 0); values != nil {
		return c.one("default", values...)
	}
	return drawJSON(c.t, attributeOf()[a.kind])
}

// next draws the schema of the next version.
func (c *chain) next() chainSchema {
	before := c.schemas[len(c.schemas)-1]
	after := chainSchema{version: before.version + 1}
	taken := before.names()
	for _, each := range before.collections {
		each.from, each.attributes = "", slices.Clone(each.attributes)
		if len(taken) < len(chainCollections) && c.chance("rename collection", 3) {
			each.from, each.name = each.name, c.name(taken, c.former(0), chainCollections)
			taken = append(taken, each.name)
		}
		after.collections = append(after.collections, each)
	}
	for i := range after.collections {
		each := &after.collections[i]
		names := each.names()
		for j := range each.attributes {
			a := &each.attributes[j]
			if a.from = ""; len(names) < len(chainNames) && c.chance("rename", 3) {
				a.from, a.name = a.name, c.name(names, c.former(each.number), chainNames)
				names = append(names, a.name)
			}
			c.change(a, before.version)
		}
		for range c.number("added", 0, 2) {
			if len(names) < len(chainNames) {
				c.addAttribute(&after, each, names, false)
				names = append(names, each.attributes[len(each.attributes)-1].name)
			}
		}
		if c.chance("another order", 3) {
			at := c.number("at", 0, len(each.attributes)-1)
			each.attributes = append(slices.Clone(each.attributes[at:]), each.attributes[:at]...)
		}
	}
	if len(taken) < len(chainCollections) && c.chance("new collection", 3) {
		c.addCollection(&after, taken)
	}
	return after
}

// change draws what else happens to an attribute. Before is the version before the new one.
func (c *chain) change(a *chainAttribute, before int) {
	if widthCodes[a.kind] != "" && c.chance("looser", 2) {
		a.width++
	}
	a.required = a.required && !c.chance("optional", 4)
	if a.to == 0 && a.kind != "unique" && c.chance("another default", 6) {
		a.value = c.drawDefault(*a)
	}
	if a.to != 0 && c.chance("other relations", 3) {
		c.relate(a, before+1)
	}
	switch {
	case a.until != 0 && c.chance("again", 3):
		a.until = 0
	case a.until == 0 && a.kind != "parent" && a.kind != "unique" && (!a.required || a.value != "") && c.chance("until", 5):
		a.until = before
	}
}

// yaml is the schema file.
func (s chainSchema) yaml() string {
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	line("version: %d\ncollections:", s.version)
	for _, c := range s.collections {
		line("  %s:\n    timestamps: %v", c.name, c.timestamps)
		if c.from != "" {
			line("    renamed_from: %s", c.from)
		}
		var required, attributes []string
		for _, a := range c.attributes {
			var keywords []string
			give := func(format string, arguments ...any) { keywords = append(keywords, fmt.Sprintf(format, arguments...)) }
			switch a.kind {
			case "parent":
				line("    parent: {collection: %s, attribute: %s, as: %s, inverse: %s, on_delete: %s}", s.find(a.to).name, a.name, a.as, a.inverse, a.removal)
			case "reference":
				give("references: {collection: %s, on_delete: %s}, as: %s", s.find(a.to).name, a.removal, a.as)
				if a.inverse != "" {
					give("inverse: %s", a.inverse)
				}
			case "unique":
				line("    unique: [[%s]]", a.name)
				give("type: string, maxLength: 40")
			case "text":
				give("type: string, maxLength: %d", chainWidth(a.kind, a.width))
			case "small":
				give("type: integer, maximum: %d", chainWidth(a.kind, a.width))
			case "state":
				give("type: string, enum: [%s]", strings.Join(chainStates[:chainWidth(a.kind, a.width)], ", "))
			default:
				give("%s", randomAttributes[a.kind])
			}
			if a.from != "" {
				give("renamed_from: %s", a.from)
			}
			if a.until != 0 {
				give("until: %d", a.until)
			}
			if a.value != "" {
				give("default: %s", a.value)
			}
			if a.required {
				required = append(required, a.name)
			}
			attributes = append(attributes, fmt.Sprintf("      %s: {%s}", a.name, strings.Join(keywords, ", ")))
		}
		line("    attributes:\n%s\n    required: [%s]", strings.Join(attributes, "\n"), strings.Join(required, ", "))
	}
	return text.String()
}

// model is the naive model for one of the schemas, with what the one before it has, and the view of each version.
func (c *chain) model(at int, file *schema.File, before *naive) (views []*naiveView) {
	s := c.schemas[at]
	m := &naive{
		schema: (*model.Schema)(file.Schema), access: &schema.Access{}, rows: map[*model.Collection][]*naiveRow{}, defaults: map[string]string{},
		gone: map[*model.Collection]string{}, programs: map[string]cel.Program{},
	}
	for _, each := range s.collections {
		for _, a := range each.attributes {
			if a.value != "" {
				m.defaults[each.name+"."+a.name] = a.value
			}
		}
	}
	if before != nil {
		m.revision = before.revision
		for _, was := range c.schemas[at-1].collections {
			is := s.find(was.number)
			for _, r := range before.rows[before.schema.Collection(was.name)] {
				row := &naiveRow{id: r.id, kind: m.schema.Collection(is.name), values: map[string]string{}, revision: r.revision}
				for _, a := range is.attributes {
					if known := was.find(a.number); known != nil {
						row.values[a.name] = r.values[known.name]
					} else {
						row.values[a.name] = m.defaultOf(row.kind, row.kind.Declared(a.name))
					}
				}
				m.rows[row.kind] = append(m.rows[row.kind], row)
			}
		}
	}
	for _, version := range c.schemas[:at+1] {
		views = append(views, c.view(m, s, version))
	}
	return views
}

// view is what a client of a version sees of the newest schema.
func (c *chain) view(m *naive, newest, s chainSchema) *naiveView {
	n := &naiveVersion{number: fmt.Sprint(s.version), names: map[string]string{}, values: map[string][]string{}, refusals: map[string]map[string]string{}, required: map[string]bool{}}
	role := schema.Role{Name: n.number}
	for _, own := range s.collections {
		is := newest.find(own.number)
		n.names[is.name] = own.name
		grant := schema.Grant{Collection: is.name, Visible: []string{}, Verbs: []schema.AccessVerb{schema.MayList, schema.MayRead, schema.MayCreate, schema.MayUpdate, schema.MayDelete}}
		for _, a := range own.attributes {
			if a.until != 0 {
				continue
			}
			now := is.find(a.number)
			key := is.name + "." + now.name
			grant.Visible = append(grant.Visible, now.name)
			n.names[key], n.required[key] = a.name, a.required
			if a.to != 0 {
				n.names[is.name+"."+now.as] = a.as
				if to := newest.find(a.to); a.inverse != "" && now.inverse != "" {
					n.names[to.name+"."+now.inverse] = a.inverse
				}
			}
			n.refusals[key] = map[string]string{}
			if values := chainValues(a.kind, a.width); values != nil {
				n.values[key] = values
				for _, value := range chainValues(a.kind, now.width) {
					if !slices.Contains(values, value) {
						n.refusals[key][value] = widthCodes[a.kind]
					}
				}
			}
			if a.required && !now.required {
				n.refusals[key]["null"] = "required"
			}
		}
		role.Grants = append(role.Grants, grant)
	}
	m.access.Roles = append(m.access.Roles, role)
	return &naiveView{naive: m, name: "version " + n.number, role: n.number, seen: map[*naiveRow]bool{}, version: n}
}
