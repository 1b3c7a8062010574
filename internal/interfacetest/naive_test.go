package interfacetest

import (
	"encoding/json"
	"fmt"
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
	programs map[string]cel.Program            // of rules
}

// naiveRow is a resource.
type naiveRow struct {
	id     string
	kind   *model.Collection
	values map[string]string // attributes as JSON
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
		if v.may(relation.To, schema.MayRead) && (relation.One || v.may(relation.To, schema.MayList)) && v.knows(relation.Referring(), referringAttribute(relation)) {
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

// naiveQuery is which resources of a collection a request wants, and what of them.
type naiveQuery struct {
	filters  []*naiveFilter
	any      map[int][]*naiveFilter
	search   []string // beginnings of words
	sort     []naiveKey
	cursor   *naiveRow
	offset   int // -1: none
	limit    int
	fields   []string // nil: all
	includes []*naiveInclude
}

// naiveKey is a key of a sort.
type naiveKey struct {
	field      string
	kind       model.Kind
	descending bool
}

// naiveInclude is a relation with what is wanted of it.
type naiveInclude struct {
	*model.Relation
	naiveQuery
	total bool
}

// naiveFilter is a condition on a field, through relations.
type naiveFilter struct {
	steps    []*model.Relation
	path     []string
	kind     model.Kind // of the field, or of the items of an array
	operator string     // "": the field alone, which may be a list of values
	values   []string
}

// matches reports whether a query selects a resource, its range aside.
func (v *naiveView) matches(q *naiveQuery, r *naiveRow) bool {
	hold := func(filters []*naiveFilter) bool {
		return !slices.ContainsFunc(filters, func(f *naiveFilter) bool { return !v.holds(f, r, f.steps) })
	}
	some := len(q.any) == 0
	for _, alternative := range q.any {
		some = some || hold(alternative)
	}
	return some && hold(q.filters) && v.finds(q.search, r)
}

func (v *naiveView) holds(f *naiveFilter, r *naiveRow, steps []*model.Relation) bool {
	if len(steps) == 0 {
		return f.matches(r.value(f.path...))
	}
	found := v.related(r, steps[0])
	if steps[0].One && len(found) == 0 {
		return v.holds(f, nil, steps[1:])
	}
	return slices.ContainsFunc(found, func(other *naiveRow) bool { return v.holds(f, other, steps[1:]) })
}

func (f *naiveFilter) matches(value string) bool {
	equal := func(other string) bool { return compareJSON(f.kind, value, other) == 0 }
	null := value == "null"
	switch f.operator {
	case "null":
		return null == (f.values[0] == "true")
	case "ne", "not_in":
		return !slices.ContainsFunc(f.values, equal)
	}
	if null {
		return false
	}
	switch f.operator {
	case "bare":
		return f.kind != model.KindBoolean || value == "true"
	case "", "eq", "in":
		return slices.ContainsFunc(f.values, equal)
	case "lt":
		return compareJSON(f.kind, value, f.values[0]) < 0
	case "lte":
		return compareJSON(f.kind, value, f.values[0]) <= 0
	case "gt":
		return compareJSON(f.kind, value, f.values[0]) > 0
	case "gte":
		return compareJSON(f.kind, value, f.values[0]) >= 0
	case "contains":
		return strings.Contains(plain(value), plain(f.values[0]))
	case "starts_with":
		return strings.HasPrefix(plain(value), plain(f.values[0]))
	}
	items := jsonItems(value)
	has := func(wanted string) bool {
		return slices.ContainsFunc(items, func(item string) bool { return compareJSON(f.kind, item, wanted) == 0 })
	}
	if f.operator == "has" {
		return slices.ContainsFunc(f.values, has)
	}
	return !slices.ContainsFunc(f.values, func(wanted string) bool { return !has(wanted) })
}

// searched lists the attributes that a search looks at.
func (v *naiveView) searched(c *model.Collection) (names []string) {
	for _, name := range append(slices.Clone(c.Search), c.Label) {
		if name != "" && v.knows(c, name) {
			names = append(names, name)
		}
	}
	return names
}

// finds reports whether each beginning is one of a word.
func (v *naiveView) finds(beginnings []string, r *naiveRow) bool {
	var words []string
	for _, name := range v.searched(r.kind) {
		if value := r.value(name); value != "null" {
			for _, word := range strings.Fields(plain(value)) {
				words = append(words, modelWords[word]...)
			}
		}
	}
	return allBegin(beginnings, words)
}

// selects is the resources of a query among others, in its order: all, and those of its range.
func (v *naiveView) selects(q *naiveQuery, among []*naiveRow) (all, some []*naiveRow) {
	for _, r := range among {
		if v.matches(q, r) {
			all = append(all, r)
		}
	}
	order := func(a, b *naiveRow) int {
		for _, key := range q.sort {
			order := compareJSON(key.kind, a.value(key.field), b.value(key.field))
			if key.descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return strings.Compare(a.id, b.id)
	}
	slices.SortFunc(all, order)
	anchor := q.offset
	if q.cursor != nil {
		anchor = len(slices.DeleteFunc(slices.Clone(all), func(r *naiveRow) bool { return order(r, q.cursor) >= 0 }))
	}
	from, to := naiveRange(anchor, q.limit, len(all))
	return all, all[from:to]
}

// naiveRange is what a range selects of so many. An anchor below zero is none.
func naiveRange(anchor, limit, count int) (from, to int) {
	if anchor < 0 {
		if anchor = 0; limit < 0 {
			anchor = count
		}
	}
	from, to = min(anchor, anchor+limit), max(anchor, anchor+limit)
	return min(max(from, 0), count), min(max(to, 0), count)
}

// represent is a resource with what is included, as JSON.
func (v *naiveView) represent(r *naiveRow, q *naiveQuery) string {
	parts := []string{`"id":` + quoted(r.id), `"type":` + quoted(r.kind.Name)}
	wanted := func(name string) bool {
		return v.knows(r.kind, name) && (q.fields == nil || slices.Contains(q.fields, name))
	}
	for _, a := range r.kind.Attributes {
		if wanted(a.Name) {
			parts = append(parts, quoted(a.Name)+":"+r.value(a.Name))
		}
	}
	for _, name := range []string{"created_at", "updated_at"} {
		if wanted(name) && !r.kind.NoTimestamps {
			parts = append(parts, quoted(name)+`:"TIME"`)
		}
	}
	for _, include := range q.includes {
		all, found := v.selects(&include.naiveQuery, v.related(r, include.Relation))
		if include.One {
			text := "null"
			if len(all) > 0 {
				text = v.represent(all[0], &include.naiveQuery)
			}
			parts = append(parts, quoted(include.Name)+":"+text)
			continue
		}
		var items []string
		for _, each := range found {
			items = append(items, v.represent(each, &include.naiveQuery))
		}
		parts = append(parts, array(include.Name, items...))
		if include.total {
			parts = append(parts, fmt.Sprintf(`"%s_total":%d`, include.Name, len(all)))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
