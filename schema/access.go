package schema

import (
	"maps"
	"slices"
	"time"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// Access says who may do what. What no role is granted is denied.
type Access struct {
	Roles []Role

	// Metrics lists the roles that may read /-/metrics.
	Metrics []string

	// Keys lists, by role, the roles whose API keys it may create, list and revoke at /-/keys.
	Keys map[string][]string

	// Rates bounds how many requests a caller may send, by role. Those of the public
	// are counted by address.
	Rates map[string]Rate

	// Tokens says which JSON Web Tokens are accepted; nil: none are.
	Tokens *Tokens
}

// PublicRole is the role of callers without credentials.
const PublicRole = "public"

// Role is what its bearers may do, collection by collection.
type Role struct {
	Name   string
	Grants []Grant
}

// Grant is what a role may do in a collection.
type Grant struct {
	Collection string
	Verbs      []AccessVerb

	// Visible lists the attributes that are shown, nil for all of them. The id, the
	// type and the timestamps are always shown.
	Visible []string
	// Writable lists the attributes that can be set. Nil: those that are visible. Computed attributes cannot be set.
	Writable []string

	// Rules restrict a verb to certain resources. That of read decides which
	// resources exist for the role; list and changes have none of their own.
	Rules map[AccessVerb]Rule

	// Transitions are rules for the changes to a state of a lifecycle, by attribute and state, in addition to
	// those of update and create. A state without a rule is not restricted.
	Transitions map[string]map[string]Rule
}

// AccessVerb is something that a role can be granted.
type AccessVerb string

// The verbs. All but create need read: what cannot be seen cannot be listed,
// changed or deleted.
const (
	MayList   AccessVerb = "list"
	MayRead   AccessVerb = "read"
	MayCreate AccessVerb = "create"
	MayUpdate AccessVerb = "update"
	MayDelete AccessVerb = "delete"

	// MayChanges is to see former values and who changed them: /changes and /users/<id>/changes.
	MayChanges AccessVerb = "changes"
)

// AccessVerbs lists all verbs.
func AccessVerbs() []AccessVerb {
	return []AccessVerb{MayList, MayRead, MayCreate, MayUpdate, MayDelete, MayChanges}
}

// Rule is a condition on a resource, in CEL.
type Rule struct {
	Text         string
	Line, Column int // of its first character, from 1, if it came from a file; column 0: only the line is known
}

// Tokens is the source of JSON Web Tokens, and what they must say.
type Tokens struct {
	// Issuer is the URL of an OpenID Connect provider, from which its keys are
	// discovered, and what the claim iss must be.
	Issuer string
	// PublicKey is a file with a public key in PEM, in place of discovery.
	PublicKey string
	// Audience must be among the claim aud.
	Audience string
	// RoleClaim is the claim that gives the role; a dot leads into an object, unless it is part of
	// a name. If it has several, in a list or with spaces between them, the first in the
	// order of Access.Roles counts. Default: role.
	RoleClaim string
	// Algorithms may have signed. Default: RS256, ES256 and EdDSA.
	Algorithms []string
	// ClockSkew is how far clocks may be apart. Default: 1 minute.
	ClockSkew time.Duration
}

// signingAlgorithms lists those that can be allowed: none that is symmetric, as a
// public key must never be taken for a secret.
func signingAlgorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

var roleName = compile.NameRule{What: "role", Pattern: compile.CollectionNames.Pattern, Allowed: compile.CollectionNames.Allowed}

// Check reports what is wrong with the declarations. Rules are only compiled by
// the server.
func (a *Access) Check(s *Schema) Problems {
	k := accessChecker{}
	root := compile.Path{"access"}
	for i := range a.Roles {
		role := &a.Roles[i]
		at := root.To("roles", role.Name)
		if problem := roleName.Problem(role.Name); problem != "" {
			k.Report(at, "%s", problem)
		}
		if slices.ContainsFunc(a.Roles[:i], func(other Role) bool { return other.Name == role.Name }) {
			k.Report(at, "the role %s is declared twice: remove one of them, or rename it", role.Name)
		}
		for j := range role.Grants {
			k.grant((*model.Schema)(s), role, j, at.To(role.Grants[j].Collection))
		}
	}
	for i, name := range a.Metrics {
		k.role(a, name, root.To("metrics").Item(i))
	}
	for name, granted := range a.Keys {
		k.keys(a, name, granted, root.To("keys", name))
	}
	for name, rate := range a.Rates {
		if k.role(a, name, root.To("rates", name)) && (rate.Requests <= 0 || rate.Per <= 0) {
			k.Report(root.To("rates", name), "a rate must be of some requests in some time")
		}
	}
	if a.Tokens != nil {
		k.tokens(a.Tokens, root.To("tokens"))
	}
	return problemsOf(k.Problems)
}

func (a *Access) roleNames() []string {
	names := make([]string, len(a.Roles))
	for i := range a.Roles {
		names[i] = a.Roles[i].Name
	}
	return names
}

// accessChecker collects what is wrong with an Access.
type accessChecker struct{ compile.Checker }

// role checks that a role exists. The public always does.
func (k *accessChecker) role(a *Access, name string, at compile.Path) bool {
	known := name == PublicRole || slices.Contains(a.roleNames(), name)
	if !known {
		k.Report(at, "there is no role %q%s", name, suggest.DidYouMean(name, a.roleNames()))
	}
	return known
}

func (k *accessChecker) grant(s *model.Schema, role *Role, index int, at compile.Path) {
	g := &role.Grants[index]
	c := s.Collection(g.Collection)
	switch {
	case c == nil:
		var names []string
		for _, c := range s.Collections() {
			names = append(names, c.Name)
		}
		if g.Collection == "changes" {
			k.Report(at, "changes is no collection but a verb: grant it in each collection whose changes and histories the role may read, such as {list: true, read: true, changes: true}")
			return
		}
		k.Report(at, "there is no collection %q%s", g.Collection, suggest.DidYouMean(g.Collection, names))
		return
	case c.ReadOnly():
		k.Report(at, "every caller sees their own %s: remove this", c.Name)
		return
	case slices.ContainsFunc(role.Grants[:index], func(other Grant) bool { return other.Collection == g.Collection }):
		k.Report(at, "%s is here twice: remove one of them", g.Collection)
	}
	k.verbs(g, at)
	k.names(c, g.Visible, at.To("visible"))
	k.names(c, g.Writable, at.To("writable"))
	for i, name := range g.Writable {
		if a := c.Declared(name); a != nil && a.IsComputed() {
			k.Report(at.To("writable").Item(i), "%s is computed by the server, and nobody writes it: remove it", name)
		}
	}
	k.transitions(c, g, at)
	if slices.Contains(g.Verbs, MayCreate) {
		for _, attribute := range c.Attributes {
			isParent := c.Parent != nil && c.Parent.Attribute == attribute.Name // which the compile.Path can give
			if attribute.Required && attribute.Default == nil && !attribute.IsComputed() && !isParent && !g.MayWrite(attribute.Name) {
				k.Report(at, "%s is required and has no default, so whoever may create must be able to write it: add it to writable", attribute.Name)
			}
		}
	}
}

// transitions checks which attributes and states rules of transitions name. The rules are compiled by the server.
func (k *accessChecker) transitions(c *model.Collection, g *Grant, at compile.Path) {
	at = at.To("transitions")
	if len(g.Transitions) > 0 && !slices.Contains(g.Verbs, MayCreate) && !slices.Contains(g.Verbs, MayUpdate) {
		k.Report(at, "there are rules for transitions, but neither create nor update is granted: grant one, or remove the rules")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(g.Transitions)) {
		a := c.Declared(name)
		switch {
		case a == nil:
			k.Report(at.To(name), "%s has no attribute %q%s", c.Name, name, suggest.DidYouMean(name, c.AttributeNames()))
			continue
		case !a.HasLifecycle():
			k.Report(at.To(name), "%s has no transitions: declare them in the attribute, or remove the rules", name)
			continue
		}
		for _, state := range slices.Sorted(maps.Keys(g.Transitions[name])) {
			if !slices.Contains(a.States(), state) {
				k.Report(at.To(name, state), "the enum of %s has no state %q%s", name, state, suggest.DidYouMean(state, a.States()))
			}
		}
	}
}

// keys checks the roles whose API keys a role may manage.
func (k *accessChecker) keys(a *Access, name string, granted []string, at compile.Path) {
	hasKeys := func(name string, at compile.Path) bool {
		if name == PublicRole {
			k.Report(at, "public is the role of callers without credentials, who have no API keys: remove it")
			return false
		}
		return k.role(a, name, at)
	}
	if !hasKeys(name, at) {
		return
	}
	if len(granted) == 0 {
		k.Report(at, "say which roles the API keys may have that %s creates: %s: [%s]", name, name, name)
	}
	for i, role := range granted {
		if hasKeys(role, at.Item(i)) && slices.Contains(granted[:i], role) {
			k.Report(at.Item(i), "%s is listed twice: remove one of them", role)
		}
	}
}

func (k *accessChecker) verbs(g *Grant, at compile.Path) {
	for i, verb := range g.Verbs {
		switch {
		case !slices.Contains(AccessVerbs(), verb):
			k.Report(at.Item(i), "there is no verb %q%s", verb, suggest.Instead(string(verb), keyHints[grantKeys[0].Name], AccessVerbs()))
		case slices.Contains(g.Verbs[:i], verb):
			k.Report(at.Item(i), "%s is listed twice: remove one of them", verb)
		case verb != MayRead && verb != MayCreate && !slices.Contains(g.Verbs, MayRead):
			k.Report(at, "%s needs read: what cannot be seen cannot be listed, changed or deleted", verb)
		}
	}
	for verb := range g.Rules {
		switch {
		case verb == MayList:
			k.Report(at.To(string(verb)), "list takes true or false, not a rule: write list: true, and put the rule under read")
		case verb == MayChanges:
			k.Report(at.To(string(verb)), "changes takes true or false, not a rule: write changes: true, and put the rule under read")
		case !slices.Contains(g.Verbs, verb):
			k.Report(at.To(string(verb)), "there is a rule for %s, which is not granted", verb)
		}
	}
}

func (k *accessChecker) names(c *model.Collection, names []string, at compile.Path) {
	for i, name := range names {
		switch {
		case slices.Contains(compile.AttributeNames.Reserved, name):
			k.Report(at.Item(i), "%s is always visible and never writable: remove it", name)
		case c.Declared(name) == nil:
			k.Report(at.Item(i), "%s has no attribute %q%s", c.Name, name, suggest.DidYouMean(name, c.AttributeNames()))
		case slices.Contains(names[:i], name):
			k.Report(at.Item(i), "%s is listed twice: remove one of them", name)
		}
	}
}

func (k *accessChecker) tokens(t *Tokens, at compile.Path) {
	switch {
	case t.Issuer == "" && t.PublicKey == "":
		k.Report(at, "say where tokens come from: an issuer, or a public_key")
	case t.Audience == "":
		k.Report(at, "audience is missing: set it to the name of this API at the issuer")
	case t.ClockSkew < 0:
		k.Report(at.To("clock_skew"), "clock_skew must not be negative")
	}
	for i, algorithm := range t.Algorithms {
		if !slices.Contains(signingAlgorithms(), algorithm) {
			k.Report(at.To("algorithms").Item(i), "%q cannot be allowed: use %s", algorithm, suggest.OneOf(signingAlgorithms()))
		}
	}
}

// MaySee reports whether an attribute is shown.
func (g *Grant) MaySee(attribute string) bool {
	return g.Visible == nil || slices.Contains(g.Visible, attribute)
}

// MayWrite reports whether an attribute can be set.
func (g *Grant) MayWrite(attribute string) bool {
	if g.Writable == nil {
		return g.MaySee(attribute)
	}
	return slices.Contains(g.Writable, attribute)
}
