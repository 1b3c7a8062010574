package plural

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/observe"
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

// ratesOf is how many requests callers may send.
func ratesOf(access *schema.Access) map[string]schema.Rate {
	if access == nil {
		return nil
	}
	return access.Rates
}
