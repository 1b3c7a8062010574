package suite

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDuplicateMember(t *testing.T) {
	for document, want := range map[string]string{
		`{"a":1,"b":{"a":1}}`:              "",
		`[{"a":1},{"a":1}]`:                "",
		`{"a":"a","b":["a","a","b"]}`:      "",
		`{"a":1,"a":1}`:                    "a",
		`{"a":{},"b":[],"a":null}`:         "a",
		`{"x":[{"b":[{}]},{"c":1,"c":2}]}`: "c",
		`"a"`:                              "",
		`{"a":1,`:                          "",
	} {
		if got := DuplicateMember([]byte(document)); got != want {
			t.Errorf("%s: got %q, want %q", document, got, want)
		}
	}
}

func TestEqualJSON(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true}, {`1e2`, `100`, true}, {`1`, `"1"`, false}, {`9007199254740993`, `9007199254740992`, false},
		{`null`, `null`, true}, {`null`, `false`, false}, {`"a"`, `"a"`, true}, {`true`, `[]`, false}, {`"a"`, `{}`, false},
		{`{"a":1,"b":[1,2]}`, `{"b":[1,2.0],"a":1}`, true}, {`{"a":null}`, `{}`, false}, {`{"a":null}`, `{"b":null}`, false},
		{`[1,2]`, `[2,1]`, false}, {`[1]`, `[1,1]`, false}, {`{}`, `[]`, false},
	} {
		if got := EqualJSON(DecodeJSON([]byte(c.a)), DecodeJSON([]byte(c.b))); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
		if got := EqualJSON(DecodeJSON([]byte(c.b)), DecodeJSON([]byte(c.a))); got != c.want {
			t.Errorf("%s and %s: %v", c.b, c.a, got)
		}
	}
}

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		positions []int
		want      string
	}{
		{nil, "no resources"},
		{[]int{7}, "1 resource, positions 7"},
		{[]int{0, 1, 2, 5, 9, 8, 7}, "7 resources, positions 0…2 5 9…7"},
		{[]int{-1, 0, -1, -1}, "4 resources, positions none 0 none none"},
	} {
		if got := Describe(c.positions); got != c.want {
			t.Errorf("%v: got %q, want %q", c.positions, got, c.want)
		}
	}
}

func TestLinks(t *testing.T) {
	r := &Reply{Header: http.Header{"Link": {`</a?x=1,2;3>; rel="first", <b>;title="x"; rel=next`, `</c>; rel="prev last"`}}}
	want := map[string]string{"first": "/a?x=1,2;3", "next": "b", "prev": "/c", "last": "/c"}
	if got := Links(r); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, header := range []string{"", "<", "<x", "x; rel=next", "<x>"} {
		if got := Links(&Reply{Header: http.Header{"Link": {header}}}); len(got) > 0 {
			t.Errorf("%q: %v", header, got)
		}
	}
}

// Whatever a definition asks for, the values are within it, and most differ.
func TestValuesFitTheirDefinitions(t *testing.T) {
	g := generator{"a1b2c3"}
	for _, c := range []struct {
		d         definition
		different int // of 45
		fits      func(text string) bool
	}{
		{definition{Type: "string"}, 45, func(s string) bool { return s != "" }},
		{definition{Type: "string", MinLength: 2, MaxLength: 4}, 45, func(s string) bool { return len(s) >= 2 && len(s) <= 4 }},
		{definition{Type: "string", MinLength: 60}, 45, func(s string) bool { return utf8.RuneCountInString(s) >= 60 }},
		{definition{Type: "string", Pattern: "^[A-Z]+[0-9]*$"}, 45, regexp.MustCompile("^[A-Z]+[0-9]*$").MatchString},
		{definition{Type: "string", Format: "email", MaxLength: 20}, 45, func(s string) bool { return strings.Count(s, "@") == 1 && len(s) <= 20 }},
		{definition{Type: "string", Format: "uuid"}, 45, UUIDForm.MatchString},
		{definition{Type: "string", Format: "date-time"}, 45, TimestampForm.MatchString},
		{definition{Type: "string", Enum: []any{"x", "y"}}, 2, func(s string) bool { return s == "x" || s == "y" }},
		{definition{Type: "integer"}, 45, between("0", "1e18", "1")},
		{definition{Type: "integer", Minimum: "-12", ExclusiveMaximum: "12", MultipleOf: "3"}, 8, between("-12", "9", "3")},
		{definition{Type: "integer", Maximum: "-5"}, 45, between("-1005", "-5", "1")},
		{definition{Type: "number", ExclusiveMinimum: "0", Maximum: "1", MultipleOf: "0.1"}, 10, between("0.1", "1", "0.1")},
		{definition{Type: "integer", rank: 1}, 45, between("1", "50", "1")},
		{definition{Type: "integer", Unique: true, rank: 1}, 45, between("60", "1e18", "1")},
		{definition{Type: "integer", Minimum: "-1", ExclusiveMaximum: "3", rank: 1}, 2, between("1", "2", "1")},
		{definition{Type: "integer", Maximum: "-5", rank: 1}, 45, between("-1005", "-5", "1")},
		{definition{Type: "string", Format: "decimal", Scale: 2, Minimum: "0", rank: 1}, 45, between("0.01", "0.50", "0.01")},
		{definition{Type: "boolean"}, 2, func(s string) bool { return s == "true" || s == "false" }},
	} {
		seen := map[string]bool{}
		for n := range 45 {
			value, ok := g.value("name", c.d, n)
			text := fmt.Sprint(value)
			if !ok || !c.fits(text) {
				t.Errorf("%+v: %v", c.d, value)
			}
			seen[text] = true
		}
		if len(seen) != c.different {
			t.Errorf("%+v: %d different values, want %d", c.d, len(seen), c.different)
		}
	}
	if value, ok := g.value("name", definition{Type: "string", Pattern: "^ä{7}$"}, 1); ok {
		t.Errorf("made up %q", value)
	}
}

func between(low, high, step json.Number) func(string) bool {
	return func(text string) bool {
		value, ok := new(big.Rat).SetString(text)
		from, _ := rational(low)
		to, _ := rational(high)
		by, _ := rational(step)
		return ok && value.Cmp(from) >= 0 && value.Cmp(to) <= 0 && new(big.Rat).Quo(value, by).IsInt()
	}
}

// The values of a sample are varied within what they seem to be.
func TestSampleIsVaried(t *testing.T) {
	g := generator{"a1b2c3"}
	for sample, want := range map[string]string{
		`"Ada"`:                  `"Ada 07919a1b2c3"`,
		`"ada@example.com"`:      `"ada-07919a1b2c3@example.com"`,
		`"https://example.com/"`: `"https://example.com/07919a1b2c3"`,
		`"1815-12-10"`:           `"2041-09-06"`,
		`"2020-01-01T00:00:00Z"`: `"2020-01-06T11:59:00.000Z"`,
		`36`:                     `106044777332`,
		`true`:                   `false`,
		`["x"]`:                  `["x"]`,
		`{"x":1}`:                `{"x":1}`,
		`null`:                   `null`,
	} {
		value := DecodeJSON([]byte(sample))
		if got := EncodeJSON(g.varied(inferred("x", value), value, 1)); got != want {
			t.Errorf("%s: got %s, want %s", sample, got, want)
		}
	}
}

// Why there is no sub-collection is said as it is.
func TestReasonsForSkippedSubCollectionChecks(t *testing.T) {
	for want, c := range map[string]Collection{
		"things refers to no other collection, and none refers to it":                   {Name: "things", Described: true},
		"the server does not say at GET / what things refers to, and what refers to it": {Name: "things"},
	} {
		s := &Suite{Collection: c, Catalog: []Collection{c}}
		if err := s.relate(); err != nil || s.noChild != want || s.children != nil {
			t.Errorf("got %q, %v, want %q", s.noChild, err, want)
		}
	}
}
