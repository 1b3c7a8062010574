package ts

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// collection writes the types of one collection: what is read, what each write
// takes, what it can be filtered and sorted by, and all of these under one name.
func (g *generator) collection(f family) {
	g.line("")
	g.comment("", f.Description)
	g.line("export interface %s {", f.name)
	g.line("  readonly id: string;\n  readonly type: %s;", literal(f.Name))
	for i := range f.Attributes {
		if a := &f.Attributes[i]; f.maySee(a.Name) {
			g.attributeComment(a)
			g.line("  %s%s: %s;", readOnly(a.IsComputed() || a.WriteOnce), a.Name, g.nullable(a, g.typeIn(f, a)))
		}
	}
	if f.timestamps() {
		g.line("  readonly created_at: string;\n  readonly updated_at: string;")
	}
	g.line("}")
	if !f.ReadOnly() {
		g.transitions(f)
		g.writes(f)
	}
	g.filter(f)
	g.line("\n/** What %s can be sorted by. */\nexport type %sSort = %s;", f.Name, f.name, union(quotedAll(g.sortable(f))))
	g.groups(f)
	g.shape(f)
}

// attributeComment describes what the type of an attribute does not express.
func (g *generator) attributeComment(a *model.Attribute) {
	var facts []string
	if a.References != nil {
		facts = append(facts, "The id of a resource of "+a.References.Collection+".")
	}
	if a.Format != "" && a.References == nil {
		facts = append(facts, "Format: "+string(a.Format)+".")
	}
	if a.IsComputed() {
		facts = append(facts, "The server computes it.")
	}
	if a.WriteOnce {
		facts = append(facts, "Only a create sets it.")
	}
	if a.Default != nil {
		facts = append(facts, "Default: "+literal(a.Default)+".")
	}
	g.comment("  ", a.Description, strings.Join(facts, " "))
}

func (g *generator) writes(f family) {
	g.line("\n/** What it takes to create one of %s. */\nexport interface %sCreate {", f.Name, f.name)
	g.comment("  ", "A UUID of your own. Default: the server makes one.")
	g.line("  id?: string;")
	g.attributes(f, createVariant)
	g.line("}")

	g.line("\n/** What it takes to replace one of %s. What was read can be sent back. */\nexport interface %sReplace {", f.Name, f.name)
	g.line("  readonly id?: string;\n  readonly type?: %s;", literal(f.Name))
	g.attributes(f, replaceVariant)
	if f.timestamps() {
		g.line("  readonly created_at?: string;\n  readonly updated_at?: string;")
	}
	g.line("}")

	about, parameters := "", ""
	if given := g.statesOf(f); len(given) > 0 {
		about = " `" + f.name + "Patch<" + literal(f.patchable()[0].States()[0]) + ">` has only the states that can follow that one."
		parameters = "<" + strings.Join(given, ", ") + ">"
	}
	g.line("\n/** What can be changed of one of %s.%s */\nexport interface %sPatch%s {", f.Name, about, f.name, parameters)
	g.attributes(f, patchVariant)
	g.line("}")
}

// variant is what a write takes.
type variant int

const (
	createVariant variant = iota
	replaceVariant
	patchVariant
)

func (g *generator) attributes(f family, v variant) {
	for i := range f.Attributes {
		a := &f.Attributes[i]
		switch {
		case a.IsComputed() && v == replaceVariant && f.maySee(a.Name):
			g.line("  readonly %s;", typed(a.Name, "?", g.nullable(a, g.typeOf(a, true))))
			continue
		case a.IsComputed() || !f.mayWrite(a.Name) || a.WriteOnce && v == patchVariant:
			continue
		}
		declared := a.InVersion()
		optional := "?"
		if v != patchVariant && declared.Required && a.Default == nil {
			optional = ""
		}
		value := g.nullable(declared, g.typeOf(declared, true))
		if a.HasLifecycle() {
			value = g.stateType(f, a, v)
		}
		g.line("  %s;", typed(a.Name, optional, value))
	}
}

func readOnly(is bool) string {
	if is {
		return "readonly "
	}
	return ""
}

func (g *generator) filter(f family) {
	g.line("\n/** What %s can be filtered by. */\nexport interface %sFilter {", f.Name, f.name)
	g.line("  id?: OrderedCondition<string>;\n  type?: TextCondition<%s>;", literal(f.Name))
	for i := range f.Attributes {
		if a := &f.Attributes[i]; f.maySee(a.Name) {
			g.conditions(a, a.Name, slices.Contains(f.searched(), a.Name))
		}
	}
	if f.timestamps() {
		g.line("  created_at?: OrderedCondition<string | Date>;\n  updated_at?: OrderedCondition<string | Date>;")
	}
	g.line("}")
}

// conditions writes the conditions on an attribute, which may be searched, and on the properties of an object.
func (g *generator) conditions(a *model.Attribute, path string, searched bool) {
	g.line("  %s;", typed(path, "?", g.condition(a, searched)))
	for i := range a.Properties {
		if p := &a.Properties[i]; model.Addressable(p.Name) {
			g.conditions(p, path+"."+p.Name, false)
		}
	}
}

func (g *generator) condition(a *model.Attribute, searched bool) string {
	value, text := g.typeOf(a, true), "TextCondition"
	if searched {
		text = "SearchedCondition"
	}
	switch {
	case a.ScalarItems() != nil:
		return "ArrayCondition<" + g.typeOf(a.Items, true) + ">"
	case a.Type == model.Object || a.Type == model.Array:
		return "NullCondition"
	case a.Type == model.Boolean:
		return "EqualCondition<" + value + ">"
	case value == "string" && (a.Format == "" || a.Format == model.Email || a.Format == model.URI):
		return text
	case a.Type == model.String && (a.Format == "" || a.Format == model.Email || a.Format == model.URI):
		return text + "<" + value + ">"
	default:
		return "OrderedCondition<" + value + ">"
	}
}

// sortable lists the fields that have an order, properties of objects included.
func (g *generator) sortable(f family) []string {
	names := []string{"id"}
	var add func(a *model.Attribute, path string)
	add = func(a *model.Attribute, path string) {
		if a.Type != model.Object && a.Type != model.Array {
			names = append(names, path)
		}
		for i := range a.Properties {
			if p := &a.Properties[i]; model.Addressable(p.Name) {
				add(p, path+"."+p.Name)
			}
		}
	}
	for i := range f.Attributes {
		if a := &f.Attributes[i]; f.maySee(a.Name) {
			add(a, a.Name)
		}
	}
	if f.timestamps() {
		names = append(names, "created_at", "updated_at")
	}
	return names
}

func (g *generator) shape(f family) {
	n := f.name
	g.line("\n/** The types of %s. */\nexport interface %sShape extends CollectionShape {\n  read: %s;", f.Name, n, n)
	if f.ReadOnly() {
		g.line("  create: never;\n  replace: never;\n  patch: never;\n  deleted: never;\n  change: never;")
	} else {
		deleted := n
		if slices.Contains(f.Async, "DELETE") {
			deleted = "ResourceReference" // the response may come before the deletion
		}
		change := "ChangeOptions"
		if f.RequireIfMatch {
			change = "ConditionalChangeOptions"
		}
		g.line("  create: %sCreate;\n  replace: %sReplace;\n  patch: %sPatch;\n  deleted: %s;\n  change: %s;", n, n, n, deleted, change)
	}
	g.line("  filter: %sFilter;\n  sort: %sSort;\n  search: %s;\n  unique: %s;", n, n, f.searchType(), f.uniqueType())
	g.line("  relations: %s;\n  groups: %sGroups;\n  transitions: %s;", g.relationTypes(f), n, g.transitionsType(f))
	var children []string
	for _, child := range g.children(f) {
		children = append(children, "readonly "+member(child.Name)+": "+child.below())
	}
	g.line("  children: %s;\n}", braced(children))
}

// braced is an object type with members.
func braced(members []string) string {
	if len(members) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(members, "; ") + " }"
}

func (g *generator) nullable(a *model.Attribute, value string) string {
	if a.Required {
		return value
	}
	return value + " | null"
}

// typeIn is the type of an attribute as it is read.
func (g *generator) typeIn(f family, a *model.Attribute) string {
	if f.ReadOnly() && a.Name == "errors" {
		return "readonly ApiProblem[]" // the schema does not say of what it is an array
	}
	return g.typeOf(a, false)
}

// typeOf is the type of a value, as it is read or as it can be written.
func (g *generator) typeOf(a *model.Attribute, written bool) string {
	if values := g.literals(a); values != nil {
		return union(values)
	}
	switch a.Type {
	case model.Boolean:
		return "boolean"
	case model.Number:
		return "number"
	case model.Integer:
		switch {
		case !g.isBigInt(a):
			return "number"
		case written:
			return "bigint | number"
		}
		return "bigint"
	case model.Array:
		if a.Items == nil {
			return "unknown[]"
		}
		item := g.typeOf(a.Items, written)
		if strings.Contains(item, "|") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case model.Object:
		return g.objectType(a, written)
	}
	if a.Format == model.DateTime && written {
		return "string | Date"
	}
	return "string"
}

func (g *generator) objectType(a *model.Attribute, written bool) string {
	var members []string
	for i := range a.Properties {
		p := &a.Properties[i]
		optional := "?"
		if p.Required {
			optional = ""
		}
		members = append(members, typed(p.Name, optional, g.typeOf(p, written)))
	}
	if !a.Closed {
		members = append(members, "[member: string]: unknown")
	}
	if len(members) == 0 {
		return "Record<string, never>"
	}
	return braced(members)
}

// literals are the values of an enum, if TypeScript can write them all.
func (g *generator) literals(a *model.Attribute) []string {
	if a.Type == model.Object || a.Type == model.Array || g.isBigInt(a) || a.Format == model.DateTime || a.Format == model.Decimal {
		return nil
	}
	var values []string
	for _, constant := range a.Enum {
		value := literal(constant)
		if a.Type == model.Integer && !isSafe(json.Number(value)) {
			return nil
		}
		values = append(values, value)
	}
	return values
}

// isBigInt reports whether values are bigint: integers that a number would round.
func (g *generator) isBigInt(a *model.Attribute) bool {
	if !g.options.BigInt || a.Type != model.Integer {
		return false
	}
	if len(a.Enum) > 0 && !slices.ContainsFunc(a.Enum, func(constant any) bool { return !isSafe(json.Number(literal(constant))) }) {
		return false
	}
	low := isSafe(a.Minimum) || isSafe(a.ExclusiveMinimum)
	high := isSafe(a.Maximum) || isSafe(a.ExclusiveMaximum)
	return !low || !high
}

var maxSafe = big.NewRat(1<<53-1, 1)

// isSafe reports whether a bound is given, and is an integer that a number represents exactly.
func isSafe(n json.Number) bool {
	value, ok := new(big.Rat).SetString(string(n))
	return ok && value.Abs(value).Cmp(maxSafe) <= 0
}

// literal is a constant of the schema as JSON, which TypeScript reads as well.
func literal(constant any) string {
	return string(model.MustMarshal(constant))
}

func union(values []string) string { return strings.Join(values, " | ") }
