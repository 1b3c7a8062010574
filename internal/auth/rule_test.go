package auth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestMistakesInRules: a mistake is reported at its place in the schema file, once, in the words of cel-go with a hint.
func TestMistakesInRules(t *testing.T) {
	const (
		syntax = " (rules are written in CEL, with ==, !=, <, in, &&, || and !)"
		names  = " (a rule can use resource.ATTRIBUTE, resource.RELATION.ATTRIBUTE, auth.sub, auth.role and auth.claims, and must compare values of the same type, and times as in timestamp('2026-12-01T00:00:00Z'))"
	)
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{
		{Name: "text", Type: model.String}, {Name: "whole", Type: model.Integer}, {Name: "flag", Type: model.Boolean}, {Name: "at", Type: model.String, Format: model.DateTime},
	}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := newCompiler(s.Collection("things"))
	if err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]string{
		"":                                   "3:5 the rule is empty: write true if everything is allowed",
		"resource.text = 'a'":                "3:19 Syntax error: token recognition error at: '= '" + syntax,
		"resource.flag and resource.flag":    "3:19 Syntax error: mismatched input 'and' expecting <EOF>" + syntax,
		"resource.flag && (true":             "3:27 Syntax error: missing ')' at '<EOF>'" + syntax,
		"resource.flag ||\n\n resource.at =": "5:1 Syntax error: token recognition error at: '='" + syntax,
		"rsource.text == 'a'":                "3:5 undeclared reference to 'rsource' (in container '')" + names,
		"text == 'a'":                        "3:5 undeclared reference to 'text' (in container '')" + names,
		"now() > resource.at":                "3:8 undeclared reference to 'now' (in container '')" + names,
		"resource.whole == 'a'":              "3:20 found no matching overload for '_==_' applied to '(wrapper(int), string)'" + names,
		"resource.at < '2026-01-01'":         "3:17 found no matching overload for '_<_' applied to '(timestamp, string)'" + names,
		"resource.text && true":              "3:13 expected type 'bool' but found 'wrapper(string)'" + names,
		"resource.whole":                     "3:5 a rule must be true or false, but the type of this one is wrapper(int)",
		"resource.flag &&\n resource.nope":   "4:1 things has no attribute nope",
	} {
		_, problems := k.compile(schema.Rule{Text: rule, Line: 3, Column: 5}, []string{"here"})
		var got []string
		for _, problem := range problems {
			got = append(got, fmt.Sprintf("%d:%d %s", problem.Line, problem.Column, problem.Message))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%q\ngot  %s\nwant %s", rule, strings.Join(got, "\n     "), want)
		}
	}
}
