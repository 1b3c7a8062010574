package expression_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
)

// boxes is a collection with objects and arrays.
func boxes(t testing.TB) *model.Collection {
	t.Helper()
	text := model.Attribute{Type: model.String}
	property := func(name string, a model.Attribute) model.Attribute { a.Name = name; return a }
	place := model.Attribute{Name: "place", Type: model.Object, Properties: []model.Attribute{property("city", text), {Name: "floor", Type: model.Integer}}}
	s, err := compile.Schema(model.Collection{Name: "boxes", Attributes: []model.Attribute{
		{Name: "size", Type: model.Object, Closed: true, Properties: []model.Attribute{
			{Name: "width", Type: model.Integer}, {Name: "weight", Type: model.Number}, {Name: "price", Type: model.String, Format: model.Decimal, Scale: 2},
			{Name: "at", Type: model.String, Format: model.DateTime}, {Name: "sides", Type: model.Array, Items: &text}, place,
		}},
		{Name: "tags", Type: model.Array, Items: &text}, {Name: "meta", Type: model.Object}, {Name: "needed", Type: model.Array, Required: true},
		{Name: "endless", Type: model.Array}, {Name: "cost", Type: model.String, Format: model.Decimal, Scale: 2}, {Name: "title", Type: model.String},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s.Collection("boxes")
}

// TestInsideObjectsAndArrays: nulls and missing members are null, and numbers are exact.
func TestInsideObjectsAndArrays(t *testing.T) {
	c := boxes(t)
	const full = `{"size": {"width": 3, "weight": 2, "price": "1.50", "at": "2026-11-19T10:00:00.000Z", "sides": ["a", "b"], "place": {"city": "Ulm"}}, "tags": ["x", "y"], "needed": [1, 2.5, null],
		"meta": {"a-b": 1, "none": null, "list": [{"n": 1}, {}], "big": 9223372036854775807, "bigger": 9223372036854775808, "long": 0.12345678901234567890, "huge": 1e20, "deep": {"ok": true}}, "endless": [1e999]}`
	const empty = `{"needed": []}`
	for _, each := range []struct{ rule, full, empty string }{
		{"resource.size != null", "true", "false"}, {"resource.size.place.city != null", "true", "false"}, {"resource.size.place.floor == null", "true", "true"},
		{"size(resource.tags) <= 2", "true", "undecided"}, {"resource.tags.all(t, t != '')", "true", "undecided"}, {"'x' in resource.tags", "true", "undecided"}, {"resource.title in resource.tags", "false", "undecided"},
		{"has(resource.size.width)", "true", "false"}, {"has(resource.size.price) == (resource.size.price > 1)", "true", "undecided"}, {"has(resource.size.place.floor)", "false", "false"}, {"has(resource.meta.none)", "true", "false"}, {"has(resource.meta.nothing)", "false", "false"},
		{"resource.size.width > 2 && resource.size.width * 2 == 6", "true", "undecided"}, {"resource.size.weight > 1.5", "true", "undecided"},
		{"resource.size.price * 2 == 3 && resource.size.price + resource.meta.huge > 1e20", "true", "undecided"}, {"resource.size.at < now", "true", "undecided"}, {"resource.size.sides[1] == 'b'", "true", "false"},
		{"resource.meta['a-b'] == 1 && resource.meta['no-no'] == null", "true", "false"}, {"resource.meta.none == null && resource.meta.none.more == null", "true", "true"}, {"resource.meta.deep.ok", "true", "undecided"}, {"resource.meta.deep", "failed", "undecided"},
		{"resource.meta.list.exists(l, l.n == null)", "true", "undecided"}, {"resource.meta.list == [{'n': 1}, {}]", "true", "false"}, {"[{'n': 1}, {'m': null}] == resource.meta.list", "false", "false"}, {"resource.meta.deep == {'ok': true} && {'ok': true} == resource.meta.deep", "true", "false"},
		{"resource.meta.big == 9223372036854775807", "true", "false"}, {"resource.meta.bigger == 9223372036854775807", "false", "false"}, {"resource.meta.bigger > 1", "failed", "undecided"}, {"resource.meta.long > 0.1", "failed", "undecided"}, {"resource.meta.huge == 1e20", "false", "false"},
		{"resource.needed.size() == 3 && resource.needed.exists(n, n == 2.5)", "true", "false"}, {"resource.needed[0] == 1", "true", "failed"}, {"resource.needed.all(n, n > 0)", "undecided", "true"}, {"resource.tags.contains('x')", "failed", "undecided"},
		{"resource.meta == previous.meta", "true", "undecided"}, {"previous.size.width == resource.size.width", "true", "undecided"}, {"previous == null || previous.size.place.city == null", "false", "true"},
		{"resource.cost in resource.needed", "true", "false"}, {"1.00 in resource.needed && resource.cost != 1", "true", "false"}, {"resource.endless != null", "failed", "false"}, {"resource.cost < resource.meta.bigger", "undecided", "undecided"}, {"resource.needed.map(n, n == null ? 0 : 1) == [1, 1, 0]", "true", "false"},
		{"auth.claims.team.lead == 'ann' && auth.claims.team.none == null", "true", "true"}, {"auth.claims.team.none.more == null", "true", "true"}, {"auth.claims.team.missing == null", "failed", "failed"}, {"has(auth.claims.team.missing)", "false", "false"},
	} {
		checked, problems := expression.Compile(model.Rule{Text: each.rule}, expression.Scope{Collection: c, Data: true}, model.KindBoolean)
		var program *expression.Program
		if problems == nil {
			program, problems = checked.Program()
		}
		if problems != nil {
			t.Errorf("%s: %v", each.rule, problems)
			continue
		}
		caller := func() map[string]any {
			return map[string]any{"auth.claims": map[string]any{"team": map[string]any{"lead": "ann", "none": nil}}}
		}
		for text, want := range map[string]string{full: each.full, empty: each.empty} {
			state := &expression.State{After: boxOf(t, c, text), Auth: caller, Now: model.TimeValue("2026-11-19T11:00:00.000Z")}
			if text == full {
				state.Before = boxOf(t, c, text)
			}
			holds, err := program.Holds(state)
			got := fmt.Sprint(holds)
			switch {
			case errors.Is(err, expression.ErrUndecided):
				got = "undecided"
			case err != nil:
				got = "failed"
			}
			if got != want {
				t.Errorf("%s is %s (%v), and must be %s, for %s", each.rule, got, err, want, text)
			}
		}
	}
}

// TestMistakesInside: names and types inside an object are checked as far as they are declared.
func TestMistakesInside(t *testing.T) {
	for text, want := range map[string]string{
		"resource.size.widht > 1":                          "1:14 size has no member widht (did you mean width?)",
		"previous.size.place.citty == null":                "",
		"resource.size.width == 'a'":                       "1:21 == does not take an integer and a string: write a number without quotes, or convert with string()",
		"resource.size.place.floor.x == 1":                 "1:26 this is an integer, which has no members",
		"resource.size.price > 1.5 * resource.size.weight": "1:42 a decimal cannot be mixed with a number, which is not exact: declare this attribute as a decimal too (type: string, format: decimal), or write a number such as 0.19",
		"has(resource.size.hight)":                         "1:4 size has no member hight (did you mean weight?)",
		"has(resource.size)":                               "1:4 every resource has every attribute: compare with null instead of using has()",
		"resource.size.sides.first == 'a'":                 "1:20 sides is an array, which has no members: use size(), in, all(), exists() or [0]",
		"resource.taggs == null":                           "1:9 boxes has no attribute taggs (did you mean tags?)",
		"resource.cost in resource.tags":                   "1:26 a decimal cannot be compared with a string: convert it with string()",
	} {
		_, problems := expression.Compile(model.Rule{Text: text, Line: 1, Column: 1}, expression.Scope{Collection: boxes(t), Data: true}, model.KindBoolean)
		if got := problemsOf(problems); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
	_, problems := expression.Compile(model.Rule{Text: "resource.tags == null", Line: 1, Column: 1}, expression.Scope{Collection: boxes(t)}, model.KindBoolean)
	if got, want := problemsOf(problems), "1:9 tags is an object or array, which a rule cannot use"; got != want {
		t.Errorf("a rule of access: got %s, want %s", got, want)
	}
}

// boxOf is a resource with attributes as JSON.
func boxOf(t *testing.T, c *model.Collection, text string) model.Record {
	t.Helper()
	record := make(model.Record, len(c.Columns()))
	var members map[string]any
	if err := model.DecodeExactly([]byte(text), &members); err != nil {
		t.Fatal(err)
	}
	for name, value := range members {
		record[c.Field(name).Column] = model.TextValue(string(model.MustMarshal(value)))
	}
	return record
}
