package model

import (
	"encoding/json"
	"slices"
)

// Rule is an expression in CEL, as it is declared. Package rules compiles it.
type Rule struct {
	Text         string
	Line, Column int // of its first character, from 1, if it came from a file; column 0: only the line is known
}

// At is the place in the file of a line, from 1, and a column, from 0, of the rule; 0, 0 if it did not come from a file.
func (r Rule) At(line, column int) (int, int) {
	switch {
	case r.Line == 0:
		return 0, 0
	case r.Column == 0:
		return r.Line, 1
	}
	return r.Line + line - 1, r.Column + column
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

// States lists the states of a lifecycle, which are the values of the enum.
func (a *Attribute) States() []string {
	states := make([]string, len(a.compiled.Enum))
	for i, value := range a.compiled.Enum {
		states[i] = value.Text()
	}
	return states
}

// InitialStates lists the states that a new resource may have.
func (a *Attribute) InitialStates() []string {
	switch {
	case a.Initial != nil:
		return a.Initial
	case !a.compiled.Default.IsNull():
		return []string{a.compiled.Default.Text()}
	}
	return a.States()
}

// RuleMember is a rule of the data of an attribute, as GET / and OpenAPI show it.
type RuleMember struct {
	Name  string
	Value any
}

// RuleMembers lists the rules of the data that an attribute declares. An expression that may not be shown is nil.
func (a *Attribute) RuleMembers(shown func(Rule) bool) (members []RuleMember) {
	for _, k := range RuleKeywords {
		value := k.Value(a)
		switch {
		case k.Name == "initial" && a.HasLifecycle():
			value = a.InitialStates() // also if it is not given
		case !k.Given(a):
			continue
		case k.Name == "transitions":
			value = a.describeTransitions()
		case k.Name == "computed" && !shown(a.Computed):
			value = nil
		}
		members = append(members, RuleMember{k.Name, value})
	}
	return members
}

// describeTransitions lists the states that can follow each state, in the order of the enum.
func (a *Attribute) describeTransitions() json.RawMessage {
	d := definition{'{'}
	for _, state := range a.States() {
		d.add(state, append([]string{}, a.Transitions[state]...), true)
	}
	return d.end()
}

// ShownChecks lists the checks that may be shown.
func (c *Collection) ShownChecks(shown func(Rule) bool) []Check {
	return slices.DeleteFunc(slices.Clone(c.Checks), func(check Check) bool { return !shown(check.Rule) })
}
