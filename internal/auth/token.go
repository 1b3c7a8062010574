package auth

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Tokens checks JSON Web Tokens.
type Tokens struct {
	declared schema.Tokens
	keys     *issuerKeys // of an issuer; nil with a key of our own
	verifier *oidc.IDTokenVerifier
	now      func() time.Time
}

const (
	startTimeout   = 3 * time.Second // how long a starting server waits for its issuer
	requestTimeout = time.Second     // how long a request waits for it
)

// NewTokens returns a checker of tokens. An issuer that cannot be reached is reported, and
// asked again when there is a token to check.
func NewTokens(ctx context.Context, declared schema.Tokens, unreachable func(error)) (*Tokens, error) {
	return newTokens(ctx, declared, http.DefaultTransport, unreachable)
}

func newTokens(ctx context.Context, declared schema.Tokens, transport http.RoundTripper, unreachable func(error)) (*Tokens, error) {
	declared.RoleClaim = cmp.Or(declared.RoleClaim, "role")
	declared.ClockSkew = cmp.Or(declared.ClockSkew, time.Minute)
	if declared.Algorithms == nil {
		declared.Algorithms = []string{"RS256", "ES256", "EdDSA"}
	}
	t := &Tokens{declared: declared, now: time.Now}
	if declared.PublicKey != "" {
		key, err := readPublicKey(declared.PublicKey)
		if err != nil {
			return nil, err
		}
		if possible := algorithmsOf(key); !slices.ContainsFunc(possible, func(name string) bool { return slices.Contains(declared.Algorithms, name) }) {
			return nil, fmt.Errorf("the public key of tokens: the key in %s does not fit the allowed algorithms, %s", declared.PublicKey, strings.Join(declared.Algorithms, ", "))
		}
		t.verifier = t.newVerifier(&oidc.StaticKeySet{PublicKeys: []crypto.PublicKey{key}})
		return t, nil
	}
	t.keys = &issuerKeys{issuer: declared.Issuer, transport: transport, pause: fetchPause}
	t.verifier = t.newVerifier(t.keys)
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := t.keys.refresh(starting, t.keys.isStale); err != nil {
		unreachable(fmt.Errorf("the issuer of tokens cannot be reached, so no token is accepted: %w", err))
	}
	return t, nil
}

func readPublicKey(file string) (crypto.PublicKey, error) {
	text, err := os.ReadFile(file) // #nosec G304 -- the operator names it
	if err != nil {
		return nil, fmt.Errorf("the public key of tokens: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("the public key of tokens: %s is not PEM", file)
	}
	if block.Type == "CERTIFICATE" {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("the public key of tokens: %w", err)
		}
		return certificate.PublicKey, nil
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the public key of tokens: %s must contain a PUBLIC KEY or a CERTIFICATE: %w", file, err)
	}
	return key, nil
}

// algorithmsOf lists the algorithms that a key can be used with.
func algorithmsOf(key crypto.PublicKey) []string {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	case *ecdsa.PublicKey:
		return map[int][]string{256: {"ES256"}, 384: {"ES384"}, 521: {"ES512"}}[key.Curve.Params().BitSize]
	case ed25519.PublicKey:
		return []string{"EdDSA"}
	}
	return nil
}

func (t *Tokens) newVerifier(keys oidc.KeySet) *oidc.IDTokenVerifier {
	return oidc.NewVerifier(t.declared.Issuer, keys, &oidc.Config{
		ClientID: t.declared.Audience, SupportedSigningAlgs: t.declared.Algorithms,
		SkipIssuerCheck: t.declared.Issuer == "",
		SkipExpiryCheck: true, // it allows no clock skew: see checkTimes
	})
}

// mayBeValid reports whether a token is worth asking the issuer about. A token with another
// purpose, such as logout, is not (RFC 8725, section 3.11).
func (t *Tokens) mayBeValid(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	var header struct {
		Algorithm string `json:"alg"`
		Type      string `json:"typ"`
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil || json.Unmarshal(text, &header) != nil || !slices.Contains(t.declared.Algorithms, header.Algorithm) {
		return false
	}
	purpose, special := strings.CutSuffix(strings.ToLower(header.Type), "+jwt")
	return !special || strings.TrimPrefix(purpose, "application/") == "at"
}

// maxSubject bounds the caller id that is stored with every change.
const maxSubject = 255

// check returns the caller of a token, with the first of its roles.
func (t *Tokens) check(ctx context.Context, token string, roles []string) (Caller, error) {
	if t == nil {
		return Caller{}, invalid("This is not an API key, and this server does not accept tokens.")
	}
	if !t.mayBeValid(token) {
		return Caller{}, invalid(notValid)
	}
	var unreachable error
	verified, err := t.verifier.Verify(context.WithValue(ctx, unreachableKey{}, &unreachable), token)
	switch {
	case unreachable != nil:
		return Caller{}, cannotCheck(unreachable)
	case err != nil:
		refusal := invalid(notValid)
		refusal.Cause = err
		return Caller{}, refusal
	}
	claims, err := claimsOf(verified)
	if err != nil {
		return Caller{}, invalid("The claims of the token cannot be read.")
	}
	if claims["iss"] != verified.Issuer && t.declared.Issuer != "" || !isFor(claims, t.declared.Audience) {
		// The verifier takes ISS for iss and AUD for aud.
		return Caller{}, invalid(notValid)
	}
	if detail := t.checkTimes(claims); detail != "" {
		return Caller{}, invalid(detail)
	}
	subject, _ := claims["sub"].(string)
	if subject == "" || len(subject) > maxSubject || strings.IndexByte(subject, 0) >= 0 {
		return Caller{}, invalid("The token must have the claim sub.")
	}
	role := firstRole(roles, claimAt(claims, t.declared.RoleClaim))
	return Caller{ID: "token:" + subject, Role: role, Subject: subject, Claims: claims, Expires: t.expires(claims)}, nil
}

const notValid = "The token is not valid here: it is malformed, from another issuer, for another audience, or not signed by a key of the issuer with an algorithm that is allowed."

// isFor reports whether an audience is among those of a token.
func isFor(claims map[string]any, audience string) bool {
	audiences, several := claims["aud"].([]any)
	if !several {
		audiences = []any{claims["aud"]}
	}
	return slices.Contains(audiences, any(audience))
}

// claimsOf is the claims of a token, with numbers as they were written.
func claimsOf(verified *oidc.IDToken) (claims map[string]any, err error) {
	var text json.RawMessage
	if err := verified.Claims(&text); err != nil {
		return nil, err
	}
	return claims, model.DecodeExactly(text, &claims)
}

func cannotCheck(cause error) error {
	return &problem.Error{Code: problem.CodeUnavailable, Detail: "Tokens cannot be checked at the moment. Try again later.", Cause: cause}
}

// checkTimes says what is wrong with the time of a token, or nothing.
func (t *Tokens) checkTimes(claims map[string]any) string {
	now, skew := float64(t.now().UnixMilli())/1000, t.declared.ClockSkew.Seconds()
	expires, ok := timeOf(claims["exp"])
	if !ok {
		return "The token must have the claim exp."
	}
	if now >= expires+skew {
		return "The token has expired."
	}
	for _, name := range []string{"nbf", "iat"} {
		if from, given := claims[name]; given {
			if start, ok := timeOf(from); !ok || start > now+skew {
				return "The token is not valid yet."
			}
		}
	}
	return ""
}

// expires is when a token that was checked is not accepted any more.
func (t *Tokens) expires(claims map[string]any) time.Time {
	seconds, _ := timeOf(claims["exp"])
	if seconds > maxExact { // beyond what a time can be
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000)).Add(t.declared.ClockSkew)
}

func timeOf(claim any) (seconds float64, ok bool) {
	number, ok := claim.(json.Number)
	if !ok {
		return 0, false
	}
	seconds, err := number.Float64()
	return seconds, err == nil
}

// claimAt follows a path to a claim, nil if there is none. A dot leads into an object, unless it is
// part of a name.
func claimAt(claims map[string]any, path string) any {
	if claim, ok := claims[path]; ok {
		return claim
	}
	for i, c := range path {
		if c != '.' {
			continue
		}
		if within, ok := claims[path[:i]].(map[string]any); ok {
			if claim := claimAt(within, path[i+1:]); claim != nil {
				return claim
			}
		}
	}
	return nil
}

// firstRole is the first of the roles that a claim gives: a text with one or more, with spaces
// between them, or a list. Empty is none.
func firstRole(roles []string, claim any) string {
	var given []any
	switch claim := claim.(type) {
	case string:
		for word := range strings.FieldsSeq(claim) {
			given = append(given, word)
		}
	case []any:
		given = claim
	}
	for _, role := range roles {
		if slices.Contains(given, any(role)) {
			return role
		}
	}
	return ""
}
