package auth

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// FuzzParseKey: whatever is sent, a key is one that NewAPIKey could have made, or none.
func FuzzParseKey(f *testing.F) {
	_, key := NewAPIKey(StoredKey{}, time.Now())
	for _, seed := range []string{key, "", "plural_", "plural__", "plural_aaaaaaaaaa_", strings.ToUpper(key), key + "_", strings.Replace(key, "_", "\x00", 2)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		prefix, secret, ok := ParseAPIKey(text)
		if ok && text != keyMark+prefix+"_"+secret || ok && (len(prefix) != prefixLength || len(secret) != secretLength) {
			t.Errorf("%q is taken for %q and %q", text, prefix, secret)
		}
	})
}

// FuzzToken: no text is a token that nobody signed.
func FuzzToken(f *testing.F) {
	ours, theirs := newSigner(f, "1"), newSigner(f, "1")
	tokens, err := NewTokens(context.Background(), schema.Tokens{Issuer: "i", PublicKey: pemOf(f, ours.key.Public()), Audience: "a"}, func(error) {})
	if err != nil {
		f.Fatal(err)
	}
	claims := map[string]any{"iss": "i", "aud": "a", "sub": "s", "exp": 1e12, "role": "r"}
	good := theirs.sign(f, claims)
	for _, seed := range []string{good, good + ".", "..", encoded(map[string]string{"alg": "none"}) + "." + encoded(claims) + ".", `{"payload":"","signatures":[]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if caller, err := tokens.check(context.Background(), text, []string{"r"}); !fault.Is(err, problem.CodeInvalidCredentials) {
			t.Errorf("%q is a token of %+v, %v", text, caller, err)
		}
	})
}

// FuzzRule: whatever the text of a rule is, it is refused with a place in the file, or
// becomes a filter that can be asked.
func FuzzRule(f *testing.F) {
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{
		{Name: "text", Type: model.String}, {Name: "whole", Type: model.Integer}, {Name: "flag", Type: model.Boolean},
		{Name: "owner", Type: model.String, Format: model.UUID}, {Name: "at", Type: model.String, Format: model.DateTime},
	}})
	if err != nil {
		f.Fatal(err)
	}
	things := s.Collection("things")
	for _, seed := range []string{
		"resource.owner == auth.sub || auth.role == 'admin'", "resource.flag ? resource.whole > 3 : resource.text.startsWith('a')", "resource.whole in [1, 2] && !resource.flag",
		"resource.at < timestamp('2026-01-01T00:00:00Z')", "auth.claims.a.b[0] == resource.text", "[1,2].all(x, x == resource.whole)", "resource", "", "\x00", "((((", "has(resource.text)",
		"auth.claims.xs.exists(resource, resource.text == 'a')", ".resource.text == 'a'", "resource.text == resource.text", "1/0 == 1 || resource.flag",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		compiled, problems := compileRule(things, schema.Rule{Text: text, Line: 7, Column: 5}, []string{"here"})
		if (compiled == nil) != (len(problems) > 0) {
			t.Fatalf("%q: %v and %v", text, compiled, problems)
		}
		for _, wrong := range problems {
			if wrong.Line < 7 || wrong.Column < 1 || wrong.Message == "" {
				t.Errorf("%q: %+v", text, wrong)
			}
		}
		if compiled == nil {
			return
		}
		record := make(model.Record, len(things.Columns()))
		for _, caller := range []Caller{{Role: "public"}, {ID: "x", Role: "r", Subject: "s", Claims: map[string]any{"a": 1.5, "xs": []any{nil}}}} {
			if filter := compiled.bind(caller); filter != nil {
				filter.Match(record)
			}
		}
	})
}
