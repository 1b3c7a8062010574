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

// ErrOpen is the refusal to let everybody in who can reach the machine, unless that
// is said to be meant.
var ErrOpen = errors.New("without access, anybody who can reach this address could read and change everything: " +
	"declare access, listen on 127.0.0.1, or set Open if this is meant")

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// isPlain reports whether a URL is asked without TLS, beyond this machine.
func isPlain(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" {
		return false
	}
	addr, err := netip.ParseAddr(parsed.Hostname())
	name := strings.ToLower(parsed.Hostname())
	return name != "localhost" && !strings.HasSuffix(name, ".localhost") && (err != nil || !addr.Unmap().IsLoopback())
}

// newGuard makes what finds out who is calling, nil if nobody is asked.
// It knows no API keys yet.
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
			config.Logger.Warn("the issuer of tokens has no TLS: whoever is on the way to it can make tokens for anybody; give its https:// URL", "issuer", tokens.Issuer)
		}
		guard.Tokens, err = auth.NewTokens(ctx, *tokens, observer.IssuerUnreachable)
	}
	return guard, err
}

// keysOf finds API keys in a database.
func keysOf(st *store.Store) func(ctx context.Context, prefix string) (*auth.Key, error) {
	return func(ctx context.Context, prefix string) (*auth.Key, error) {
		kept, err := st.APIKey(ctx, prefix)
		if err != nil || kept == nil {
			return nil, err
		}
		return &auth.Key{Hash: kept.Hash, Role: kept.Role, Subject: kept.Subject, Expires: kept.Expires, Revoked: kept.Revoked}, nil
	}
}

// ratesOf is how many requests callers may send.
func ratesOf(access *schema.Access) map[string]schema.Rate {
	if access == nil {
		return nil
	}
	return access.Rates
}

// Key is an API key, without its secret, which nobody has but its bearer.
type Key struct {
	Prefix  string // what it begins with, behind plural_
	Name    string // what it is for
	Role    string
	Subject string // what auth.sub is for its bearer

	Created time.Time
	Expires time.Time // zero: never
	Revoked time.Time // zero: it was not
}

// CreateKey makes an API key in a database of Plural's, which a server may be using. Of
// the key that is given, Name, Role, Subject and Expires count; without a Subject it is
// the prefix. It returns the secret, which cannot be had again.
func CreateKey(ctx context.Context, database string, key Key) (secret string, err error) {
	if key.Name == "" || key.Role == "" {
		return "", errors.New("an API key needs a name and a role")
	}
	for what, text := range map[string]string{"name": key.Name, "role": key.Role, "sub": key.Subject} {
		if err := checkKeyText(what, text); err != nil {
			return "", err
		}
	}
	if !key.Expires.IsZero() && !key.Expires.After(time.Now()) {
		return "", errors.New("an API key must not have expired when it is made")
	}
	secret, prefix, hash := auth.NewKey()
	if key.Subject == "" {
		key.Subject = prefix
	}
	kept := store.APIKey{Prefix: prefix, Hash: hash, Name: key.Name, Role: key.Role, Subject: key.Subject, At: model.FormatTime(time.Now())}
	if !key.Expires.IsZero() {
		kept.Expires = model.FormatTime(key.Expires)
	}
	return secret, store.AddAPIKey(ctx, database, kept)
}

// Keys lists the API keys of a database, the oldest first.
func Keys(ctx context.Context, database string) ([]Key, error) {
	kept, err := store.ListAPIKeys(ctx, database)
	keys := make([]Key, len(kept))
	for i, each := range kept {
		keys[i] = Key{
			Prefix: each.Prefix, Name: each.Name, Role: each.Role, Subject: each.Subject,
			Created: timeOf(each.At), Expires: timeOf(each.Expires), Revoked: timeOf(each.Revoked),
		}
	}
	return keys, err
}

// RevokeKey makes an API key useless, at once and on every server. It takes the prefix of
// the key or all of it, and returns the prefix: the secret is in no error.
func RevokeKey(ctx context.Context, database, key string) (prefix string, err error) {
	prefix, ok := auth.PrefixOf(key)
	if !ok {
		return "", errors.New("nothing was revoked: this is not the prefix of a key, which \"plural keys list\" shows")
	}
	if err := store.RevokeAPIKey(ctx, database, prefix, model.FormatTime(time.Now())); err != nil {
		return "", fmt.Errorf("nothing was revoked: %w", err)
	}
	return prefix, nil
}

// checkKeyText refuses what would not be legible in a list or a log.
func checkKeyText(what, text string) error {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxKeyText || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("the %s of an API key has at most %d characters, and no control characters", what, maxKeyText)
	}
	return nil
}

const maxKeyText = 255

// timeOf reads a time that we have written; none is zero.
func timeOf(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text)
	return at
}
