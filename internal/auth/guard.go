package auth

import (
	"context"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Guard finds out who is calling.
type Guard struct {
	Policy *Policy

	// Key finds the API key with a prefix, nil if there is none.
	Key func(ctx context.Context, prefix string) (*Key, error)

	// Tokens checks tokens; nil: none are accepted.
	Tokens *Tokens

	now func() time.Time // for tests; nil: the clock
}

// Key is what is kept of an API key.
type Key struct {
	Hash, Role, Subject string
	Expires, Revoked    string // in the form of model.FormatTime; empty: never
}

// maxCredentials bounds what is looked at.
const maxCredentials = 16 << 10

// Identify finds out who is calling by the Authorization header, and what they may
// do. Credentials that are sent must be right, also for what needs none.
func (g *Guard) Identify(ctx context.Context, header []string) (*Permit, error) {
	if len(header) == 0 {
		return g.Policy.Permit(Caller{Role: schema.PublicRole}), nil
	}
	scheme, credentials, found := strings.Cut(header[0], " ")
	credentials = strings.TrimLeft(credentials, " ")
	if len(header) > 1 || !found || !strings.EqualFold(scheme, "Bearer") || credentials == "" || len(credentials) > maxCredentials {
		return nil, invalid("Credentials are sent as Authorization: Bearer, followed by an API key or a token, once.")
	}
	var caller Caller
	var err error
	if IsKey(credentials) {
		caller, err = g.byKey(ctx, credentials)
	} else {
		caller, err = g.Tokens.check(ctx, credentials, g.Policy.names)
	}
	if err != nil {
		return nil, err
	}
	if !g.Policy.HasRole(caller.Role) {
		// It is somebody, who has no role here: 403 for everything but what is for all.
		caller.Role = ""
	}
	return g.Policy.Permit(caller), nil
}

func invalid(detail string) *problem.Error {
	return fault.Header("Authorization", problem.CodeInvalidCredentials, "%s", detail)
}

// byKey finds the caller of an API key. Whatever is wrong with it, the answer is the
// same.
func (g *Guard) byKey(ctx context.Context, credentials string) (Caller, error) {
	refusal := invalid("The API key is not known, has expired or was revoked.")
	prefix, secret, ok := ParseKey(credentials)
	if !ok {
		return Caller{}, refusal
	}
	key, err := g.Key(ctx, prefix)
	if err != nil {
		return Caller{}, err
	}
	if key == nil || !Matches(secret, key.Hash) || key.Revoked != "" || key.Expires != "" && key.Expires <= model.FormatTime(g.clock()) {
		return Caller{}, refusal
	}
	return Caller{ID: keyCaller + prefix, Role: key.Role, Subject: key.Subject}, nil
}

// keyCaller is what the ids of callers by API key begin with.
const keyCaller = "key:"

// StillTrusts refuses what is done later for the bearer of a key that was revoked since.
func (g *Guard) StillTrusts(ctx context.Context, by *Permit) error {
	if g == nil || by == nil {
		return nil
	}
	prefix, isKey := strings.CutPrefix(by.Caller.ID, keyCaller)
	if !isKey {
		return nil
	}
	key, err := g.Key(ctx, prefix)
	if err == nil && (key == nil || key.Revoked != "") {
		err = invalid("The API key was revoked before this was carried out.")
	}
	return err
}

func (g *Guard) clock() time.Time {
	if g.now == nil {
		return time.Now()
	}
	return g.now()
}

// PolicyInForce is the policy, nil if there is no guard.
func (g *Guard) PolicyInForce() *Policy {
	if g == nil {
		return nil
	}
	return g.Policy
}
