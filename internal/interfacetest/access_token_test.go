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
	eachHouse(t, func(t *testing.T, open opener) {
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
