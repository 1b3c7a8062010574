package auth

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestClaimsThatAreLong: a token has room for thousands of values. What rules make of them is
// bounded, and what is beyond the bounds denies, also where a rule says what is not allowed.
func TestClaimsThatAreLong(t *testing.T) {
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{{Name: "whole", Type: model.Integer}}})
	if err != nil {
		t.Fatal(err)
	}
	things := s.Collection("things")
	numbers := func(count, different int) (list []any) {
		for i := range count {
			list = append(list, json.Number(strconv.Itoa(i%different)))
		}
		return list
	}
	caller := Caller{ID: "x", Claims: map[string]any{"same": numbers(5500, 10), "most": numbers(1000, 1000), "more": numbers(1001, 1001)}}
	record := make(model.Record, len(s.Collection("things").Columns()))
	column, _ := s.Collection("things").AttributeColumns()
	record[column] = model.IntValue(7)
	for rule, want := range map[string]bool{
		"resource.whole in auth.claims.same": true, "resource.whole in auth.claims.most": true, "resource.whole in auth.claims.more": false,
		"!(resource.whole in auth.claims.same)": false, "!(resource.whole in auth.claims.more)": false,
		"!auth.claims.same.exists(x, x == 11)": true, "auth.claims.same.all(x, x < 11)": true,
		// A million steps, which is too many. Without the bound, both would be true.
		"!auth.claims.most.exists(x, auth.claims.most.exists(y, y == x + 1000))": false,
		"auth.claims.most.all(x, auth.claims.most.all(y, y < 1000))":             false,
	} {
		compiled, problems := compileRule(things, schema.Rule{Text: rule}, nil)
		if problems != nil {
			t.Fatal(problems)
		}
		filter := compiled.bind(caller)
		if got := filter == nil || filter.Match(record); got != want {
			t.Errorf("%s is %t, want %t", rule, got, want)
		}
	}
}

// TestTextsThatAreLong: a rule looks for short texts only, as it takes the database too long
// to look for others.
func TestTextsThatAreLong(t *testing.T) {
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{{Name: "text", Type: model.String}}})
	if err != nil {
		t.Fatal(err)
	}
	things := s.Collection("things")
	caller := Caller{ID: "x", Claims: map[string]any{"most": strings.Repeat("ü", 256), "more": strings.Repeat("ü", 257)}}
	record := make(model.Record, len(s.Collection("things").Columns()))
	column, _ := s.Collection("things").AttributeColumns()
	record[column] = model.TextValue(strings.Repeat("ü", 1000))
	for rule, want := range map[string]bool{
		"resource.text.contains(auth.claims.most)": true, "resource.text.startsWith(auth.claims.most)": true,
		"resource.text.contains(auth.claims.more)": false, "resource.text.startsWith(auth.claims.more)": false,
		"!resource.text.contains(auth.claims.more)": false, "!resource.text.startsWith(auth.claims.more)": false,
	} {
		compiled, problems := compileRule(things, schema.Rule{Text: rule}, nil)
		if problems != nil {
			t.Fatal(problems)
		}
		filter := compiled.bind(caller)
		if got := filter == nil || filter.Match(record); got != want {
			t.Errorf("%s is %t, want %t", rule, got, want)
		}
	}
	if _, problems := compileRule(things, schema.Rule{Text: "resource.text.contains('" + strings.Repeat("a", 257) + "')"}, nil); problems == nil {
		t.Error("a rule with a long text is accepted")
	}
}
