package interfacetest

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// naive is the resources of any schema, and answers what a server should answer, in the simplest way: it
// looks at every resource, and keeps values as JSON.
type naive struct {
	schema   *model.Schema
	access   *schema.Access
	rows     map[*model.Collection][]*naiveRow // in the order of ids
	defaults map[string]string                 // as JSON, by collection.attribute
	revision int                               // of the last change
	gone     map[*model.Collection]string      // the id that the same request has deleted last
	programs map[string]cel.Program            // of rules
}

// naiveRow is a resource.
type naiveRow struct {
	id       string
	kind     *model.Collection
	values   map[string]string // attributes as JSON
	revision int
}

// value is a field of a resource as JSON, also inside an object. A resource that is not there has nulls.
func (r *naiveRow) value(path ...string) string {
	switch {
	case r == nil:
		return "null"
	case path[0] == "id":
		return quoted(r.id)
	case path[0] == "type":
		return quoted(r.kind.Name)
	}
	value := r.values[path[0]]
	for _, name := range path[1:] {
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(value), &members) != nil || members[name] == nil {
			return "null"
		}
		value = string(members[name])
	}
	return value
}

// plain is a JSON value as a parameter has it.
func plain(value string) (text string) {
	if !strings.HasPrefix(value, `"`) {
		return value
	}
	if err := json.Unmarshal([]byte(value), &text); err != nil {
		panic(err)
	}
	return text
}

// jsonItems is the items of an array, none for null.
func jsonItems(value string) (items []string) {
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(value), &raw); err != nil {
		panic(err)
	}
	for _, item := range raw {
		items = append(items, string(item))
	}
	return items
}

func isNumeric(kind model.Kind) bool {
	return kind == model.KindInteger || kind == model.KindNumber || kind.IsDecimal()
}

// compareJSON compares two values of a kind. Null is smallest.
func compareJSON(kind model.Kind, a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "null":
		return -1
	case b == "null":
		return 1
	case isNumeric(kind):
		return rational(a).Cmp(rational(b))
	}
	return strings.Compare(plain(a), plain(b))
}

func rational(value string) *big.Rat {
	number, ok := new(big.Rat).SetString(plain(value))
	if !ok {
		panic(value + " is no number")
	}
	return number
}

// naiveView is what a caller sees of it.
type naiveView struct {
	*naive
	name, role, sub string
	seen            map[*naiveRow]bool // until something is written
	version         *naiveVersion      // of the interface; nil: the schema has none
}

func (v *naiveView) may(c *model.Collection, verb schema.AccessVerb) bool {
	g := v.grant(c)
	return g != nil && slices.Contains(g.Verbs, verb)
}

func (v *naiveView) grant(c *model.Collection) *schema.Grant {
	for _, role := range v.access.Roles {
		for i := range role.Grants {
			if role.Name == v.role && role.Grants[i].Collection == c.Name {
				return &role.Grants[i]
			}
		}
	}
	return nil
}

// knows reports whether the caller may see an attribute.
func (v *naiveView) knows(c *model.Collection, attribute string) bool {
	g := v.grant(c)
	return g != nil && (g.Visible == nil || slices.Contains(g.Visible, attribute) || slices.Contains([]string{"id", "type", "created_at", "updated_at"}, attribute))
}

func (v *naiveView) sees(r *naiveRow) bool {
	seen, known := v.seen[r]
	if !known {
		seen = v.may(r.kind, schema.MayRead)
		if rule := v.grant(r.kind); seen && rule.Rules[schema.MayRead].Text != "" {
			seen = v.allows(r, rule.Rules[schema.MayRead].Text)
		}
		v.seen[r] = seen
	}
	return seen
}

// visible is the resources of a collection that the caller sees.
func (v *naiveView) visible(c *model.Collection) (rows []*naiveRow) {
	for _, r := range v.rows[c] {
		if v.sees(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

// allows evaluates a rule by cel-go.
func (v *naiveView) allows(r *naiveRow, rule string) bool {
	options := []cel.EnvOption{cel.Variable("auth.sub", cel.StringType)}
	variables := map[string]any{}
	if v.sub != "" {
		variables["auth.sub"] = v.sub
	}
	var declare func(prefix string, c *model.Collection, r *naiveRow, steps int)
	declare = func(prefix string, c *model.Collection, r *naiveRow, steps int) {
		for i := range c.Attributes {
			if a := &c.Attributes[i]; celTypes[a.Kind()] != nil {
				options = append(options, cel.Variable(prefix+a.Name, cel.NullableType(celTypes[a.Kind()])))
				variables[prefix+a.Name] = celValue(a.Kind(), r.value(a.Name))
			}
		}
		for _, relation := range c.Relations() {
			if relation.One && steps > 0 {
				declare(prefix+relation.Name+".", relation.To, v.referred(r, relation), steps-1)
			}
		}
	}
	declare("resource.", r.kind, r, 2)
	key := r.kind.Name + " " + rule
	if v.programs[key] == nil {
		env, err := cel.NewEnv(options...)
		if err != nil {
			panic(err)
		}
		checked, issues := env.Compile(rule)
		if issues.Err() != nil {
			panic(issues.Err())
		}
		if v.programs[key], err = env.Program(checked); err != nil {
			panic(err)
		}
	}
	value, _, err := v.programs[key].Eval(variables)
	return err == nil && value.Value() == true
}

var celTypes = map[model.Kind]*cel.Type{
	model.KindText: cel.StringType, model.KindUUID: cel.StringType, model.KindDate: cel.StringType, model.KindInteger: cel.IntType,
	model.KindNumber: cel.DoubleType, model.KindBoolean: cel.BoolType, model.KindDateTime: cel.TimestampType,
}

func celValue(kind model.Kind, value string) any {
	if value == "null" {
		return nil
	}
	switch kind {
	case model.KindInteger:
		return rational(value).Num().Int64()
	case model.KindNumber:
		number, _ := rational(value).Float64()
		return number
	case model.KindBoolean:
		return value == "true"
	case model.KindDateTime:
		at, err := time.Parse(time.RFC3339, plain(value))
		if err != nil {
			panic(err)
		}
		return at
	}
	return plain(value)
}

// referred is the resource that a reference refers to, seen or not.
func (m *naive) referred(r *naiveRow, relation *model.Relation) *naiveRow {
	reference := r.value(referringAttribute(relation))
	for _, other := range m.rows[relation.To] {
		if reference == quoted(other.id) {
			return other
		}
	}
	return nil
}

// referringAttribute is the attribute of a relation, in either of its collections.
func referringAttribute(relation *model.Relation) string {
	return relation.Referring().Columns()[relation.Column].Name
}

// relations lists those that the caller may use.
func (v *naiveView) relations(c *model.Collection) (known []*model.Relation) {
	for _, relation := range c.Relations() {
		if v.may(relation.To, schema.MayRead) && (relation.One || v.may(relation.To, schema.MayList)) && v.knows(relation.Referring(), referringAttribute(relation)) && !v.lacks(c, relation.Name) {
			known = append(known, relation)
		}
	}
	return known
}

// related is the resources that a relation leads to, in the order of ids.
func (v *naiveView) related(r *naiveRow, relation *model.Relation) (found []*naiveRow) {
	if r == nil {
		return nil
	}
	for _, other := range v.visible(relation.To) {
		if relation.One && r.value(referringAttribute(relation)) == quoted(other.id) || !relation.One && other.value(referringAttribute(relation)) == quoted(r.id) {
			found = append(found, other)
		}
	}
	return found
}
