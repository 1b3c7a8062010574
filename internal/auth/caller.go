// Package auth identifies the caller of a request, by an API key or a token, and decides what the
// role of the caller allows: which verbs, which attributes, and which resources. It expresses the
// last as a filter, which every query of the caller includes.
package auth

import (
	"encoding/json"
	"time"

	"github.com/google/cel-go/common/types"

	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
)

// Caller is who sent a request.
type Caller struct {
	// ID identifies the caller in logs and records: "key:…" or "token:…". It is empty without
	// credentials.
	ID      string         `json:"id,omitempty"`
	Role    string         `json:"role,omitempty"`
	Subject string         `json:"sub,omitempty"`
	Claims  map[string]any `json:"claims,omitempty"` // as encoding/json reads them, with or without UseNumber

	// Expires is when the credentials expire; zero: never.
	Expires time.Time `json:"-"`

	// Version is the version of the interface that the API key is pinned to; 0: none.
	Version int `json:"-"`

	// AgentWrites says that the API key lets agents write.
	AgentWrites bool `json:"-"`
}

// Anonymous reports whether there were no credentials.
func (c Caller) Anonymous() bool { return c.ID == "" }

// Variables are the CEL variables of the caller. An anonymous caller has no subject, not even
// an empty one, so that a rule that uses it denies.
func (c Caller) Variables() map[string]any {
	variables := map[string]any{"auth.role": c.Role, "auth.claims": plainClaims(c.Claims)}
	if !c.Anonymous() {
		variables["auth.sub"] = c.Subject
	}
	return variables
}

// plainClaims converts claims for rules. A claim that CEL cannot represent exactly becomes an
// error, so that a rule that uses it denies: leaving it out or rounding it could widen a rule.
func plainClaims(claims map[string]any) map[string]any {
	plain := make(map[string]any, len(claims))
	for name, claim := range claims {
		value, ok := plainClaim(claim)
		if !ok {
			value = types.NewErr("the claim %s has a number that cannot be represented exactly", name)
		}
		plain[name] = value
	}
	return plain
}

// plainClaim converts a claim for rules. False means that it cannot be represented.
func plainClaim(claim any) (plain any, ok bool) {
	switch claim := claim.(type) {
	case json.Number:
		return expression.Number(claim)
	case float64:
		return expression.Float(claim)
	case map[string]any:
		members := make(map[string]any, len(claim))
		for name, member := range claim {
			if members[name], ok = plainClaim(member); !ok {
				return nil, false
			}
		}
		return members, true
	case []any:
		items := make([]any, len(claim))
		for i, item := range claim {
			if items[i], ok = plainClaim(item); !ok {
				return nil, false
			}
		}
		return items, true
	}
	return claim, true
}

// Marshal encodes the caller, to be stored with an operation.
func (c Caller) Marshal() (string, error) {
	if c.Anonymous() && c.Role == "" {
		return "", nil // no access control
	}
	text, err := json.Marshal(c)
	return string(text), err
}

// UnmarshalCaller reads what Marshal wrote.
func UnmarshalCaller(text string) (c Caller, err error) {
	if text != "" {
		err = model.DecodeExactly([]byte(text), &c)
	}
	return c, err
}
