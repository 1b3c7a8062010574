package plural

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// ErrOpen refuses to listen without access rules on an address that others can reach.
var ErrOpen = errors.New("without access, anybody who can reach this address could read and change everything: " +
	"set Config.Access, listen on 127.0.0.1, or set Config.Open to allow this")

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// isPlain reports whether a URL leads to another machine without TLS.
func isPlain(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" {
		return false
	}
	addr, err := netip.ParseAddr(parsed.Hostname())
	name := strings.ToLower(parsed.Hostname())
	return name != "localhost" && !strings.HasSuffix(name, ".localhost") && (err != nil || !addr.Unmap().IsLoopback())
}

// newGuard returns the guard, nil without Access. It has no API keys yet.
func newGuard(ctx context.Context, config Config, observer *observe.Observer) (*auth.Guard, error) {
	if config.Access == nil {
		return nil, nil
	}
	policy, err := auth.Compile(config.model(), config.Access)
	if err != nil {
		return nil, err
	}
	guard := &auth.Guard{Policy: policy}
	if tokens := config.Access.Tokens; tokens != nil {
		if isPlain(tokens.Issuer) {
			config.Logger.Warn("the issuer of tokens has no TLS, so that tokens can be forged on the network; give its https:// URL", "issuer", tokens.Issuer)
		}
		guard.Tokens, err = auth.NewTokens(ctx, *tokens, observer.IssuerUnreachable)
	}
	return guard, err
}

// keyStore is the API keys in a database, for package auth, which knows no store.
type keyStore struct{ store *store.Store }

func (k keyStore) Find(ctx context.Context, prefix string) (*auth.APIKey, error) {
	stored, err := k.store.APIKey(ctx, prefix)
	if err != nil || stored == nil {
		return nil, err
	}
	key := authKey(*stored)
	return &key, nil
}

func (k keyStore) List(ctx context.Context) ([]auth.APIKey, error) {
	stored, err := k.store.APIKeys(ctx)
	keys := make([]auth.APIKey, len(stored))
	for i, each := range stored {
		keys[i] = authKey(each)
	}
	return keys, err
}

func (k keyStore) Add(ctx context.Context, key auth.APIKey) error {
	return k.store.AddAPIKey(ctx, store.APIKey{
		Prefix: key.Prefix, Hash: key.Hash, Name: key.Name, Role: key.Role, Subject: key.Subject, Created: key.Created, Expires: key.Expires,
	})
}

func (k keyStore) Revoke(ctx context.Context, prefix, at string) (*auth.APIKey, error) {
	found, err := k.store.RevokeAPIKey(ctx, prefix, at)
	if err != nil || !found {
		return nil, err
	}
	return k.Find(ctx, prefix)
}

func authKey(stored store.APIKey) auth.APIKey {
	return auth.APIKey{
		Prefix: stored.Prefix, Hash: stored.Hash, Name: stored.Name, Role: stored.Role, Subject: stored.Subject,
		Created: stored.Created, Expires: stored.Expires, Revoked: stored.Revoked,
	}
}

// ratesOf is how many requests callers may send.
func ratesOf(access *schema.Access) map[string]schema.Rate {
	if access == nil {
		return nil
	}
	return access.Rates
}

// APIKey is an API key without its secret.
type APIKey struct {
	Prefix  string // what follows plural_ at its start
	Name    string // what it is for
	Role    string
	Subject string // auth.sub in rules

	Created time.Time
	Expires time.Time // zero: never
	Revoked time.Time // zero: not revoked
}

// CreateAPIKey creates an API key in a database, which a server may be using. It uses Name,
// Role, Subject and Expires of the key; the default Subject is the prefix. It returns the key
// itself, which is not stored.
func CreateAPIKey(ctx context.Context, database string, key APIKey) (secret string, err error) {
	if key.Name == "" || key.Role == "" {
		return "", errors.New("an API key needs a name and a role")
	}
	for what, text := range map[string]string{"name": key.Name, "role": key.Role, "sub": key.Subject} {
		if err := checkAPIKeyText(what, text); err != nil {
			return "", err
		}
	}
	if !key.Expires.IsZero() && !key.Expires.After(time.Now()) {
		return "", errors.New("the expiry of an API key must be in the future")
	}
	secret, prefix, hash := auth.NewAPIKey()
	if key.Subject == "" {
		key.Subject = prefix
	}
	kept := store.APIKey{Prefix: prefix, Hash: hash, Name: key.Name, Role: key.Role, Subject: key.Subject, Created: model.FormatTime(time.Now())}
	if !key.Expires.IsZero() {
		kept.Expires = model.FormatTime(key.Expires)
	}
	return secret, store.AddAPIKey(ctx, database, kept)
}

// APIKeys lists the API keys of a database, the oldest first.
func APIKeys(ctx context.Context, database string) ([]APIKey, error) {
	kept, err := store.ListAPIKeys(ctx, database)
	keys := make([]APIKey, len(kept))
	for i, each := range kept {
		keys[i] = APIKey{
			Prefix: each.Prefix, Name: each.Name, Role: each.Role, Subject: each.Subject,
			Created: timeOf(each.Created), Expires: timeOf(each.Expires), Revoked: timeOf(each.Revoked),
		}
	}
	return keys, err
}

// RevokeAPIKey revokes an API key, at once and on every server. It accepts the prefix of the
// key or the whole key, and returns the prefix: the secret is in no error.
func RevokeAPIKey(ctx context.Context, database, key string) (prefix string, err error) {
	prefix, ok := auth.PrefixOf(key)
	if !ok {
		return "", errors.New("nothing was revoked: this is not the prefix of an API key; \"plural keys list\" shows the prefixes")
	}
	if err := store.RevokeAPIKey(ctx, database, prefix, model.FormatTime(time.Now())); err != nil {
		return "", fmt.Errorf("nothing was revoked: %w", err)
	}
	return prefix, nil
}

// checkAPIKeyText refuses text that is not legible in a list or a log.
func checkAPIKeyText(what, text string) error {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxKeyText || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("the %s of an API key has at most %d characters, and no control characters", what, maxKeyText)
	}
	return nil
}

const maxKeyText = 255

// timeOf parses a stored time; an empty one is zero.
func timeOf(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text)
	return at
}
