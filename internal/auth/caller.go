// Package auth knows who is calling, and what a role lets them do: which verbs,
// which attributes, and which resources, as a filter.
package auth

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/google/cel-go/common/types"
)

// Caller is who sent a request.
type Caller struct {
	// ID tells callers apart, in the log and wherever something is kept for one:
	// "key:…" or "token:…". Empty is whoever sent no credentials.
	ID      string         `json:"id,omitempty"`
	Role    string         `json:"role,omitempty"`
	Subject string         `json:"sub,omitempty"`
	Claims  map[string]any `json:"claims,omitempty"` // as encoding/json reads them, with or without UseNumber
}

// Anonymous reports whether there were no credentials.
func (c Caller) Anonymous() bool { return c.ID == "" }

// variables is what rules know of the caller. Whoever is anonymous has no subject, not
// even an empty one, so that a rule that asks for it denies.
func (c Caller) variables() map[string]any {
	variables := map[string]any{"auth.role": c.Role, "auth.claims": plainClaims(c.Claims)}
	if !c.Anonymous() {
		variables["auth.sub"] = c.Subject
	}
	return variables
}

// plainClaims is claims as rules see them. One that CEL cannot hold as it is stays there,
// and is an error in whatever asks for it, which denies: left out or rounded, it would
// widen a rule that says what is not allowed.
func plainClaims(claims map[string]any) map[string]any {
	plain := make(map[string]any, len(claims))
	for name, claim := range claims {
		value, ok := plainClaim(claim)
		if !ok {
			value = types.NewErr("the claim %s has a number that cannot be held exactly", name)
		}
		plain[name] = value
	}
	return plain
}

// plainClaim is a claim as rules see it. False means that something in it cannot be held.
func plainClaim(claim any) (plain any, ok bool) {
	switch claim := claim.(type) {
	case json.Number:
		return plainNumber(claim)
	case float64:
		return plainFloat(claim)
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

func plainNumber(number json.Number) (any, bool) {
	if !strings.ContainsAny(number.String(), ".eE") {
		whole, err := number.Int64()
		return whole, err == nil
	}
	double, err := number.Float64()
	if err != nil {
		return nil, false
	}
	return plainFloat(double)
}

// plainFloat makes integers of whole numbers, as far as a double can tell them apart.
func plainFloat(double float64) (any, bool) {
	if double != math.Trunc(double) { // nor is NaN
		return double, !math.IsNaN(double)
	}
	return int64(double), math.Abs(double) < maxExact
}

// Marshal is the caller as text, to be kept with what is done for them later.
func (c Caller) Marshal() (string, error) {
	if c.Anonymous() && c.Role == "" {
		return "", nil // of an open server
	}
	text, err := json.Marshal(c)
	return string(text), err
}

// UnmarshalCaller reads what Marshal wrote.
func UnmarshalCaller(text string) (c Caller, err error) {
	if text != "" {
		err = decodeExactly([]byte(text), &c)
	}
	return c, err
}

// decodeExactly reads JSON without rounding its numbers.
func decodeExactly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}
