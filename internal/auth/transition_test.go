package auth

import (
	"fmt"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// ordersWith compiles a role with rules of the transitions of orders.
func ordersWith(t *testing.T, states map[string]schema.Rule) (*model.Collection, *Policy, error) {
	t.Helper()
	s, err := compile.Schema(model.Collection{Name: "orders", Attributes: []model.Attribute{
		{Name: "state", Type: model.String, Enum: []any{"draft", "sent", "paid"}, Default: "draft", Transitions: map[string][]string{"draft": {"sent"}, "sent": {"paid"}}},
		{Name: "owner", Type: model.String},
	}})
	if err != nil {
		t.Fatal(err)
	}
	grant := schema.Grant{Collection: "orders", Verbs: []schema.AccessVerb{schema.MayRead, schema.MayCreate, schema.MayUpdate}, Transitions: map[string]map[string]schema.Rule{"state": states}}
	policy, err := Compile(s, &schema.Access{Roles: []schema.Role{{Name: "clerk", Grants: []schema.Grant{grant}}}})
	return s.Collection("orders"), policy, err
}

// TestExtentsOfTransitions: of which resources a caller may make a transition, by its rule.
func TestExtentsOfTransitions(t *testing.T) {
	orders, policy, err := ordersWith(t, map[string]schema.Rule{"draft": {Text: "auth.sub == 'ada'"}, "sent": {Text: "resource.owner == auth.sub"}})
	if err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[string][]Extent{"ada": {AllowsAll, AllowsSome, AllowsAll}, "bo": {AllowsNone, AllowsSome, AllowsAll}} {
		by := policy.Permit(Caller{ID: subject, Subject: subject, Role: "clerk"})
		var got []Extent
		for _, state := range []string{"draft", "sent", "paid"} {
			got = append(got, by.Transition(orders, "state", state))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", subject, got, want)
		}
	}
	if got := (*Permit)(nil).Transition(orders, "state", "sent"); got != AllowsAll {
		t.Errorf("without access control: %v", got)
	}
}

// TestMistakesInRulesOfTransitions are reported with their path and place.
func TestMistakesInRulesOfTransitions(t *testing.T) {
	_, _, err := ordersWith(t, map[string]schema.Rule{"sent": {Text: "resource.nope", Line: 7, Column: 9}, "paid": {Text: "", Line: 8, Column: 3}})
	problems, _ := err.(schema.Problems)
	var got []string
	for _, problem := range problems {
		got = append(got, fmt.Sprintf("%v %d:%d %s", problem.Path, problem.Line, problem.Column, problem.Message))
	}
	want := []string{
		"[access roles clerk orders transitions state paid] 8:3 the expression is empty: write true for a rule that always holds",
		"[access roles clerk orders transitions state sent] 7:17 orders has no attribute nope",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
