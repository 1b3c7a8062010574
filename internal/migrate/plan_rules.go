package migrate

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
)

// checkStep is a check of to that the migration evaluates for all resources.
type checkStep struct {
	*rules.Check
	step *Step
}

// lifecycleStep is a lifecycle of to that is new, or has changed.
type lifecycleStep struct {
	column  int             // of to
	reached map[string]bool // the states in which a resource is created, or to which a transition leads
	step    *Step
}

// newComputed plans an attribute that the old schema does not have, and that is computed.
func (p *plan) newComputed(pair *pair, column int, what string) {
	a, name := pair.to.Columns()[column].Attribute, pair.to.Name
	c := &change{fromColumn: noSource, toColumn: column, attribute: a}
	switch {
	case rules.Of(pair.to).IsPure(column):
		c.computed = p.add(Additive, costOf("computes the value of", pair.from, allResources), "%s: new attribute %s (%s), computed for all resources", name, a.Name, what)
	case a.Required:
		c.requiredStep = p.add(Rewriting, costOf("checks", pair.from, allResources),
			"%s: new attribute %s (%s), which is required, but only later writes compute it: let it be optional", name, a.Name, what).in(pair.from, allResources)
	default:
		p.add(Additive, nil, "%s: new attribute %s (%s), computed by later writes; existing resources have none", name, a.Name, what)
		return
	}
	pair.changes = append(pair.changes, c)
}

// compareComputed plans what becomes of the values of an attribute that is computed, or was. False: the stored values stay, if they
// meet the constraints.
func (p *plan) compareComputed(pair *pair, c *change, before *model.Attribute) bool {
	a, name, now := c.attribute, pair.to.Name, rules.Of(pair.to)
	wasPure := before.IsComputed() && rules.Of(pair.from).IsPure(c.fromColumn)
	same := before.Computed.Text == a.Computed.Text
	switch {
	case !a.IsComputed():
		if before.IsComputed() {
			p.add(Additive, nil, "%s: %s is no longer computed, and keeps its values", name, a.Name)
		}
		return false
	case now.IsPure(c.toColumn):
		restricted := len(a.Tightened(before)) > 0 || a.Required && !before.Required || pair.to.Columns()[c.toColumn].Kind != pair.from.Columns()[c.fromColumn].Kind
		if wasPure && same && !restricted && !p.undoes && (a.When == before.When || a.When == model.WhenCreate) {
			return false
		}
		cost := costOf("computes the value of", pair.from, allResources)
		if p.isNew(pair, c.fromColumn) {
			c.computed = p.add(Rewriting, cost, "%s: %s is computed for all resources", name, a.Name).in(pair.from, allResources)
		} else if wasPure {
			c.computed = p.add(Rewriting, cost, "%s: %s is computed anew", name, a.Name).in(pair.from, allResources)
		} else {
			c.computed = p.add(Losing, cost, "%s: %s is computed from now on, which overwrites its values", name, a.Name).in(pair.from, c.fromColumn)
		}
	case before.IsComputed() && same, p.isNew(pair, c.fromColumn): // later writes have computed it
		return false
	default:
		cost := costOf("loses the values of", pair.from, c.fromColumn)
		c.cleared = p.add(Losing, cost, "%s: %s is computed by later writes; existing resources lose their values", name, a.Name).in(pair.from, c.fromColumn)
		if a.Required {
			c.requiredStep = p.add(Rewriting, costOf("checks", pair.from, allResources),
				"%s: %s is required, but only later writes compute it: let it be optional", name, a.Name).in(pair.from, allResources)
		}
	}
	pair.changes = append(pair.changes, c)
	return true
}

// renewed reports whether the stored values are replaced by what the new rules say, whatever they were.
func (c *change) renewed() bool { return c.computed != nil || c.cleared != nil }

// compareRules plans what depends on the changes of all attributes: computed attributes whose inputs change, and checks.
func (p *plan) compareRules(pair *pair) {
	set := rules.Of(pair.to)
	changed := func(columns model.ColumnSet) bool {
		return slices.ContainsFunc(pair.changes, func(c *change) bool { return columns.Has(c.toColumn) })
	}
	for _, computed := range set.Computed() { // each after those that it reads
		a := pair.to.Columns()[computed.Column].Attribute
		if computed.Pure && a.When == "" && pair.changeOf(computed.Column) == nil && changed(computed.Reads) {
			c := &change{fromColumn: pair.source[computed.Column], toColumn: computed.Column, attribute: a}
			c.computed = p.add(Rewriting, costOf("computes the value of", pair.from, allResources), "%s: %s is computed anew, because what it reads changes", pair.to.Name, a.Name).in(pair.from, allResources)
			pair.changes = append(pair.changes, c)
		}
	}
	checks := set.Checks()
	for i := range checks {
		check, text := &checks[i], shownRule(checks[i].Declared.Rule)
		isNew := !hasCheck(pair.from, check.Declared.Rule)
		pair.newChecks = pair.newChecks || isNew
		switch {
		case isNew && !check.Pure:
			p.add(Rewriting, nil, "%s: new check of later writes: %s", pair.to.Name, text).in(pair.from, allResources)
		case isNew:
			step := p.add(Rewriting, costOf("checks", pair.from, allResources), "%s: new check: %s", pair.to.Name, text).in(pair.from, allResources)
			pair.checks = append(pair.checks, checkStep{check, step})
		case check.Pure && changed(check.Reads):
			step := p.add(Rewriting, costOf("checks", pair.from, allResources), "%s: check of values that change: %s", pair.to.Name, text).in(pair.from, allResources)
			pair.checks = append(pair.checks, checkStep{check, step})
		}
	}
	for _, check := range pair.from.Checks {
		if !hasCheck(pair.to, check.Rule) {
			p.add(Additive, nil, "%s: no longer a check: %s", pair.to.Name, shownRule(check.Rule))
		}
	}
}

// hasCheck reports whether a collection has a check with the rule.
func hasCheck(c *model.Collection, rule model.Rule) bool {
	return slices.ContainsFunc(c.Checks, func(check model.Check) bool { return check.Rule.Text == rule.Text })
}

// shownRule is the text of a rule on one line. A long one is shortened.
func shownRule(rule model.Rule) string {
	return shorten(strings.Join(strings.Fields(rule.Text), " "))
}

// compareLifecycle plans a lifecycle that is new or has changed. The plan lists the resources in a state that nothing leads to, which
// is no mistake: they may have been created before.
func (p *plan) compareLifecycle(pair *pair, c *change, before *model.Attribute) {
	a, name := c.attribute, pair.to.Name
	class, what := Rewriting, "%s: %s gets a lifecycle"
	switch {
	case !a.HasLifecycle() && !before.HasLifecycle():
		return
	case !a.HasLifecycle():
		p.add(Additive, nil, "%s: %s has a lifecycle no longer", name, a.Name)
		return
	case before.HasLifecycle() && sameLifecycle(before, a):
		return
	case before.HasLifecycle():
		what = "%s: the lifecycle of %s allows less"
		if !restrictsLifecycle(before, a) {
			class, what = Additive, "%s: the lifecycle of %s allows more"
		}
	}
	step := p.add(class, costOf("checks", pair.from, c.fromColumn), what, name, a.Name)
	if class != Additive {
		step.in(pair.from, allResources)
	}
	reached := map[string]bool{}
	for _, state := range a.InitialStates() {
		reached[state] = true
	}
	for _, states := range a.Transitions {
		for _, state := range states {
			reached[state] = true
		}
	}
	pair.lifecycles = append(pair.lifecycles, lifecycleStep{c.toColumn, reached, step})
}

// restrictsLifecycle reports whether a lifecycle refuses a create or a transition that it did not refuse before.
func restrictsLifecycle(before, a *model.Attribute) bool {
	missing := func(states, from []string) bool {
		return slices.ContainsFunc(states, func(state string) bool { return !slices.Contains(from, state) })
	}
	if missing(before.InitialStates(), a.InitialStates()) {
		return true
	}
	for from, states := range before.Transitions {
		if missing(states, a.Transitions[from]) {
			return true
		}
	}
	return false
}

// sameLifecycle compares lifecycles, in whatever order they list states.
func sameLifecycle(a, b *model.Attribute) bool {
	return !restrictsLifecycle(a, b) && !restrictsLifecycle(b, a)
}
