package auth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestMistakesInRules: a mistake is reported at its place in the schema file, once.
func TestMistakesInRules(t *testing.T) {
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{
		{Name: "text", Type: model.String}, {Name: "whole", Type: model.Integer}, {Name: "flag", Type: model.Boolean}, {Name: "at", Type: model.String, Format: model.DateTime},
	}})
	if err != nil {
		t.Fatal(err)
	}
	things := s.Collection("things")
	for rule, want := range map[string]string{
		"":                                 "3:5 the expression is empty: write true for a rule that always holds",
		"resource.flag and":                "3:19 write && instead of and (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.whole":                   "3:5 a rule must be true or false, but the type of this one is integer",
		"resource.flag &&\n resource.nope": "4:14 things has no attribute nope",
		"resource.text + 'a' == 'b'":       "3:25 one side of a comparison must be an attribute alone, and the other side a value without attributes",
	} {
		_, problems := compileRule(things, schema.Rule{Text: rule, Line: 3, Column: 5}, []string{"here"})
		var got []string
		for _, problem := range problems {
			got = append(got, fmt.Sprintf("%d:%d %s", problem.Line, problem.Column, problem.Message))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%q\ngot  %s\nwant %s", rule, strings.Join(got, "\n     "), want)
		}
	}
}
