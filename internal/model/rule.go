package model

import "encoding/json"

// Rule is an expression in CEL, as it is declared. Package rules compiles it.
type Rule struct {
	Text         string
	Line, Column int // of its first character, from 1, if it came from a file
}

// IsZero reports whether there is no rule.
func (r Rule) IsZero() bool { return r.Text == "" }

// MarshalJSON writes the text: a stored schema does not know the file.
func (r Rule) MarshalJSON() ([]byte, error) { return Marshal(r.Text) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Rule) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &r.Text) }

// Check is a rule that every state of a resource must meet.
type Check struct {
	Rule      Rule   `json:"rule"`
	Message   string `json:"message"`
	Attribute string `json:"attribute,omitempty"` // that the error points at; empty: none
}

// WhenCreate is the value of Attribute.When for an attribute that is computed by the create only.
const WhenCreate = "create"

// IsComputed reports whether the server computes the value.
func (a *Attribute) IsComputed() bool { return !a.Computed.IsZero() }

// HasLifecycle reports whether the attribute declares transitions.
func (a *Attribute) HasLifecycle() bool { return a.Transitions != nil }
