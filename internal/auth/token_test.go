package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// signer makes tokens.
type signer struct {
	id  string
	key *ecdsa.PrivateKey
}

func newSigner(t testing.TB, id string) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{id, key}
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func (s *signer) sign(t testing.TB, claims map[string]any) string {
	t.Helper()
	return s.signAs(t, "JWT", claims)
}

func (s *signer) signAs(t testing.TB, kind any, claims map[string]any) string {
	t.Helper()
	text := encoded(map[string]any{"alg": "ES256", "kid": s.id, "typ": kind}) + "." + encoded(claims)
	sum := sha256.Sum256([]byte(text))
	r, v, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	v.FillBytes(signature[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (s *signer) jwk(t testing.TB) map[string]string {
	t.Helper()
	point, err := s.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"kty": "EC", "crv": "P-256", "kid": s.id, "alg": "ES256", "use": "sig",
		"x": base64.RawURLEncoding.EncodeToString(point[1:33]), "y": base64.RawURLEncoding.EncodeToString(point[33:]),
	}
}

func pemOf(t testing.TB, key crypto.PublicKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// changed is claims with some of them different; nil removes one.
func changed(claims, by map[string]any) map[string]any {
	result := map[string]any{}
	for _, each := range []map[string]any{claims, by} {
		for name, value := range each {
			if result[name] = value; value == nil {
				delete(result, name)
			}
		}
	}
	return result
}

// TestTokens: a token must be right in every way.
func TestTokens(t *testing.T) {
	ours, theirs := newSigner(t, "1"), newSigner(t, "1")
	now := time.Now()
	tokens, err := NewTokens(context.Background(), schema.Tokens{
		Issuer: "https://issuer.example", PublicKey: pemOf(t, ours.key.Public()), Audience: "plural", RoleClaim: "realm.role", ClockSkew: 30 * time.Second,
	}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	tokens.now = func() time.Time { return now }
	in := func(span time.Duration) int64 { return now.Add(span).Unix() }
	right := map[string]any{"iss": "https://issuer.example", "aud": []any{"other", "plural"}, "sub": "ada", "exp": in(time.Minute), "realm": map[string]any{"role": "author"}}
	good := ours.sign(t, right)
	caller, err := tokens.check(context.Background(), good, []string{"editor", "author"})
	if err != nil {
		t.Fatal(err)
	}
	if caller.ID != "token:ada" || caller.Role != "author" || caller.Subject != "ada" || !reflect.DeepEqual(caller.Claims["realm"], right["realm"]) {
		t.Errorf("got %+v", caller)
	}
	for what, by := range map[string]map[string]any{
		"just expired": {"exp": in(-20 * time.Second)}, "a little early": {"nbf": in(20 * time.Second), "iat": in(20 * time.Second)},
		"no role": {"realm": "author"}, "one audience": {"aud": "plural"},
	} {
		if _, err := tokens.check(context.Background(), ours.sign(t, changed(right, by)), nil); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	forged := encoded(map[string]any{"alg": "none"}) + "." + encoded(right) + "."
	symmetric := encoded(map[string]any{"alg": "HS256"}) + "." + encoded(right)
	mac := hmac.New(sha256.New, []byte(pemText(t, tokens.declared.PublicKey)))
	mac.Write([]byte(symmetric))
	symmetric += "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	wrong := map[string]string{
		"nothing": "", "no token": "a.b.c", "none": forged, "a public key as a secret": symmetric, "of another key": theirs.sign(t, right),
		"cut": good[:len(good)-4], "other claims": good[:len(good)/3] + "A" + good[len(good)/3+1:], "more": good + ".x", "no signature": good[:len(good)-86],
	}
	for what, by := range map[string]map[string]any{
		"expired": {"exp": in(-time.Minute)}, "for ever": {"exp": nil}, "exp as text": {"exp": "soon"}, "early": {"nbf": in(time.Minute)}, "from the future": {"iat": in(time.Minute)},
		"another issuer": {"iss": "https://issuer.example/"}, "no issuer": {"iss": nil}, "another audience": {"aud": "other"}, "no audience": {"aud": nil},
		"an audience by another name": {"aud": nil, "AUD": "plural"}, "an issuer by another name": {"iss": nil, "Iss": "https://issuer.example"}, "a subject by another name": {"sub": nil, "Sub": "ada"},
		"an audience that is none": {"aud": []any{map[string]any{"a": "plural"}}},
		"nobody":                   {"sub": nil}, "empty": {"sub": ""}, "a null character": {"sub": "a\x00"},
	} {
		wrong[what] = ours.sign(t, changed(right, by))
	}
	for _, kind := range []any{"logout+jwt", "application/secevent+JWT", "dpop+jwt", 1} {
		wrong[fmt.Sprint("typed ", kind)] = ours.signAs(t, kind, right)
	}
	for _, kind := range []any{"at+jwt", "application/at+jwt", "jwt", "JOSE", "", nil} {
		if _, err := tokens.check(context.Background(), ours.signAs(t, kind, right), nil); err != nil {
			t.Errorf("typed %v: %v", kind, err)
		}
	}
	for what, token := range wrong {
		if _, err := tokens.check(context.Background(), token, nil); !fault.Is(err, problem.CodeInvalidCredentials) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := (*Tokens)(nil).check(context.Background(), good, nil); !fault.Is(err, problem.CodeInvalidCredentials) {
		t.Errorf("where no tokens are accepted: %v", err)
	}
}

// TestKeysThatFitNoAlgorithm: a key with which every token would be refused is a mistake.
func TestKeysThatFitNoAlgorithm(t *testing.T) {
	large, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key        crypto.PublicKey
		algorithms []string
		want       bool
	}{
		{large.Public(), nil, false}, {large.Public(), []string{"RS256", "ES384"}, true}, {edwards, nil, true}, {edwards, []string{"ES256"}, false}, {newSigner(t, "").key.Public(), nil, true},
	} {
		_, err := NewTokens(context.Background(), schema.Tokens{PublicKey: pemOf(t, c.key), Audience: "a", Algorithms: c.algorithms}, func(err error) { t.Error(err) })
		if (err == nil) != c.want {
			t.Errorf("%T with %v: %v", c.key, c.algorithms, err)
		}
	}
}

// TestRolesOfAClaim: a claim is found by its path, and gives the first of the roles that there are.
func TestRolesOfAClaim(t *testing.T) {
	roles := []string{"editor", "author", "public"}
	claims := map[string]any{
		"role": "author", "scope": "openid author  editor", "none": "", "other": "chief", "number": 1.0, "flag": true, "empty": []any{}, "null": nil,
		"groups": []any{"offline_access", "author", "editor"}, "mixed": []any{1.0, nil, []any{"editor"}, map[string]any{"editor": true}, "author"},
		"nested": []any{[]any{"editor"}}, "object": map[string]any{"editor": true}, "spaced": []any{"editor author"}, "case": "Editor",
		"realm_access":              map[string]any{"roles": []any{"uma_authorization", "author"}},
		"resource_access":           map[string]any{"my.api": map[string]any{"roles": []any{"editor"}}, "my": map[string]any{"other": "author"}},
		"https://api.example/roles": []any{"author"}, "a.b": "chief", "a": map[string]any{"b": "editor"},
	}
	for path, want := range map[string]string{
		"role": "author", "scope": "editor", "none": "", "other": "", "number": "", "flag": "", "empty": "", "null": "", "groups": "editor", "mixed": "author", "nested": "", "object": "",
		"spaced": "", "case": "", "realm_access.roles": "author", "realm_access": "", "realm_access.roles.0": "", "resource_access.my.api.roles": "editor", "resource_access.my.other": "author",
		"https://api.example/roles": "author", "a.b": "", "missing": "", "missing.too": "", ".": "", "": "", "role.": "", "role.x": "",
	} {
		if got := firstRole(roles, claimAt(claims, path)); got != want {
			t.Errorf("%s gives the role %q, want %q", path, got, want)
		}
	}
}

func pemText(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// issuer is an OpenID Connect provider that can be down, and changes its keys. It is reached without a
// network, so that a test can use the clock of a bubble (testing/synctest): nothing depends on how busy
// the machine is.
type issuer struct {
	wait    func(path string) // before it answers, if set
	down    atomic.Bool
	broken  atomic.Pointer[http.HandlerFunc] // in its place
	fetches atomic.Int64
	keys    atomic.Pointer[[]any]
}

const issuerURL = "https://issuer.test"

// RoundTrip is that of an http.RoundTripper.
func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		i.ServeHTTP(w, r)
	}()
	select {
	case <-done:
		return w.Result(), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if i.wait != nil {
		i.wait(r.URL.Path)
	}
	switch broken := i.broken.Load(); {
	case broken != nil:
		(*broken)(w, r)
	case i.down.Load():
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/.well-known/openid-configuration":
		json.NewEncoder(w).Encode(map[string]any{"issuer": issuerURL, "jwks_uri": issuerURL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"}})
	default:
		i.fetches.Add(1)
		json.NewEncoder(w).Encode(map[string]any{"keys": *i.keys.Load()})
	}
}

func (i *issuer) have(t testing.TB, signers ...*signer) {
	keys := []any{}
	for _, each := range signers {
		keys = append(keys, each.jwk(t))
	}
	i.keys.Store(&keys)
}

// tokens prepares to check tokens of the issuer.
func (i *issuer) tokens(t testing.TB, unreachable func(error)) *Tokens {
	t.Helper()
	tokens, err := newTokens(t.Context(), schema.Tokens{Issuer: issuerURL, Audience: "plural"}, i, unreachable)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// token is one of the issuer, good for an hour.
func (s *signer) token(t testing.TB) string {
	t.Helper()
	return s.sign(t, map[string]any{"iss": issuerURL, "aud": "plural", "sub": "ada", "exp": time.Now().Add(time.Hour).Unix(), "role": "author"})
}

// TestIssuer: keys are discovered, kept, and fetched anew; an issuer that is down is
// needed for nothing that is known, and one that was never there is waited for.
func TestIssuer(t *testing.T) { synctest.Test(t, testIssuer) }

func testIssuer(t *testing.T) {
	first, second := newSigner(t, "1"), newSigner(t, "2")
	i := &issuer{}
	i.have(t, first)
	i.down.Store(true)
	reported := 0
	tokens := i.tokens(t, func(error) { reported++ })
	if reported != 1 {
		t.Fatalf("a start without the issuer was reported %d times", reported)
	}
	tokens.keys.pause = 0
	expect := func(what string, s *signer, code problem.Code) {
		t.Helper()
		_, err := tokens.check(t.Context(), s.token(t), nil)
		if code == "" && err != nil || code != "" && !fault.Is(err, code) {
			t.Errorf("%s: %v", what, err)
		}
	}
	expect("not discovered yet", first, problem.CodeUnavailable)
	i.down.Store(false)
	expect("discovered", first, "")
	expect("an unknown key", second, problem.CodeInvalidCredentials)
	i.down.Store(true)
	expect("down, with a key that is known", first, "")
	expect("down, with a key that is not", second, problem.CodeUnavailable)
	i.down.Store(false)
	i.have(t, first, second)
	expect("a new key", second, "")
	fetches := i.fetches.Load()
	expect("kept", second, "")
	if i.fetches.Load() != fetches {
		t.Error("the keys were fetched again")
	}
	i.have(t, second)
	expect("withdrawn a moment ago", first, "")
	time.Sleep(freshFor + time.Second)
	i.down.Store(true)
	expect("nobody to ask, and trusted still", first, "")
	time.Sleep(retryAfter + time.Second)
	i.down.Store(false)
	expect("withdrawn", first, problem.CodeInvalidCredentials)
	expect("the other", second, "")
	i.down.Store(true)
	time.Sleep(trustedFor + time.Hour)
	expect("nobody to ask for too long", second, problem.CodeUnavailable)

	// Anybody can send unknown keys, and must not make us trouble the issuer.
	i.down.Store(false)
	time.Sleep(retryAfter + time.Second)
	tokens.keys.pause = time.Hour
	expect("back", second, "")
	fetches = i.fetches.Load()
	for range 5 {
		expect("unknown again and again", newSigner(t, "3"), problem.CodeInvalidCredentials)
	}
	if i.fetches.Load() > fetches+1 {
		t.Errorf("the keys were fetched %d times", i.fetches.Load()-fetches)
	}
	// Nor must they keep us from what is due.
	i.have(t, first)
	time.Sleep(freshFor + time.Second)
	expect("unknown, when it is time", newSigner(t, "3"), problem.CodeInvalidCredentials)
	expect("withdrawn meanwhile", second, problem.CodeInvalidCredentials)
	expect("the new one", first, "")
}

// TestIssuerThatIsBroken: what an issuer says in place of its keys, or does not say at all, takes
// nothing away from what is known, and nobody waits for it for long.
func TestIssuerThatIsBroken(t *testing.T) { synctest.Test(t, testBrokenIssuer) }

func testBrokenIssuer(t *testing.T) {
	known, unknown := newSigner(t, "1"), newSigner(t, "2")
	i := &issuer{}
	i.have(t, known)
	tokens := i.tokens(t, func(err error) { t.Error(err) })
	tokens.keys.pause = 0
	expect := func(what string, s *signer, code problem.Code) {
		t.Helper()
		began := time.Now()
		_, err := tokens.check(t.Context(), s.token(t), nil)
		if code == "" && err != nil || code != "" && !fault.Is(err, code) {
			t.Errorf("%s: %v", what, err)
		}
		if took := time.Since(began); took > requestTimeout {
			t.Errorf("%s took %s", what, took)
		}
	}
	time.Sleep(freshFor + time.Second)
	expect("as it should be", known, "")
	released := make(chan struct{})
	for what, broken := range map[string]http.HandlerFunc{
		"a page": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>Down for maintenance")) },
		"a broken key": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"keys":[{"kty":"EC","crv":"P-256","kid":"1"}]}`))
		},
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"keys":[],"more":"` + strings.Repeat("x", maxAnswer) + `"}`))
		},
		"half of it": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"keys":[`)) },
		"elsewhere":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"nothing":    func(http.ResponseWriter, *http.Request) { <-released },
	} {
		i.broken.Store(&broken)
		time.Sleep(freshFor + time.Second)
		expect(what, known, "")
		expect(what+", to a key that is not known", unknown, problem.CodeUnavailable)
		i.broken.Store(nil)
		time.Sleep(retryAfter + time.Second)
		expect("works again after "+what, known, "")
		expect("works again after "+what, unknown, problem.CodeInvalidCredentials)
	}
	close(released)
}

// TestIssuerThatHangs: nobody waits for long for an issuer that does not answer, be it
// where its keys are or the keys, and what cannot be a token does not wait at all.
func TestIssuerThatHangs(t *testing.T) {
	for hanging, start := range map[string]time.Duration{"/.well-known/openid-configuration": startTimeout, "/keys": startTimeout} {
		t.Run(hanging, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testHangingIssuer(t, hanging, start) })
		})
	}
}

func testHangingIssuer(t *testing.T, hanging string, start time.Duration) {
	s := newSigner(t, "1")
	i := &issuer{}
	i.have(t, s)
	released := make(chan struct{})
	i.wait = func(path string) {
		if path == hanging {
			<-released
		}
	}
	began := time.Now()
	tokens := i.tokens(t, func(error) {})
	if took := time.Since(began); took != start {
		t.Errorf("the start took %s, want %s", took, start)
	}
	token := s.token(t)
	began = time.Now()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := tokens.check(t.Context(), token, nil); !fault.Is(err, problem.CodeUnavailable) {
				t.Errorf("while it hangs: %v", err)
			}
		})
	}
	if _, err := tokens.check(t.Context(), "not.a.token", nil); !fault.Is(err, problem.CodeInvalidCredentials) || time.Since(began) != 0 {
		t.Errorf("what is no token, after %s: %v", time.Since(began), err)
	}
	all.Wait()
	if took := time.Since(began); took != requestTimeout {
		t.Errorf("20 requests took %s, want %s", took, requestTimeout)
	}
	close(released)
	synctest.Wait() // until the answer is in use
	if caller, err := tokens.check(t.Context(), token, nil); caller.ID != "token:ada" {
		t.Errorf("after it answered: %v", err)
	}
}

// TestTokensOfANewKey: the keys are fetched once for all tokens of a new key that come together, and each of them waits for that.
func TestTokensOfANewKey(t *testing.T) { synctest.Test(t, testTokensOfANewKey) }

func testTokensOfANewKey(t *testing.T) {
	former, s := newSigner(t, "1"), newSigner(t, "2")
	i := &issuer{}
	i.have(t, former)
	tokens := i.tokens(t, func(err error) { t.Error(err) })
	i.have(t, former, s)
	i.wait = func(string) { time.Sleep(requestTimeout / 10) }
	time.Sleep(fetchPause)
	token, fetches := s.token(t), i.fetches.Load()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if caller, err := tokens.check(t.Context(), token, nil); caller.ID != "token:ada" {
				t.Errorf("while the keys are fetched: %v", err)
			}
		})
	}
	all.Wait()
	if fetched := i.fetches.Load() - fetches; fetched != 1 {
		t.Errorf("the keys were fetched %d times", fetched)
	}
}
