// Package auth knows who is calling, and what a role lets them do: which verbs,
// which attributes, and which resources, as a filter.
package auth

import (
	"encoding/json"
	"math"
)

// Caller is who sent a request.
type Caller struct {
	// ID tells callers apart, in the log and wherever something is kept for one:
	// "key:…" or "token:…". Empty is whoever sent no credentials.
	ID      string         `json:"id,omitempty"`
	Role    string         `json:"role,omitempty"`
	Subject string         `json:"sub,omitempty"`
	Claims  map[string]any `json:"claims,omitempty"` // as encoding/json reads them
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

// plainClaims leaves out numbers that are no integers which a double holds exactly,
// and makes integers of the others: a claim must not be rounded on its way.
func plainClaims(claims map[string]any) map[string]any {
	plain := make(map[string]any, len(claims))
	for name, claim := range claims {
		if value, ok := plainClaim(claim); ok {
			plain[name] = value
		}
	}
	return plain
}

func plainClaim(claim any) (any, bool) {
	switch claim := claim.(type) {
	case float64:
		return int64(claim), claim == math.Trunc(claim) && math.Abs(claim) <= maxExact
	case map[string]any:
		return plainClaims(claim), true
	case []any:
		items := make([]any, 0, len(claim))
		for _, item := range claim {
			if value, ok := plainClaim(item); ok {
				items = append(items, value)
			}
		}
		return items, true
	}
	return claim, true
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
		err = json.Unmarshal([]byte(text), &c)
	}
	return c, err
}
