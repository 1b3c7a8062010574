package plural

import (
	"context"
	"fmt"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Question asks whether a role may do something.
type Question struct {
	Role       string
	Verb       schema.AccessVerb
	Collection string

	// ID is that of the resource; empty: any resource.
	ID string

	// Subject and Claims are those of the caller, as rules see them. Without a Subject the caller
	// is anonymous.
	Subject string
	Claims  map[string]any
}

// Decision is the answer to a Question.
type Decision string

// The decisions. Depends: it depends on the resource, as no ID was given.
const (
	Yes     Decision = "yes"
	No      Decision = "no"
	Depends Decision = "depends"
)

// and combines two decisions: Yes if both are.
func (d Decision) and(other Decision) Decision {
	switch {
	case d == No || other == No:
		return No
	case d == Depends || other == Depends:
		return Depends
	}
	return Yes
}

// Can explains what Config.Access decides. With an ID, it reads the resource from the
// database. The reasons are in the order of evaluation.
func Can(ctx context.Context, config Config, q Question) (decision Decision, reasons []string, err error) {
	config = config.withDefaults()
	c := config.model().Collection(q.Collection)
	if c == nil {
		return No, nil, unknownCollection(q.Collection)
	}
	say := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if config.Access == nil {
		say("the schema file has no access: everybody may do everything")
		return Yes, reasons, nil
	}
	policy, err := auth.Compile(config.model(), config.Access)
	if err != nil {
		return No, nil, err
	}
	if c == config.model().Operations() {
		decision = ownOperations(q, say)
		return decision, reasons, nil
	}
	if !policy.HasRole(q.Role) {
		say("there is no role %s, and what no role is granted is denied", q.Role)
		return No, reasons, nil
	}
	caller := auth.Caller{Role: q.Role, Subject: q.Subject, Claims: q.Claims}
	if q.Subject != "" {
		caller.ID = "asked:" + q.Subject
	}
	by := policy.Permit(caller)
	if !by.May(q.Verb, c) {
		say("%s is not granted %s in %s", q.Role, q.Verb, c.Name)
		return No, reasons, nil
	}
	say("%s is granted %s in %s", q.Role, q.Verb, c.Name)
	var allowed map[schema.AccessVerb]bool // of one resource; nil: of resources in general
	if q.ID != "" {
		if allowed, err = judgeOne(ctx, config, c, q.ID, by, rulesFor(q.Verb)); err != nil {
			return No, reasons, err
		}
	}
	decision = Yes
	if q.Verb == schema.MayCreate {
		for _, name := range policy.MustWrite(q.Role, c) {
			say("every create fails: %s is required, has no default, and is not writable for %s", name, q.Role)
			decision = No
		}
	}
	for _, verb := range rulesFor(q.Verb) {
		decision = decision.and(explainRule(by, config.Access, q.Role, c, verb, allowed, say))
	}
	if parent := policy.RuledParent(q.Role, config.model(), c); parent != nil && q.Verb != schema.MayCreate {
		say("the read rule of %s does not apply to %s: %s sees those of hidden parents too", parent.Name, c.Name, q.Role)
	}
	if q.Verb == schema.MayList && allowed == nil {
		decision = Yes // the list has those of which the rule is true, be it none
	}
	return decision, reasons, nil
}

// ownOperations explains what needs no grant: callers may read their own operations.
func ownOperations(q Question, say func(string, ...any)) Decision {
	switch {
	case q.Verb == schema.MayRead:
		say("everybody may read their own operations")
		return Depends
	case q.Verb == schema.MayList && q.Role != schema.PublicRole:
		say("everybody who has credentials may list their own operations")
		return Yes
	}
	say("%s is not granted %s in %s", q.Role, q.Verb, q.Collection)
	return No
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

// explainRule evaluates a rule for a resource, or for resources in general.
func explainRule(by *auth.Permit, access *schema.Access, role string, c *model.Collection, verb schema.AccessVerb, allowed map[schema.AccessVerb]bool, say func(string, ...any)) Decision {
	text, ruled := ruleText(access, role, c.Name, verb)
	switch {
	case !ruled:
		say("%s has no rule: every resource", verb)
		return Yes
	case by.Rule(verb, c) == nil:
		say("the rule of %s is true for this caller whatever the resource is: %s", verb, text)
		return Yes
	case by.AllowsNothing(verb, c):
		say("the rule of %s is true of no resource for this caller: %s", verb, text)
		if by.Caller.Subject == "" {
			say("the caller has no sub, which may be why")
		}
		return No
	case allowed == nil:
		say("the rule of %s depends on the resource: %s", verb, text)
		return Depends
	case allowed[verb]:
		say("the rule of %s is true of the resource: %s", verb, text)
		return Yes
	}
	say("the rule of %s is not true of the resource: %s", verb, text)
	return No
}

func ruleText(access *schema.Access, role, collection string, verb schema.AccessVerb) (string, bool) {
	for i := range access.Roles {
		for j := range access.Roles[i].Grants {
			if grant := &access.Roles[i].Grants[j]; access.Roles[i].Name == role && grant.Collection == collection {
				rule, ok := grant.Rules[verb]
				return rule.Text, ok
			}
		}
	}
	return "", false
}

// judgeOne evaluates the rules of verbs for a resource.
func judgeOne(ctx context.Context, config Config, c *model.Collection, id string, by *auth.Permit, verbs []schema.AccessVerb) (map[schema.AccessVerb]bool, error) {
	_, key, err := find(config.model(), c.Name, id)
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, config.Database, config.model())
	if err != nil {
		return nil, err
	}
	defer st.Close()
	tx, err := st.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	record, err := tx.Get(c, nil, key)
	if err == nil && record == nil {
		err = fmt.Errorf("there is no resource %s in %s", id, c.Name)
	}
	if err != nil {
		return nil, err
	}
	allowed := map[schema.AccessVerb]bool{}
	for _, verb := range verbs {
		if allowed[verb], err = by.Allows(verb, c, record, tx.Find); err != nil {
			return nil, err
		}
	}
	return allowed, nil
}
