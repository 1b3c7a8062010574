package auth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestWordingOfRules: mistakes in rules are told in words of the schema, at their place, each
// once. What cel-go itself would say shows if it says it otherwise.
func TestWordingOfRules(t *testing.T) {
	s, err := model.New(model.Collection{Name: "things", Attributes: []model.Attribute{
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
		"":                                   "3:5 the rule is empty: write true if there is none",
		"resource.text = 'a'":                "3:19 there is no = in rules: use ==",
		"resource.text == 'a":                "3:22 this text has no end: a ' is missing",
		"resource.flag and resource.flag":    "3:19 there is no and in rules: use &&",
		"resource.flag & resource.flag":      "3:19 there is no & in rules: use &&",
		"resource.flag && (true":             "3:27 a ) is missing here",
		"resource.flag)":                     "3:18 ) is too much: the rule is complete before it, and what is to be added is joined by && or ||",
		"resource.flag == )":                 "3:22 ) cannot stand here",
		"resource.in":                        "3:14 .in cannot stand here",
		"resource.flag; true":                "3:18 there is no ; in rules",
		"resource['text'] == 'a'":            "3:5 resource cannot be looked at as a whole: its attributes are written as in resource.id",
		"auth == 'a'":                        "3:5 auth cannot be looked at as a whole: there are auth.sub, auth.role and auth.claims",
		"rsource.text == 'a'":                "3:5 there is no rsource: a rule knows resource and auth",
		"text == 'a'":                        "3:5 there is no text by itself: attributes are written as in resource.text",
		"now() > resource.at":                "3:8 there is no function now",
		"resource.text.lower() == 'a'":       "3:24 there is no function lower",
		"auth.sub.x == 'a'":                  "3:13 a string has no members",
		"resource.whole == 'a'":              "3:20 == cannot be used with an integer and a string",
		"resource.whole in ['a']":            "3:20 in cannot be used with an integer and a list of strings",
		"resource.at < '2026-01-01'":         "3:17 < cannot be used with a timestamp and a string: a time is written timestamp('2026-12-01T00:00:00Z')",
		"!resource.text":                     "3:5 ! cannot be used with a string",
		"auth.sub.startsWith(1)":             "3:24 startsWith cannot be used with a string and an integer",
		"resource.text && true":              "3:13 this must be a boolean, but is a string",
		"resource.whole":                     "3:5 a rule must be true or false, but this one is an integer",
		"resource.flag ? {'a': [1]} : {}":    "3:5 a rule must be true or false, but this one is a map",
		"resource.flag &&\n resource.nope":   "4:1 things has no attribute nope",
		"resource.flag ||\n\n resource.at =": "5:1 there is no = in rules: use ==",
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
