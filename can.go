package plural

import (
	"context"
	"fmt"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Question is whether a role may do something.
type Question struct {
	Role       string
	Verb       schema.AccessVerb
	Collection string

	// ID is of the resource that it is about; empty: of none in particular.
	ID string

	// Subject and Claims are those of the caller, as rules see them. Without a Subject the
	// caller is nobody in particular.
	Subject string
	Claims  map[string]any
}

// Can explains what Config.Access decides. With an ID, it reads the resource from the
// database. The reasons lead to the decision, one by one.
func Can(ctx context.Context, config Config, q Question) (allowed bool, reasons []string, err error) {
	config = config.withDefaults()
	c := config.Schema.Collection(q.Collection)
	if c == nil {
		return false, nil, unknownCollection(q.Collection)
	}
	say := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if config.Access == nil {
		say("the schema file has no access: everybody may do everything")
		return true, reasons, nil
	}
	policy, err := auth.Compile(config.Schema, config.Access)
	if err != nil {
		return false, nil, err
	}
	if !policy.HasRole(q.Role) {
		say("there is no role %s, and what no role is granted is denied", q.Role)
		return false, reasons, nil
	}
	caller := auth.Caller{Role: q.Role, Subject: q.Subject, Claims: q.Claims}
	if q.Subject != "" {
		caller.ID = "asked:" + q.Subject
	}
	by := policy.Permit(caller)
	if !by.May(q.Verb, c) {
		say("%s is not granted %s in %s", q.Role, q.Verb, c.Name)
		return false, reasons, nil
	}
	say("%s is granted %s in %s", q.Role, q.Verb, c.Name)
	var record schema.Record
	if q.ID != "" {
		if record, err = readOne(ctx, config, c, q.ID); err != nil {
			return false, reasons, err
		}
	}
	allowed = true
	for _, verb := range rulesFor(q.Verb) {
		allowed = explainRule(by, config.Access, q.Role, c, verb, record, say) && allowed
	}
	return allowed, reasons, nil
}

// rulesFor lists the verbs whose rules decide about a verb: what cannot be read
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

// explainRule says what a rule says of a resource, or of resources as such.
func explainRule(by *auth.Permit, access *schema.Access, role string, c *schema.Collection, verb schema.AccessVerb, record schema.Record, say func(string, ...any)) bool {
	text, ruled := ruleText(access, role, c.Name, verb)
	switch {
	case !ruled:
		say("%s has no rule: every resource", verb)
		return true
	case by.Rule(verb, c) == nil:
		say("the rule of %s is true for this caller whatever the resource is: %s", verb, text)
		return true
	case record == nil:
		say("the rule of %s depends on the resource: %s", verb, text)
		return true
	case by.Allows(verb, c, record):
		say("the rule of %s is true of the resource: %s", verb, text)
		return true
	}
	say("the rule of %s is not true of the resource: %s", verb, text)
	return false
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

func readOne(ctx context.Context, config Config, c *schema.Collection, id string) (record schema.Record, err error) {
	_, key, err := find(config.Schema, c.Name, id)
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, config.Database, config.Schema)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	tx, err := st.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	if record, err = tx.Get(c, nil, key); err == nil && record == nil {
		err = fmt.Errorf("there is no resource %s in %s", id, c.Name)
	}
	return record, err
}
