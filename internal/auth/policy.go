package auth

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Policy is the compiled access rules of each role. It is immutable.
type Policy struct {
	names      []string // of the roles, in the order in which they are declared
	roles      map[string]grants
	metrics    []string
	keys       map[string][]string // see schema.Access
	warnings   []string
	operations *model.Collection
	changes    *model.Collection
}

// grants is what a role may do, by the collections as they are stored.
type grants map[*model.Collection]*grant

// of is the grant in a collection, in whatever version of the interface. Nil: there is none.
func (g grants) of(c *model.Collection) *grant { return g[c.Base()] }

// grant is what a role may do in a collection.
type grant struct {
	verbs             []schema.AccessVerb
	visible, writable model.ColumnSet // in all versions of the interface together
	newest            inVersion
	rules             map[schema.AccessVerb]*rule
	transitions       []transition
}

// inVersion is what a grant allows of what a version has.
type inVersion struct {
	collection        *model.Collection // of the version
	visible, writable model.ColumnSet
	columnsTag        string // of what is visible
}

// in is made beforehand for the newest version.
func (g *grant) in(c *model.Collection) inVersion {
	if c == g.newest.collection {
		return g.newest
	}
	return inVersion{collection: c, visible: inBoth(g.visible, c.Shows()), writable: inBoth(g.writable, c.Writable())}
}

// inBoth is the columns that two sets have.
func inBoth(a, b model.ColumnSet) model.ColumnSet {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := make(model.ColumnSet, len(a))
	for column := range a {
		both[column] = a[column] && b[column]
	}
	return both
}

// Compile checks declarations and compiles their rules. What is wrong is reported as
// schema.Problems.
func Compile(s *model.Schema, access *schema.Access) (*Policy, error) {
	if problems := access.Check((*schema.Schema)(s)); len(problems) > 0 {
		return nil, problems
	}
	p := &Policy{roles: map[string]grants{}, metrics: access.Metrics, keys: access.Keys, operations: s.Operations(), changes: s.Changes()}
	var problems schema.Problems
	for _, role := range access.Roles {
		granted := grants{}
		for i := range role.Grants {
			declared := &role.Grants[i]
			c := s.Collection(declared.Collection)
			compiled, wrong := p.compileGrant(c, declared, []string{"access", "roles", role.Name, c.Name})
			problems = append(problems, wrong...)
			granted[c.Base()] = compiled
		}
		p.roles[role.Name] = granted
		p.names = append(p.names, role.Name)
		p.warnAbout(&role, s)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return p, nil
}

func (p *Policy) compileGrant(c *model.Collection, declared *schema.Grant, at []string) (*grant, schema.Problems) {
	g := &grant{
		verbs: declared.Verbs, visible: columnsOf(c, declared.MaySee),
		writable: columnsOf(c, func(name string) bool { return declared.MayWrite(name) && !c.Declared(name).IsComputed() }),
		rules:    map[schema.AccessVerb]*rule{},
	}
	g.newest = g.in(c)
	g.newest.columnsTag = c.ColumnsTag(g.newest.visible)
	var problems schema.Problems
	compile := func(source schema.Rule, below ...string) *rule {
		compiled, wrong := compileRule(c, source, append(slices.Clone(at), below...))
		problems = append(problems, wrong...)
		if compiled != nil {
			for _, warning := range compiled.warnings {
				p.warnings = append(p.warnings, fmt.Sprintf("%s, %s: %s", strings.Join(at[2:], ", "), strings.Join(below, ", "), warning))
			}
		}
		return compiled
	}
	for _, verb := range schema.AccessVerbs() {
		if source, ok := declared.Rules[verb]; ok {
			g.rules[verb] = compile(source, string(verb))
		}
	}
	for _, attribute := range slices.Sorted(maps.Keys(declared.Transitions)) {
		states := declared.Transitions[attribute]
		for _, state := range slices.Sorted(maps.Keys(states)) {
			g.transitions = append(g.transitions, transition{c.Field(attribute).Column, model.TextValue(state), compile(states[state], "transitions", attribute, state)})
		}
	}
	return g, problems
}

// columnsOf is the columns whose attributes pass, nil if all do.
func columnsOf(c *model.Collection, passes func(attribute string) bool) model.ColumnSet {
	return c.ColumnsWhere(func(_ int, column model.Column) bool { return column.Attribute == nil || passes(column.Name) })
}

// HasRole reports whether a role is declared.
func (p *Policy) HasRole(name string) bool {
	_, ok := p.roles[name]
	return ok
}

// Permit is the rights of a caller. A nil permit allows everything: there is no policy, or the
// program itself acts.
type Permit struct {
	Caller Caller
	policy *Policy

	mutex sync.Mutex // of the next
	bound map[*rule]query.Filter
}

// Permit returns the rights of a caller. An undeclared role has none.
func (p *Policy) Permit(caller Caller) *Permit {
	if p == nil {
		return nil
	}
	return &Permit{Caller: caller, policy: p, bound: map[*rule]query.Filter{}}
}

// grant is what the caller is granted in a collection, nil if that is nothing.
func (p *Permit) grant(c *model.Collection) *grant { return p.policy.roles[p.Caller.Role].of(c) }

// unrestricted is no grant: it restricts neither columns nor rows. Whether anything is granted is for May.
var unrestricted = &grant{}

// restrictions is the grant, or unrestricted if there is no policy or no grant.
func (p *Permit) restrictions(c *model.Collection) *grant {
	if p == nil || p.grant(c) == nil {
		return unrestricted
	}
	return p.grant(c)
}

// May reports whether a verb is granted in a collection at all, which the version must have.
func (p *Permit) May(verb schema.AccessVerb, c *model.Collection) bool {
	switch {
	case c.IsAbsent():
		return false
	case p == nil:
		return true
	case c == p.policy.operations:
		// Every caller may read their own operations. Anonymous callers need the id.
		return verb == schema.MayRead || verb == schema.MayList && !p.Caller.Anonymous()
	case c == p.policy.changes:
		// The changes of which collections they see is decided for each change.
		return (verb == schema.MayRead || verb == schema.MayList) && p.seesChanges()
	}
	g := p.grant(c)
	return g != nil && slices.Contains(g.verbs, verb)
}

// MayKnow reports whether the caller may know of a collection: if any verb in it is granted.
func (p *Permit) MayKnow(c *model.Collection) bool {
	return slices.ContainsFunc(schema.AccessVerbs(), func(verb schema.AccessVerb) bool { return p.May(verb, c) })
}

// seesChanges reports whether the caller may see the changes of any collection.
func (p *Permit) seesChanges() bool {
	for _, g := range p.policy.roles[p.Caller.Role] {
		if slices.Contains(g.verbs, schema.MayChanges) {
			return true
		}
	}
	return false
}

// Scope is the filter of the resources that exist for the caller. Nil is all of them.
func (p *Permit) Scope(c *model.Collection) query.Filter {
	switch {
	case p == nil:
		return nil
	case c == p.policy.operations:
		return query.Compare{Column: c.CallerColumn(), Op: query.Equal, Value: model.TextValue(p.Caller.ID)}
	case !p.May(schema.MayRead, c):
		return query.None
	}
	return p.Rule(schema.MayRead, c)
}

// Rule is the filter that a resource must pass for a verb, nil if there is none.
func (p *Permit) Rule(verb schema.AccessVerb, c *model.Collection) query.Filter {
	return p.filter(p.restrictions(c).rules[verb])
}

// Rules lists the filters of all rules of the caller in a collection. Some may be nil.
func (p *Permit) Rules(c *model.Collection) (filters []query.Filter) {
	g := p.restrictions(c)
	for _, r := range g.rules {
		filters = append(filters, p.filter(r))
	}
	for _, each := range g.transitions {
		filters = append(filters, p.filter(each.rule))
	}
	return filters
}

// filter is the filter of a rule for the caller, nil if there is none.
func (p *Permit) filter(r *rule) query.Filter {
	if r == nil {
		return nil
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	filter, ok := p.bound[r]
	if !ok {
		filter = r.bind(p.Caller)
		p.bound[r] = filter
	}
	return filter
}

// Visible is the columns that the version has and the caller may see, nil for all of them.
func (p *Permit) Visible(c *model.Collection) model.ColumnSet { return p.restrictions(c).in(c).visible }

// Related is what the caller may see of the collection that a relation leads to: its columns and its
// resources. False: the relation does not exist for them, as the version does not have it, or they may not see the referring
// attribute, or may not read, or list, the other collection.
func (p *Permit) Related(r *model.Relation) (visible model.ColumnSet, scope query.Filter, may bool) {
	verb := schema.MayList
	if r.One {
		verb = schema.MayRead
	}
	if !p.May(verb, r.To) || !p.Visible(r.Referring()).Has(r.Column) {
		return nil, nil, false
	}
	return p.Visible(r.To), p.Scope(r.To), true
}

// ColumnsTag is that of the visible columns. Empty: everything.
func (p *Permit) ColumnsTag(c *model.Collection) string {
	if g := p.restrictions(c); c == g.newest.collection {
		return g.newest.columnsTag
	}
	return c.ColumnsTag(p.Visible(c))
}

// Writable is the columns that the version has and the caller may set, nil for all of them. Nobody sets computed attributes.
func (p *Permit) Writable(c *model.Collection) model.ColumnSet {
	return p.restrictions(c).in(c).writable
}

// Allows reports whether a resource passes the rule of a verb. Find finds resources that it refers to.
func (p *Permit) Allows(verb schema.AccessVerb, c *model.Collection, record model.Record, find query.Lookup) (bool, error) {
	return query.Holds(p.Rule(verb, c), record, find)
}

// AllowsNothing reports whether the rule of a verb is true of no resource at all for the
// caller.
func (p *Permit) AllowsNothing(verb schema.AccessVerb, c *model.Collection) bool {
	return isNone(p.Rule(verb, c))
}

// Sees reports whether a resource exists for the caller. Find finds resources that it refers to.
func (p *Permit) Sees(c *model.Collection, record model.Record, find query.Lookup) (bool, error) {
	return query.Holds(p.Scope(c), record, find)
}

// Denied is the error for what the caller may not do: 401 if they are anonymous, as
// credentials may help.
func (p *Permit) Denied(format string, args ...any) *problem.Error {
	if p.Caller.Anonymous() {
		return fault.New(problem.CodeUnauthenticated, "%s Send credentials: Authorization: Bearer and an API key or a token.", fmt.Sprintf(format, args...))
	}
	detail := fmt.Sprintf(format, args...)
	if p.Caller.Role == "" {
		detail += " Your credentials give you no role that is known here."
	}
	return fault.New(problem.CodeForbidden, "%s", detail)
}

// RightsKey identifies the rights of a permit: callers with equal keys get the same description
// of the API.
func (p *Permit) RightsKey() string {
	switch {
	case p == nil:
		return ""
	case p.Caller.Anonymous():
		return "anonymous " + p.Caller.Role
	}
	return "known " + p.Caller.Role
}

// MaySeeMetrics reports whether the caller may read the metrics.
func (p *Permit) MaySeeMetrics() bool {
	return p == nil || slices.Contains(p.policy.metrics, p.Caller.Role)
}

// Grantable lists the roles whose API keys the caller may create, list and revoke.
func (p *Permit) Grantable() []string {
	if p == nil || p.Caller.Anonymous() {
		return nil
	}
	return p.policy.keys[p.Caller.Role]
}

// Extent is how far a verb is allowed in a collection: to no resource, to all, or to those that rules
// select.
type Extent string

// The extents, in the words of plural can.
const (
	AllowsNone Extent = "no"
	AllowsSome Extent = "depends"
	AllowsAll  Extent = "yes"
)

// Extent says of how many resources a verb is allowed.
func (p *Permit) Extent(verb schema.AccessVerb, c *model.Collection) Extent {
	if !p.May(verb, c) {
		return AllowsNone
	}
	if p == nil || c == p.policy.operations || c == p.policy.changes {
		return AllowsAll
	}
	if verb == schema.MayCreate && len(p.policy.MustWrite(p.Caller.Role, c)) > 0 {
		return AllowsNone
	}
	extent := AllowsAll
	for _, each := range rulesFor(verb) {
		if p.AllowsNothing(each, c) {
			return AllowsNone
		}
		if p.Rule(each, c) != nil {
			extent = AllowsSome
		}
	}
	return extent
}
