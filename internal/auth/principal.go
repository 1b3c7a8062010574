package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// Principal is a caller that the embedding program has authenticated.
type Principal struct {
	// Subject identifies the caller, auth.sub in rules.
	Subject string

	// Roles are the roles of the caller. The one that Access declares first counts, as with the
	// roles of a token.
	Roles []string

	// Claims are auth.claims in rules. They must be values that encoding/json can marshal.
	Claims map[string]any
}

type principalKey struct{}

// WithPrincipal returns a context in which a principal calls.
func WithPrincipal(ctx context.Context, principal Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, &principal)
}

// ByProgram reports whether the embedding program has authenticated the caller.
func (c Caller) ByProgram() bool { return strings.HasPrefix(c.ID, principalCaller) }

// WithoutCaller returns a context in which the program itself calls.
func WithoutCaller(ctx context.Context) context.Context {
	if ctx.Value(principalKey{}) == nil {
		return ctx
	}
	return context.WithValue(ctx, principalKey{}, (*Principal)(nil))
}

// principalCaller is the prefix of the ids of callers that the program has authenticated.
const principalCaller = "program:"

// FromContext returns the permit of the principal of a context. Found is false if there is
// none.
func (g *Guard) FromContext(ctx context.Context) (by *Permit, found bool, err error) {
	principal, _ := ctx.Value(principalKey{}).(*Principal)
	if principal == nil {
		return nil, false, nil
	}
	if g == nil {
		return nil, true, errors.New("the context has a caller, but the server has no access rules: set Config.Access")
	}
	caller, err := principal.caller(g.Policy)
	return g.Policy.Permit(caller), true, err
}

// caller is the principal as rules know it. A principal without subject and roles is anonymous.
func (p *Principal) caller(policy *Policy) (Caller, error) {
	switch {
	case p.Subject == "" && len(p.Roles) == 0:
		return Caller{Role: schema.PublicRole}, nil
	case p.Subject == "" || len(p.Subject) > maxSubject || strings.IndexByte(p.Subject, 0) >= 0:
		return Caller{}, fmt.Errorf("the Subject of a Principal must have 1 to %d bytes, none of them zero", maxSubject)
	}
	caller := Caller{ID: principalCaller + p.Subject, Subject: p.Subject}
	for _, role := range policy.names {
		if caller.Role == "" && slices.Contains(p.Roles, role) {
			caller.Role = role
		}
	}
	if len(p.Claims) == 0 {
		return caller, nil
	}
	// Rules see claims as those of a token, also when an operation is carried out later.
	text, err := json.Marshal(p.Claims)
	if err == nil {
		err = model.DecodeExactly(text, &caller.Claims)
	}
	if err != nil {
		return Caller{}, fmt.Errorf("the Claims of a Principal cannot be written as JSON: %w", err)
	}
	return caller, nil
}
