package migrate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/versions"
)

// Class decides who may apply a step. Whether values are really changed is another question: a rename is
// rewriting and changes none, see migration.valuesChanged.
type Class string

const (
	// Additive: a server may apply the step by itself when it starts, as all values of resources stay as they are. Servers
	// with the old schema continue as far as Allows says.
	Additive Class = "additive"
	// Rewriting: somebody must ask for the migration, because servers with the old schema could no longer
	// write, or not even read. All values are kept, under another name or converted, except for those that
	// violate the new schema.
	Rewriting Class = "rewriting"
	// Losing: as rewriting, and somebody must also allow that data is lost.
	Losing Class = "losing"
)

// Step describes one difference between two schemas, for users and for refusals. The stages of apply do not execute steps: they
// derive the work from the pairs of the plan.
type Step struct {
	Class Class  // where no value is affected, the survey makes it Additive
	Text  string // for users

	// The survey sets the rest.
	Cost       string    // for users: how many resources are read or written
	Violations int64     // resources that violate the new schema
	Examples   []Example // some of them
	Problem    string    // of the first
	// Blocked: dropping values cannot resolve the violations.
	Blocked   bool
	Unreached int64    // resources in a state of a lifecycle that nothing leads to. Examples are some of them
	Samples   []Sample // what the step would compute

	cost    func(*survey) (string, error)
	affects *affected // nil for an additive step
}

// affected is a column of a collection of from, or all of the collection.
type affected struct {
	collection *model.Collection
	column     int // or allResources
}

// in says which values a step affects.
func (s *Step) in(c *model.Collection, column int) *Step {
	s.affects = &affected{c, column}
	return s
}

// Example is a resource that violates a step.
type Example struct {
	ID    model.ID
	Value string // that violates it, as JSON, perhaps shortened; empty: it has none
}

// Sample is a resource with the value that a step would compute.
type Sample struct {
	ID            model.ID
	Before, After string // as JSON, perhaps shortened
}

// Loses reports whether the step loses stored values.
func (s *Step) Loses() bool { return s.Class == Losing || s.Violations > 0 }

// plan is how to get from one schema to another: from is the schema that the database has, to is the
// one that it will have.
type plan struct {
	from, to *model.Schema
	steps    []*Step
	pairs    []*pair
	added    []*model.Collection // collections of to
	removed  []*model.Collection // collections of from

	state   *catalog.State // of the database; nil: it is empty
	earlier int64          // version of to, if the database has had it before; 0 if not

	goal   *plan         // of an expansion: the migration of which it is the first part
	former *model.Schema // of a contraction: the schema before the expansion
	undoes bool          // an expansion: servers with the other schema may have stored what their rules compute

	newest *Step                     // of the newest version of the interface; nil: there is none
	ended  map[int][]versions.Reason // the versions of the interface that end, and why
}

// pair is a collection that is in both schemas, perhaps under two names. Columns are numbered in each
// of the two.
type pair struct {
	from, to *model.Collection
	source   []int // the column of from for each column of to; noSource for a new one
	changes  []*change
	unique   []uniqueChange

	checks     []checkStep
	lifecycles []lifecycleStep
	newChecks  bool // that later writes must meet

	timestamps *Step // they are added or removed; nil: neither
}

// Instead of a number of a column:
const (
	noSource     = -1 // a new column has no source
	allResources = -1 // the cost of a step, or what it affects, depends on no column
)

// change is a column of both schemas whose values must be checked, as it is numbered in each.
type change struct {
	fromColumn, toColumn int
	attribute            *model.Attribute

	// Nil: there is no such step.
	valueStep    *Step // the definition changed: values are converted and checked
	requiredStep *Step // null is no longer allowed; a default takes its place
	linkStep     *Step // the referenced resource must exist in target
	target       *model.Collection
	computed     *Step // the value is computed from the new state of the resource, whatever it was
	cleared      *Step // the value becomes null, because only later writes compute it
}

// uniqueChange is a group of columns of to that must become unique.
type uniqueChange struct {
	group []int
	step  *Step
}

// makePlan plans the migration of a database to a schema, which may be one that the database had
// before. Nil: the database has this schema. It reads no resources. On PostgreSQL, a transaction that is not one of a migration
// has its snapshot before the lock of the schema, which may not exist yet. So it may plan from the schema before a migration
// that has just ended. Migrations plan again under their locks, and the next transaction of a server notices (Conn.Expect).
func makePlan(c db.Conn, d db.Dialect, to *model.Schema, part Part) (*plan, error) {
	found, err := db.Describe(c, d)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		p := newPlan(&model.Schema{}, to)
		p.state = &catalog.State{}
		return p, nil
	}
	state, err := catalog.Open(c, d, found)
	if err != nil {
		return nil, err
	}
	undoes := state.Target != nil && !state.IsTarget(to) // an expansion, which ends no version: the former schema may have an earlier one
	if !undoes {
		if err := refuseVersion(state.Schema, to); err != nil {
			return nil, err
		}
	}
	p, err := planPart(state, to, part)
	if err != nil || p == nil {
		return nil, err
	}
	if p.state = state; undoes {
		return p, nil
	}
	if err := p.planVersions(c); err != nil {
		return nil, err
	}
	p.earlier, err = catalog.Find(c, to)
	return p, err
}

// earlierVersion says that the schema of a plan is an earlier one; empty if it is not.
func (p *plan) earlierVersion() string {
	if p.earlier == 0 {
		return ""
	}
	return fmt.Sprintf("This is schema version %d of the database, which is now at version %d", p.earlier, p.state.Version)
}

// newPlan compares two schemas. It reads no data.
func newPlan(from, to *model.Schema) *plan { return (&plan{from: from, to: to}).compareAll() }

// compareAll finds the steps.
func (p *plan) compareAll() *plan {
	from, to := p.from, p.to
	paired := map[*model.Collection]bool{}
	for _, c := range to.Collections() {
		before := from.Collection(c.Name)
		if before == nil && c.RenamedFrom != "" {
			before = from.Collection(c.RenamedFrom)
		}
		if before == nil {
			p.added = append(p.added, c)
			continue
		}
		paired[before] = true
		p.pairs = append(p.pairs, &pair{from: before, to: c})
	}
	for _, pair := range p.pairs {
		p.compare(pair)
	}
	for _, c := range p.added {
		p.add(Additive, nil, "new collection %s", c.Name)
	}
	for _, c := range from.Collections() {
		if !paired[c] {
			p.removed = append(p.removed, c)
			rename := func(c *model.Collection) (to, from string) { return c.Name, c.RenamedFrom }
			p.add(Losing, costOf("loses", c, allResources), "collection %s is removed%s%s", c.Name, whyRemoved(c.Name, to.Collections(), rename), p.renameAdvice(c)).in(c, allResources)
		}
	}
	p.compareVersions()
	if len(p.steps) == 0 && !bytes.Equal(from.Document(), to.Document()) {
		p.add(Additive, nil, "the collections are declared in another order")
	}
	return p
}

// isFirst reports whether the database has no schema yet.
func (p *plan) isFirst() bool { return len(p.from.Collections()) == 0 }

// whyRemoved explains a removal where another declaration names it in renamed_from.
func whyRemoved[T any](name string, declared []T, rename func(T) (to, from string)) string {
	for _, d := range declared {
		if to, from := rename(d); from == name {
			return fmt.Sprintf(", and not renamed to %s, which already exists in the database", to)
		}
	}
	return ""
}

func (p *plan) add(class Class, cost func(*survey) (string, error), format string, args ...any) *Step {
	step := &Step{Class: class, Text: fmt.Sprintf(format, args...), cost: cost}
	p.steps = append(p.steps, step)
	return step
}

// additive reports whether all steps are additive.
func (p *plan) additive() bool {
	return !slices.ContainsFunc(p.steps, func(s *Step) bool { return s.Class != Additive })
}

// pairOf finds the pair of a collection of to, or returns nil.
func (p *plan) pairOf(to *model.Collection) *pair {
	for _, pair := range p.pairs {
		if pair.to == to {
			return pair
		}
	}
	return nil
}

func (p *plan) compare(pair *pair) {
	from, to, before := pair.from, pair.to, len(p.steps)
	if from.Name != to.Name {
		p.add(Rewriting, pair.renameCost(allResources), "collection %s is renamed to %s", from.Name, to.Name).in(from, allResources)
	}
	if from.Singular != to.Singular {
		p.add(Additive, nil, "%s: the singular becomes %s", to.Name, to.Singular)
	}
	pair.match()
	first, end := to.AttributeColumns()
	for column := first; column < end; column++ {
		if pair.source[column] == noSource {
			p.newAttribute(pair, column)
		} else {
			p.compareAttribute(pair, pair.source[column], column)
		}
	}
	first, end = from.AttributeColumns()
	for column := first; column < end; column++ {
		if !slices.Contains(pair.source, column) {
			name := from.Columns()[column].Name
			rename := func(a model.Attribute) (to, from string) { return a.Name, a.RenamedFrom }
			p.add(Losing, costOf("loses the values of", from, column), "%s: attribute %s is removed%s%s", to.Name, name,
				whyRemoved(name, to.Attributes, rename), pair.renameAdvice(from.Columns()[column].Attribute)).in(from, column)
		}
	}
	p.compareRules(pair)
	if from.NoTimestamps && !to.NoTimestamps {
		pair.timestamps = p.add(Rewriting, costOf("writes", from, allResources), "%s: created_at and updated_at are added, with the time of the migration", to.Name).in(from, allResources)
	}
	if !from.NoTimestamps && to.NoTimestamps {
		pair.timestamps = p.add(Losing, costOf("loses the timestamps of", from, allResources), "%s: created_at and updated_at are removed", to.Name).in(from, allResources)
	}
	p.planIndexes(pair)
	p.compareSearch(pair)
	p.compareParents(pair)
	if len(p.steps) == before && !bytes.Equal(from.Document(), to.Document()) {
		p.add(Additive, nil, "%s: changes without effect on stored values", to.Name)
	}
}

// match finds the column of from for each column of to.
func (p *pair) match() {
	columns := map[string]int{}
	for i, column := range p.from.Columns() {
		columns[column.Name] = i
	}
	for _, column := range p.to.Columns() {
		source, ok := columns[column.Name]
		if a := column.Attribute; !ok && a != nil {
			if source, ok = columns[a.RenamedFrom]; !ok {
				source, ok = p.formerParent(a)
			}
		}
		if !ok {
			source = noSource
		}
		p.source = append(p.source, source)
	}
}

// renameAdvice says how to keep the values of a removed attribute, if it may have been
// renamed to a new one of the same type.
func (p *pair) renameAdvice(removed *model.Attribute) string {
	var names []string
	for i, column := range p.to.Columns() {
		if a := column.Attribute; p.source[i] == noSource && a != nil && a.RenamedFrom == "" && versions.TypeName(a) == versions.TypeName(removed) {
			names = append(names, a.Name)
		}
	}
	return writeRenamed(removed.Name, names)
}

// renameAdvice says how to keep the resources of a removed collection, if it may have been renamed to a new one: one name
// contains the other, or they share half of their attributes.
func (p *plan) renameAdvice(removed *model.Collection) string {
	var names []string
	for _, added := range p.added {
		contains := strings.Contains(added.Name, removed.Name) || strings.Contains(removed.Name, added.Name)
		if added.RenamedFrom == "" && (contains || shareAttributes(removed, added)) {
			names = append(names, added.Name)
		}
	}
	return writeRenamed(removed.Name, names)
}

func shareAttributes(a, b *model.Collection) bool {
	shared := 0
	for i := range a.Attributes {
		field := slices.IndexFunc(b.Attributes, func(other model.Attribute) bool { return other.Name == a.Attributes[i].Name })
		if field >= 0 && versions.TypeName(&b.Attributes[field]) == versions.TypeName(&a.Attributes[i]) {
			shared++
		}
	}
	return shared > 0 && 2*shared >= max(len(a.Attributes), len(b.Attributes))
}

func writeRenamed(name string, to []string) string {
	if len(to) == 0 {
		return ""
	}
	return fmt.Sprintf("; if it is renamed, write renamed_from: %s at %s", name, strings.Join(to, " or "))
}

// formerParent handles the reference to the parent: it may be named after the parent, and is
// then renamed with it.
func (p *pair) formerParent(a *model.Attribute) (int, bool) {
	before, after := p.from.ParentLink(), p.to.ParentLink()
	if before == nil || after == nil || p.to.Parent.Attribute != a.Name || p.to.Field(p.from.Parent.Attribute) != nil {
		return 0, false
	}
	if to := after.To; to.Name != before.To.Name && to.RenamedFrom != before.To.Name {
		return 0, false
	}
	declared := func(other model.Attribute) bool { return other.RenamedFrom == p.from.Parent.Attribute }
	return before.Column, !slices.ContainsFunc(p.to.Attributes, declared) // another attribute may declare renamed_from
}

func (p *plan) compareParents(pair *pair) {
	before, after := pair.from.ParentLink(), pair.to.ParentLink()
	switch {
	case after == nil && before != nil:
		p.add(Additive, nil, "%s: no longer a sub-collection of %s", pair.to.Name, before.To.Name)
	case after != nil && !pair.sameParent():
		p.add(Additive, costOf("counts", pair.from, allResources), "%s: becomes a sub-collection of %s, by %s", pair.to.Name, after.To.Name, pair.to.Parent.Attribute)
	}
}

// sameParent reports whether the totals by parent stay the same.
func (p *pair) sameParent() bool {
	before, after := p.from.ParentLink(), p.to.ParentLink()
	if before == nil || after == nil {
		return before == after
	}
	return p.source[after.Column] == before.Column
}
