package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/versions"
)

// A migration can be made in two parts, so that servers with the old and the new schema use the database in between. The first part
// stores an expanded schema: what both schemas accept, under the names of the old one. Its steps are additive. The second part, the
// contraction, migrates the expanded schema to the new one.

// Part is a part of a migration.
type Part string

// The parts.
const (
	Whole    Part = ""         // all steps, or those that an expansion has left
	Expand   Part = "expand"   // the steps that servers with the old schema can obey
	Contract Part = "contract" // the steps that an expansion has left
)

// serve is the part for a server that starts with a schema: no step, if the database is expanded for the schema or from it.
const serve Part = "serve"

// planPart plans a part of a migration. Nil: there is nothing to do. With the former schema of an expanded database, the whole
// migration undoes the expansion.
func planPart(state *catalog.State, to *model.Schema, part Part) (*plan, error) {
	switch {
	case state.Target == nil && bytes.Equal(state.Schema.Document(), to.Document()):
		return nil, nil
	case state.Target == nil && part == Contract:
		return nil, errors.New("the database is not expanded for this schema: \"plural migrate --expand\" does so, and \"plural migrate\" makes both parts at once")
	case state.Target == nil && part == Expand:
		goal := newPlan(state.Schema, to)
		if goal.additive() && writable(goal) {
			return goal, nil
		}
		expanded, err := goal.expansion()
		if err != nil {
			return nil, err
		}
		p := newPlan(state.Schema, expanded)
		p.goal = goal
		if !p.additive() || !readable(p) || !writable(p) {
			return nil, fmt.Errorf("servers with the old schema could not use the expanded one, so nothing was changed; this is a bug in Plural: %v", misfitOf(p, true).Differences)
		}
		return p, nil
	case state.Target == nil:
		return newPlan(state.Schema, to), nil
	case state.IsTarget(to) && (part == Expand || part == serve), state.IsFormer(to) && part == serve:
		return nil, nil
	case state.IsTarget(to):
		renamed, err := renamedAs(state)
		if err != nil {
			return nil, err
		}
		return (&plan{from: state.Schema, to: renamed, former: state.Former}).compareAll(), nil
	case state.IsFormer(to) && part == Whole:
		return (&plan{from: state.Schema, to: to, undoes: true}).compareAll(), nil
	}
	return nil, &db.MisfitError{
		Problem:     "the database is expanded for another schema",
		Differences: []string{fmt.Sprintf("version %d of the schema is in use, and the one that the database was expanded for", state.FormerVersion)},
		Advice: `Servers start with one of these two schemas. With the new one, "plural migrate --contract" completes the migration; with the old one, ` +
			`"plural migrate" undoes it.`,
	}
}

// expansion makes the expanded schema of a plan. It refuses what servers with the old and the new schema cannot both use.
func (p *plan) expansion() (*model.Schema, error) {
	x := &expansion{plan: p, names: map[string]string{}}
	for _, pair := range p.pairs {
		x.names[pair.to.Name] = pair.from.Name
	}
	for _, c := range p.from.Collections() {
		at := slices.IndexFunc(p.pairs, func(pair *pair) bool { return pair.from == c })
		if at < 0 {
			x.collections = append(x.collections, *c)
		} else {
			x.collections = append(x.collections, x.expand(p.pairs[at]))
		}
	}
	for _, c := range p.added {
		x.collections = append(x.collections, x.add(c))
	}
	if len(x.refused) > 0 {
		return nil, fmt.Errorf("servers with the old and the new schema cannot use the database at the same time, so nothing was changed:\n  - %s\nMake these changes by themselves, by \"plural migrate\" without --expand",
			strings.Join(x.refused, "\n  - "))
	}
	document := model.MustMarshal(struct {
		model.Versions
		Collections []model.Collection `json:"collections"`
	}{p.to.Versions(), x.collections})
	s, err := compile.Stored(document)
	if err != nil {
		return nil, fmt.Errorf("no schema has the names and the values of both the old and the new one, so nothing was changed: %w", err)
	}
	return s, nil
}

type expansion struct {
	plan        *plan
	names       map[string]string // of collections of both schemas: the old name by the new one
	collections []model.Collection
	refused     []string
}

func (x *expansion) refuse(format string, args ...any) {
	x.refused = append(x.refused, fmt.Sprintf(format, args...))
}

// stored is the name of a collection of the new schema in the expanded one.
func (x *expansion) stored(name string) string {
	if before, ok := x.names[name]; ok {
		return before
	}
	return name
}

// expand is a collection of both schemas.
func (x *expansion) expand(pair *pair) model.Collection {
	from, to, c := pair.from, pair.to, *pair.from
	if !pair.sameParent() {
		x.refuse("%s: another parent", to.Name)
	}
	if !pair.sameSearch() {
		x.refuse("%s: other attributes are searched", to.Name)
	}
	if from.NoTimestamps != to.NoTimestamps {
		x.refuse("%s: timestamps are added or removed", to.Name)
	}
	c.Attributes = slices.Clone(from.Attributes)
	first, end := from.AttributeColumns()
	for column := first; column < end; column++ {
		a := &c.Attributes[column-first]
		if source := slices.Index(pair.source, column); source >= 0 {
			*a = x.looser(pair, column, source)
		} else if a.Default == nil {
			a.Required = false // servers with the new schema create resources without it
		}
	}
	first, end = to.AttributeColumns()
	for column := first; column < end; column++ {
		if pair.source[column] == noSource {
			c.Attributes = append(c.Attributes, x.addAttribute(to.Columns()[column].Attribute))
		}
	}
	c.Unique, c.Index = nil, slices.Clone(from.Index)
	for _, group := range from.UniqueGroups() {
		if carried := pair.carried(db.IndexOf(group...)); carried != nil && isUnique(to, carried) {
			names := make([]string, len(group))
			for i, column := range group {
				names[i] = from.Columns()[column].Name
			}
			c.Unique = append(c.Unique, names)
		}
	}
	for _, group := range to.Index {
		c.Index = append(c.Index, pair.formerNames(group))
	}
	c.Index = slices.CompactFunc(slices.SortedFunc(slices.Values(c.Index), slices.Compare[[]string]), slices.Equal[[]string])
	c.Checks = slices.DeleteFunc(slices.Clone(from.Checks), func(check model.Check) bool { return !hasCheck(to, check.Rule) })
	return c
}

// isUnique reports whether the values of a group are unique.
func isUnique(c *model.Collection, group model.IndexGroup) bool {
	return slices.ContainsFunc(c.UniqueGroups(), func(columns []int) bool { return slices.Equal(db.IndexOf(columns...), group) })
}

// formerNames are the names of the values of an index in the expanded schema.
func (p *pair) formerNames(group []string) []string {
	names := slices.Clone(group)
	for i, name := range names {
		sign := ""
		if rest, ok := strings.CutPrefix(name, "-"); ok {
			sign, name = "-", rest
		}
		name, path, inside := strings.Cut(name, ".")
		if field := p.to.Field(name); field != nil && field.Column != model.NoColumn && p.source[field.Column] != noSource {
			name = p.from.Columns()[p.source[field.Column]].Name
		}
		if names[i] = sign + name; inside {
			names[i] += "." + path
		}
	}
	return names
}

// looser is an attribute of both schemas. It accepts each value that one of them accepts. It has the rules of the old attribute if the new
// one has rules of the same kind, because servers with the new schema obey their own.
func (x *expansion) looser(pair *pair, fromColumn, toColumn int) model.Attribute {
	from, to := pair.from.Columns()[fromColumn], pair.to.Columns()[toColumn]
	before, a := from.Attribute, to.Attribute
	if from.Kind != to.Kind || before.Type != a.Type {
		x.refuse("%s: %s is converted from %s to %s", pair.to.Name, a.Name, versions.TypeName(before), versions.TypeName(a))
	}
	both := *a
	both.Name, both.Default, both.RenamedFrom = before.Name, before.Default, ""
	both.Required = before.Required && a.Required
	both.Unique, both.Index = false, before.Index || a.Index
	tighter, looser := a.Tightened(before), before.Tightened(a)
	nested := []string{"items", "properties", "required", "additionalProperties"}
	isNested := func(name string) bool { return slices.Contains(nested, name) }
	if slices.ContainsFunc(tighter, isNested) {
		both.Items, both.Properties, both.Closed = before.Items, before.Properties, before.Closed
		if slices.ContainsFunc(looser, isNested) {
			both.Items, both.Properties, both.Closed = nil, nil, false
		}
	}
	for _, name := range tighter {
		if isNested(name) || name == "enum" {
			continue
		}
		field := model.FindKeyword(model.AttributeKeywords, name).Field
		value := reflect.ValueOf(field(before)).Elem()
		if slices.Contains(looser, name) {
			value = reflect.Zero(value.Type())
		}
		reflect.ValueOf(field(&both)).Elem().Set(value)
	}
	if both.Enum = nil; len(before.Enum) > 0 && len(a.Enum) > 0 {
		both.Enum = slices.Clone(before.Enum)
		for i, value := range a.Constraints().Enum {
			if !slices.Contains(before.Constraints().Enum, value) {
				both.Enum = append(both.Enum, a.Enum[i])
			}
		}
	}
	both.Transitions, both.Initial = nil, nil
	if a.HasLifecycle() {
		both.Transitions, both.Initial = before.Transitions, before.Initial
	}
	both.Computed, both.When = model.Rule{}, ""
	if a.IsComputed() {
		both.Computed, both.When = before.Computed, before.When
	}
	both.WriteOnce = before.WriteOnce && a.WriteOnce
	both.References, both.As, both.Inverse = before.References, before.As, before.Inverse
	switch old, now := linkAt(pair.from, fromColumn), linkAt(pair.to, toColumn); {
	case old == nil:
		both.Index = both.Index || now != nil
	case now == nil || x.stored(now.To.Name) != old.To.Name:
		x.refuse("%s: %s no longer refers to %s", pair.to.Name, a.Name, old.To.Name)
	}
	return both
}

// addAttribute is an attribute that only the new schema has. Servers with the old one give it its default.
func (x *expansion) addAttribute(a *model.Attribute) model.Attribute {
	added := *a
	added.Required = a.Required && a.Default != nil && !a.IsComputed()
	added.Unique, added.Index = false, a.Index || a.Unique
	added.Computed, added.When = model.Rule{}, ""
	added.References = x.reference(a.References)
	return added
}

func (x *expansion) reference(r *model.Reference) *model.Reference {
	if r == nil {
		return nil
	}
	return &model.Reference{Collection: x.stored(r.Collection), OnDelete: r.OnDelete}
}

// add is a collection that only the new schema has.
func (x *expansion) add(added *model.Collection) model.Collection {
	c := *added
	c.Attributes = slices.Clone(added.Attributes)
	for i := range c.Attributes {
		c.Attributes[i].References = x.reference(c.Attributes[i].References)
	}
	if c.Parent != nil {
		parent := *c.Parent
		parent.Collection = x.stored(parent.Collection)
		c.Parent = &parent
	}
	return c
}

// target describes the new schema with the numbers of the expanded one.
func (p *plan) target(n *catalog.Numbering) *catalog.Target {
	t := &catalog.Target{Document: string(p.goal.to.Document()), Collections: map[string]catalog.NumberedCollection{}}
	t.Collections[model.OperationsName] = n.Collections[model.OperationsName]
	for _, pair := range p.goal.pairs {
		expanded := n.Collections[pair.from.Name]
		numbered := catalog.NumberedCollection{Number: expanded.Number, Attributes: map[string]catalog.NumberedAttribute{}}
		first, end := pair.to.AttributeColumns()
		for column := first; column < end; column++ {
			name := pair.to.Columns()[column].Name
			if source := pair.source[column]; source != noSource {
				numbered.Attributes[name] = expanded.Attributes[pair.from.Columns()[source].Name]
			} else {
				numbered.Attributes[name] = expanded.Attributes[name]
			}
		}
		t.Collections[pair.to.Name] = numbered
	}
	for _, c := range p.goal.added {
		t.Collections[c.Name] = n.Collections[c.Name]
	}
	return t
}

// renamedAs is the target of an expanded database, with the former names as renamed_from, whatever the schema file says now.
func renamedAs(state *catalog.State) (*model.Schema, error) {
	s, err := compile.Stored([]byte(state.Numbers.Target.Document))
	if err != nil {
		return nil, err
	}
	layout, err := state.Layout(s)
	if err != nil {
		return nil, err
	}
	for _, c := range s.Collections() {
		stored := layout.Stored(c)
		if c.Name != stored.Name {
			c.RenamedFrom = stored.Name
		}
		first, end := c.AttributeColumns()
		for column := first; column < end; column++ {
			a := &c.Attributes[column-first]
			if name := stored.Columns()[layout.StoredColumn(c, column)].Name; name != a.Name {
				a.RenamedFrom = name
			}
		}
	}
	return s, nil
}

// isNew reports whether a column of from is only in the schema for which the database is expanded: nothing that servers with the old
// schema have stored is in it.
func (p *plan) isNew(pair *pair, fromColumn int) bool {
	if p.former == nil {
		return false
	}
	c := p.former.Collection(pair.from.Name)
	return c == nil || c.Declared(pair.from.Columns()[fromColumn].Name) == nil
}

// contracted lists the steps of a migration that are left for its contraction.
func (p *plan) contracted() (left []*Step) {
	for _, pair := range p.pairs {
		for _, c := range pair.changes {
			left = append(left, c.computed)
		}
	}
	for _, step := range p.steps {
		if step.Class != Additive {
			left = append(left, step)
		}
	}
	return left
}
