package auth

import (
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Stored is a resource that rules are evaluated for. Find finds resources that it refers to.
type Stored struct {
	Record model.Record
	Find   query.Lookup
}

// AskedCaller is a caller for whom Explain decides. Without a subject they are anonymous.
func AskedCaller(role, subject string, claims map[string]any) Caller {
	caller := Caller{Role: role, Subject: subject, Claims: claims}
	if subject != "" {
		caller.ID = "asked:" + subject
	}
	return caller
}

// Explain decides whether a caller may do something with a resource, or with resources in general if it is
// nil. The reasons are in the order of evaluation.
func (p *Permit) Explain(verb schema.AccessVerb, c *model.Collection, resource *Stored) (decision Extent, reasons []string, err error) {
	e := &explanation{by: p, collection: c, resource: resource}
	decision, err = e.decide(verb)
	return decision, e.reasons, err
}

// CheckAsked refuses that another caller, who may read a resource, asks what this one may do with it, if a rule compares an
// attribute that they may not read with claims, or with a subject of the public. They choose both, and could find out
// the value by asking again and again. No API key that they may create has them.
func (p *Permit) CheckAsked(asker *Permit, verb schema.AccessVerb, c *model.Collection) error {
	claims := len(p.Caller.Claims) > 0
	subject := p.Caller.Subject != "" && !slices.Contains(asker.Grantable(), p.Caller.Role)
	if p.grant(c) == nil || !claims && !subject {
		return nil
	}
	for _, each := range rulesFor(verb) {
		r, at := p.grant(c).rules[each], ""
		switch {
		case r == nil:
		case claims && r.usesClaims:
			at = "claims"
		case subject && r.usesSub:
			at = "sub"
		}
		if at == "" {
			continue
		}
		for _, a := range r.attributes {
			if !asker.reads(a) {
				return fault.At("/"+at, problem.CodeForbidden, "A rule of %s for %s compares %s, which you may not read in every resource, with the caller. Leave out %s, or resource_id.", p.Caller.Role, each, a.Name, at)
			}
		}
	}
	return nil
}

// reads reports whether the caller may read an attribute of every resource that they may read.
func (p *Permit) reads(a attribute) bool {
	for _, relation := range a.Steps {
		if _, scope, may := p.Related(relation); !may || scope != nil {
			return false
		}
	}
	return p.Visible(a.Collection).Has(a.Column)
}

// explanation is a decision in the making.
type explanation struct {
	by         *Permit
	collection *model.Collection
	resource   *Stored
	reasons    []string
}

func (e *explanation) say(format string, args ...any) {
	e.reasons = append(e.reasons, fmt.Sprintf(format, args...))
}

func (e *explanation) decide(verb schema.AccessVerb) (Extent, error) {
	policy, role, c := e.by.policy, e.by.Caller.Role, e.collection
	switch {
	case c == policy.operations:
		return e.ownOperations(verb), nil
	case !policy.HasRole(role):
		e.say("there is no role %s, and what no role is granted is denied", role)
		return AllowsNone, nil
	case !e.by.May(verb, c):
		e.say("%s is not granted %s in %s", role, verb, c.Name)
		return AllowsNone, nil
	}
	e.say("%s is granted %s in %s", role, verb, c.Name)
	decision := AllowsAll
	if verb == schema.MayCreate {
		for _, name := range policy.MustWrite(role, c) {
			e.say("every create fails: %s is required, has no default, and is not writable for %s", name, role)
			decision = AllowsNone
		}
	}
	for _, each := range rulesFor(verb) {
		extent, err := e.rule(each)
		if err != nil {
			return AllowsNone, err
		}
		decision = decision.and(extent)
	}
	if parent := policy.ruledParent(role, c); parent != nil && verb != schema.MayCreate {
		e.say("the read rule of %s does not apply to %s: %s sees those of hidden parents too", parent.Name, c.Name, role)
	}
	if verb == schema.MayList && e.resource == nil {
		decision = AllowsAll // the list has those of which the rule is true, be it none
	}
	return decision, nil
}

// ownOperations explains what needs no grant: callers may read their own operations.
func (e *explanation) ownOperations(verb schema.AccessVerb) Extent {
	switch {
	case verb == schema.MayRead:
		e.say("everybody may read their own operations")
		return AllowsSome
	case verb == schema.MayList && e.by.Caller.Role != schema.PublicRole:
		e.say("everybody who has credentials may list their own operations")
		return AllowsAll
	}
	e.say("%s is not granted %s in %s", e.by.Caller.Role, verb, e.collection.Name)
	return AllowsNone
}

// rulesFor lists the verbs whose rules decide about a verb: a resource that cannot be read
// cannot be changed.
func rulesFor(verb schema.AccessVerb) []schema.AccessVerb {
	switch verb {
	case schema.MayCreate:
		return []schema.AccessVerb{schema.MayCreate}
	case schema.MayUpdate, schema.MayDelete:
		return []schema.AccessVerb{schema.MayRead, verb}
	}
	return []schema.AccessVerb{schema.MayRead}
}

// rule evaluates the rule of a verb, for the resource or for resources in general.
func (e *explanation) rule(verb schema.AccessVerb) (Extent, error) {
	by, c := e.by, e.collection
	declared := by.grant(c).rules[verb]
	switch {
	case declared == nil:
		e.say("%s has no rule: every resource", verb)
		return AllowsAll, nil
	case by.Rule(verb, c) == nil:
		e.say("the rule of %s is true for this caller whatever the resource is: %s", verb, declared.text)
		return AllowsAll, nil
	case by.AllowsNothing(verb, c):
		e.say("the rule of %s is true of no resource for this caller: %s", verb, declared.text)
		if by.Caller.Subject == "" {
			e.say("the caller has no sub, which may be why")
		}
		return AllowsNone, nil
	case e.resource == nil:
		e.say("the rule of %s depends on the resource: %s", verb, declared.text)
		return AllowsSome, nil
	}
	allowed, err := by.Allows(verb, c, e.resource.Record, e.resource.Find)
	switch {
	case err != nil:
		return AllowsNone, err
	case allowed:
		e.say("the rule of %s is true of the resource: %s", verb, declared.text)
		return AllowsAll, nil
	}
	e.say("the rule of %s is not true of the resource: %s", verb, declared.text)
	return AllowsNone, nil
}

// and combines two extents: all if both are.
func (e Extent) and(other Extent) Extent {
	switch {
	case e == AllowsNone || other == AllowsNone:
		return AllowsNone
	case e == AllowsSome || other == AllowsSome:
		return AllowsSome
	}
	return AllowsAll
}
