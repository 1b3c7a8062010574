package interfacetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// signed is a token with claims, signed by a key.
func signed(t *testing.T, key *ecdsa.PrivateKey, claims map[string]any) string {
	t.Helper()
	part := func(value any) string {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]string{"alg": "ES256"}) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// issuer is an OpenID Connect provider with one key.
func issuer(t *testing.T, key *ecdsa.PrivateKey) string {
	t.Helper()
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var said any = map[string]any{"issuer": server.URL, "jwks_uri": server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"}}
		if r.URL.Path == "/keys" {
			said = map[string]any{"keys": []any{map[string]string{
				"kty": "EC", "crv": "P-256", "use": "sig", "x": base64.RawURLEncoding.EncodeToString(point[1:33]), "y": base64.RawURLEncoding.EncodeToString(point[33:]),
			}}}
		}
		if err := json.NewEncoder(w).Encode(said); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestRolesOfAnIssuer: of the roles that a token lists, the first in the order of the policy
// counts, and who has none of them is told so.
func TestRolesOfAnIssuer(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := issuer(t, key)
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(func(c *plural.Config) {
			c.Access.Tokens = &schema.Tokens{Issuer: from, Audience: "plural", RoleClaim: "realm_access.roles"}
		})
		h.fill(true, "example.com")
		token := func(who string, roles any) string {
			return "Bearer " + signed(t, key, map[string]any{
				"iss": from, "aud": "plural", "sub": who, "exp": time.Now().Add(time.Hour).Unix(), "realm_access": map[string]any{"roles": roles},
			})
		}
		// A busy issuer may not answer in time.
		eventually(t, "the server has the keys of the issuer", func() bool { return h.get("/posts", "Authorization", token("first", "editor")).status != 503 })
		for _, c := range []struct {
			who   string
			roles any
			want  [3]int // reads a hidden post, creates a user, creates a post
		}{
			{"an editor", []string{"offline_access", "editor"}, [3]int{200, 201, 201}},
			{"an author before an editor", []string{"editor", "author"}, [3]int{404, 403, 403}},
			{"an editor before a clerk", []string{"clerk", "editor"}, [3]int{200, 201, 201}},
			{"one by its name", "editor", [3]int{200, 201, 201}},
			{"a stranger", []string{"offline_access", "Editor"}, [3]int{403, 403, 403}},
			{"nobody", []string{}, [3]int{403, 403, 403}},
			{"a number", 1, [3]int{403, 403, 403}},
		} {
			h.keys[c.who] = token(c.who, c.roles)
			got := [3]int{h.as(c.who, "GET", "/posts/"+id(11), "").status, h.as(c.who, "POST", "/users", `{"name":"x"}`).status, h.as(c.who, "POST", "/posts", `{"title":"x"}`).status}
			if got != c.want {
				t.Errorf("%s gets %v, want %v", c.who, got, c.want)
			}
		}
		h.as("a stranger", "GET", "/posts", "").expect(t, 403, `{"errors":[{"status":403,"code":"forbidden","title":"Forbidden","detail":"You may not list resources of posts. Your credentials give you no role that is known here."}]}`)
	})
}

// TestTokensOfAServer: whoever has a token is who it says, with the role that it says.
func TestTokensOfAServer(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(func(c *plural.Config) {
			c.Access.Tokens = &schema.Tokens{Issuer: "https://issuer.example", PublicKey: file, Audience: "plural", RoleClaim: "roles.plural"}
		})
		h.fill(true, "example.com")
		bearer := func(sub, role string, expires time.Duration) string {
			return "Bearer " + signed(t, key, map[string]any{
				"iss": "https://issuer.example", "aud": "plural", "sub": sub, "exp": time.Now().Add(expires).Unix(), "roles": map[string]string{"plural": role},
			})
		}
		h.keys["bo by token"] = bearer(id(boAt), "author", time.Hour)
		h.keys["a chief"] = bearer("chief", "chief", time.Hour)
		h.keys["too late"] = bearer(id(boAt), "editor", -time.Hour)
		for caller, want := range map[string][2]int{"bo by token": {200, 200}, "a chief": {403, 403}, "too late": {401, 401}} {
			if a := h.as(caller, "GET", "/posts/"+id(11), ""); a.status != want[0] {
				t.Errorf("%s reads: %d %s", caller, a.status, a.body)
			}
			if a := h.as(caller, "PATCH", "/posts/"+id(11), `{"title":"x"}`); a.status != want[1] {
				t.Errorf("%s writes: %d %s", caller, a.status, a.body)
			}
		}
		// Keys of requests are of the caller, not of the role: a key is another caller than a token.
		first := h.as("bo", "POST", "/notes", `{"text":"x"}`, "Idempotency-Key", "k")
		second := h.as("bo by token", "POST", "/notes", `{"text":"x"}`, "Idempotency-Key", "k")
		if first.status != 201 || second.status != 201 || first.body == second.body {
			t.Errorf("got %s and %s", first.body, second.body)
		}
	})
}
