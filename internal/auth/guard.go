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

// Guard identifies callers.
type Guard struct {
	Policy *Policy

	// Keys has the API keys.
	Keys KeyStore

	// Tokens checks tokens; nil: none are accepted.
	Tokens *Tokens
}

// KeyStore stores API keys. It is the store: this package knows no database.
type KeyStore interface {
	// APIKey returns the API key with a prefix, nil if there is none.
	APIKey(ctx context.Context, prefix string) (*StoredKey, error)
	// APIKeys returns all API keys, the oldest first.
	APIKeys(ctx context.Context) ([]StoredKey, error)
	// AddAPIKey stores a new API key. When it returns nil, the key is durable.
	AddAPIKey(ctx context.Context, key StoredKey) error
	// RevokeAPIKey revokes an API key at a time, at once and for every server. One that is revoked already
	// keeps its time. It returns the key, nil if there is none.
	RevokeAPIKey(ctx context.Context, prefix, at string) (*StoredKey, error)
}

// StoredKey is an API key as stored, without its secret.
type StoredKey struct {
	Prefix  string // identifies the key
	Hash    string // of its secret
	Name    string
	Role    string
	Subject string
	Created string // in the form of model.FormatTime, as Expires and Revoked
	Expires string // empty: never
	Revoked string // empty: not revoked
	Version int    // of the interface, that requests with the key use; 0: the newest

	// AgentWrites: agents with the key may write what its role may write.
	AgentWrites bool
}

// maxCredentials bounds the length of credentials.
const maxCredentials = 16 << 10

// Identify identifies the caller by the Authorization header. Credentials that are sent must
// be valid, even where none are needed.
func (g *Guard) Identify(ctx context.Context, header []string) (*Permit, error) {
	if len(header) == 0 {
		return g.Policy.Permit(Caller{Role: schema.PublicRole}), nil
	}
	scheme, credentials, found := strings.Cut(header[0], " ")
	credentials = strings.TrimLeft(credentials, " ")
	if len(header) > 1 || !found || !strings.EqualFold(scheme, "Bearer") || credentials == "" || len(credentials) > maxCredentials {
		return nil, invalid("Send credentials once, as Authorization: Bearer followed by an API key or a token.")
	}
	var caller Caller
	var err error
	if IsAPIKey(credentials) {
		caller, err = g.callerOfAPIKey(ctx, credentials)
	} else {
		caller, err = g.Tokens.check(ctx, credentials, g.Policy.names)
	}
	if err != nil {
		return nil, err
	}
	if !g.Policy.HasRole(caller.Role) {
		// A known caller without a declared role: 403 for everything that is not public.
		caller.Role = ""
	}
	return g.Policy.Permit(caller), nil
}

func invalid(detail string) *problem.Error {
	return fault.Header("Authorization", problem.CodeInvalidCredentials, "%s", detail)
}

// callerOfAPIKey returns the caller of an API key. The error does not say what is wrong with
// it.
func (g *Guard) callerOfAPIKey(ctx context.Context, credentials string) (Caller, error) {
	refusal := invalid("The API key is unknown, expired or revoked.")
	prefix, secret, ok := ParseAPIKey(credentials)
	if !ok {
		return Caller{}, refusal
	}
	key, err := g.Keys.APIKey(ctx, prefix)
	if err != nil {
		return Caller{}, err
	}
	if key == nil || !Matches(secret, key.Hash) || key.Revoked != "" || key.Expires != "" && key.Expires <= model.FormatTime(time.Now()) {
		return Caller{}, refusal
	}
	caller := Caller{ID: KeyCaller + prefix, Role: key.Role, Subject: key.Subject, Version: key.Version, AgentWrites: key.AgentWrites}
	if key.Expires != "" {
		if caller.Expires, err = time.Parse(time.RFC3339, key.Expires); err != nil {
			return Caller{}, err
		}
	}
	return caller, nil
}

// KeyCaller is the prefix of the ids of callers with API keys.
const KeyCaller = "key:"

// CheckNotRevoked refuses what a caller began with an API key that has been revoked since.
func (g *Guard) CheckNotRevoked(ctx context.Context, by *Permit) error {
	if g == nil || by == nil {
		return nil
	}
	prefix, isKey := strings.CutPrefix(by.Caller.ID, KeyCaller)
	if !isKey {
		return nil
	}
	key, err := g.Keys.APIKey(ctx, prefix)
	if err == nil && (key == nil || key.Revoked != "") {
		err = invalid("The API key has been revoked.")
	}
	return err
}

// CheckValid refuses what a caller began with credentials that have expired or were revoked since.
func (g *Guard) CheckValid(ctx context.Context, by *Permit) error {
	if by != nil && !by.Caller.Expires.IsZero() && !time.Now().Before(by.Caller.Expires) {
		return invalid("The credentials have expired.")
	}
	return g.CheckNotRevoked(ctx, by)
}

// PolicyInForce is the policy, nil if there is no guard.
func (g *Guard) PolicyInForce() *Policy {
	if g == nil {
		return nil
	}
	return g.Policy
}
