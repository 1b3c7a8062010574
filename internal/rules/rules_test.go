package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
)

// computed is an attribute with an expression.
func computed(a model.Attribute, text string) model.Attribute {
	a.Computed = model.Rule{Text: text}
	return a
}

// orders is a collection with rules of every sort.
func orders(t testing.TB) (*model.Collection, *rules.Set) {
	t.Helper()
	decimal := func(name string, scale int) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, Format: model.Decimal, Scale: scale}
	}
	s, err := compile.Schema(model.Collection{
		Name: "orders",
		Attributes: []model.Attribute{
			computed(decimal("gross", 4), "resource.net * 1.19"),
			decimal("price", 2), {Name: "quantity", Type: model.Integer},
			computed(decimal("net", 2), "resource.price * resource.quantity"),
			{Name: "starts_on", Type: model.String, Format: model.Date}, {Name: "ends_on", Type: model.String, Format: model.Date},
			computed(model.Attribute{Name: "by", Type: model.String, When: model.WhenCreate}, "auth.sub"),
			computed(model.Attribute{Name: "changed", Type: model.Integer, Maximum: "2"}, "previous == null ? 0 : previous.changed + 1"),
			computed(model.Attribute{Name: "at", Type: model.String, Format: model.DateTime}, "now + duration('1h')"),
			computed(model.Attribute{Name: "later", Type: model.Boolean}, "resource.at > timestamp('2026-01-01T00:00:00Z')"),
			{Name: "name", Type: model.String, Required: true},
			computed(model.Attribute{Name: "slug", Type: model.String, MaxLength: 5, Required: true}, "'x' + resource.name"),
		},
		Checks: []model.Check{
			{Rule: model.Rule{Text: "resource.ends_on >= resource.starts_on"}, Message: "It ends before it starts.", Attribute: "ends_on"},
			{Rule: model.Rule{Text: "previous == null || previous.name != 'fixed' || resource.name == 'fixed'"}, Message: "It is fixed."},
			{Rule: model.Rule{Text: "10 / resource.quantity > 0"}, Message: "Too many."},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Collection("orders")
	return c, rules.Of(c)
}

func record(c *model.Collection, values map[string]model.Value) model.Record {
	r := make(model.Record, len(c.Columns()))
	for name, value := range values {
		r[c.Field(name).Column] = value
	}
	return r
}

// shown is the values that are not null, in the order of the columns.
func shown(c *model.Collection, r model.Record) string {
	var parts []string
	for i, column := range c.Columns() {
		if !r[i].IsNull() {
			parts = append(parts, column.Name+"="+string(column.Kind.AppendValue(nil, r, i)))
		}
	}
	return strings.Join(parts, " ")
}

func TestComputedAttributes(t *testing.T) {
	c, set := orders(t)
	now := model.TimeValue("2026-11-19T10:00:00.000Z")
	caller := func() map[string]any { return map[string]any{"auth.sub": "ann", "auth.role": "a"} }
	created := record(c, map[string]model.Value{"price": model.IntValue(250), "quantity": model.IntValue(3), "name": model.TextValue("abc")})
	for _, faults := range [][]error{{set.Derive(nil, created).Err()}, {set.Compute(rules.Change{After: created, Auth: caller, Now: now}).Err()}, {set.Check(rules.Change{After: created, Auth: caller, Now: now}).Err()}} {
		if faults[0] != nil {
			t.Fatal(faults[0])
		}
	}
	want := `gross="8.9250" price="2.50" quantity=3 net="7.50" by="ann" changed=0 at="2026-11-19T11:00:00.000Z" later=true name="abc" slug="xabc"`
	if got := shown(c, created); got != want {
		t.Errorf("created\ngot  %s\nwant %s", got, want)
	}
	updated := append(model.Record{}, created...)
	updated[c.Field("price").Column] = model.Null
	updated[c.Field("by").Column] = model.TextValue("bob")
	if err := set.Derive(created, updated).Err(); err != nil {
		t.Fatal(err)
	}
	if err := set.Compute(rules.Change{Before: created, After: updated, Now: now}).Err(); err != nil {
		t.Fatal(err)
	}
	want = `quantity=3 by="ann" changed=1 at="2026-11-19T11:00:00.000Z" later=true name="abc" slug="xabc"`
	if got := shown(c, updated); got != want {
		t.Errorf("updated\ngot  %s\nwant %s", got, want)
	}
}

func TestFaults(t *testing.T) {
	c, set := orders(t)
	before := record(c, map[string]model.Value{"changed": model.IntValue(2), "name": model.TextValue("fixed")})
	after := record(c, map[string]model.Value{
		"price": model.IntValue(model.MaxDecimalUnits), "quantity": model.IntValue(0), "name": model.TextValue("longer"),
		"starts_on": model.TextValue("2026-11-19"), "ends_on": model.TextValue("2026-11-18"),
	})
	change := rules.Change{Before: before, After: after, Now: model.TimeValue("2026-11-19T10:00:00.000Z")}
	var got []string
	add := func(what string, err error) { got = append(got, fmt.Sprintf("%s: %v", what, err)) }
	add("derive", set.Derive(before, after).Err())
	after[c.Field("quantity").Column] = model.IntValue(1 << 40)
	add("derive", set.Derive(before, after).Err())
	add("compute", set.Compute(change).Err())
	add("check", set.Check(change).Err())
	after[c.Field("quantity").Column] = model.IntValue(0)
	add("check", set.Check(change).Err())
	want := []string{
		"derive: max_length at /slug: Must be at most 5 characters long, but has 7.",
		"derive: out_of_range at /net: Must be between -9999999999999999.99 and 9999999999999999.99.; max_length at /slug: Must be at most 5 characters long, but has 7.",
		"compute: maximum at /changed: Must be at most 2.",
		"check: check at /ends_on: It ends before it starts.; check: It is fixed.; check: Too many.",
		"check: check at /ends_on: It ends before it starts.; check: It is fixed.; check: Too many. (division by zero)",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestValuesThatDoNotFit: what an expression evaluates to must be a value of the attribute.
func TestValuesThatDoNotFit(t *testing.T) {
	claims := map[string]any{"text": "abc", "nothing": nil, "whole": int64(7), "number": 0.25, "long": 0.12345, "list": many(2000), "nul": "a\x00b", "id": "01936F2E-7D3C-7A4B-9C5D-0123456789AB", "huge": 1e300}
	caller := func() map[string]any { return map[string]any{"auth.role": "a", "auth.claims": claims} }
	text, number := model.Attribute{Type: model.String}, model.Attribute{Type: model.Number}
	format := func(f model.Format) model.Attribute { return model.Attribute{Type: model.String, Format: f} }
	exact := model.Attribute{Type: model.String, Format: model.Decimal, Scale: 3}
	required := text
	required.Required = true
	for _, each := range []struct {
		attribute model.Attribute
		text      string
		want      string
	}{
		{text, "auth.claims.text", `"abc"`}, {text, "auth.claims.nothing", "null"}, {text, "auth.sub", "null"}, {text, "auth.claims.nothing + 'a'", "null"},
		{text, "auth.claims.whole", "out_of_range"}, {text, "auth.claims.missing", "out_of_range"}, {text, "auth.claims.nul", "null_character"}, {text, "'a' + string(1.50)", `"a1.5"`},
		{required, "auth.sub", "required"}, {format(model.UUID), "auth.claims.id", `"01936f2e-7d3c-7a4b-9c5d-0123456789ab"`}, {format(model.UUID), "'abc'", "format"},
		{format(model.Date), "'2026-02-29'", "format"}, {format(model.Date), "'2024-02-29'", `"2024-02-29"`}, {format(model.Date), "timestamp('2024-02-28') + duration('24h')", `"2024-02-29"`}, {format(model.Date), "now", `"2026-11-19"`}, {format(model.DateTime), "timestamp('2024-02-29')", `"2024-02-29T00:00:00.000Z"`},
		{format(model.Date), "timestamp('2024-02-29T23:30:00-01:00')", `"2024-03-01"`}, {format(model.Date), "timestamp('2024-02-' + auth.role)", "out_of_range"}, {format(model.Email), "auth.claims.text", "format"},
		{format(model.DateTime), "timestamp('2026-11-19T10:00:00.1239+01:00')", `"2026-11-19T09:00:00.123Z"`}, {format(model.DateTime), "timestamp('9999-12-31T00:00:00Z') + duration('48h')", "out_of_range"}, {format(model.DateTime), "auth.claims.text", "out_of_range"},
		{number, "1.0 / 0.0", "out_of_range"}, {number, "0.0 / 0.0", "out_of_range"}, {number, "auth.claims.whole", "7"}, {number, "auth.claims.huge * auth.claims.huge", "out_of_range"}, {number, "-0.0", "0"}, {number, "double(9007199254740993)", "9007199254740992"},
		{model.Attribute{Type: model.Integer}, "9223372036854775807 + size(auth.role)", "out_of_range"}, {model.Attribute{Type: model.Integer}, "auth.claims.number", "out_of_range"}, {model.Attribute{Type: model.Integer, Enum: []any{1, 2}}, "3", "enum"},
		{model.Attribute{Type: model.Boolean}, "auth.role == 'a'", "true"}, {model.Attribute{Type: model.Boolean}, "auth.claims.list.all(x, auth.claims.list.all(y, y < 3000))", "out_of_range"},
		{text, "auth.role == 'a' ? 'x' : null", `"x"`}, {text, "auth.role == 'b' ? 'x' : null", "null"}, {text, "auth.role == 'b' ? null : auth.role == 'a' ? 'x' + auth.role : null", `"xa"`}, {text, "auth.role == 'b' ? 'y' : (auth.role == 'a' ? 'x' : null)", `"x"`}, {text, "auth.role == 'a' ? auth.claims.text : null", `"abc"`},
		{model.Attribute{Type: model.Integer}, "auth.role == 'a' ? 1 : null", "1"}, {model.Attribute{Type: model.Integer}, "(auth.role == 'b' ? 1 : null) + 1", "null"}, {number, "auth.role == 'a' ? 2.5 : null", "2.5"}, {exact, "auth.role == 'a' ? 1 : null", `"1.000"`}, {format(model.DateTime), "auth.role == 'a' ? now : null", `"2026-11-19T10:00:00.000Z"`},
		{model.Attribute{Type: model.Boolean}, "auth.role == 'a' ? true : null", "true"}, {model.Attribute{Type: model.Boolean}, "(auth.role == 'a' ? auth.sub : null) == null", "true"}, {model.Attribute{Type: model.Boolean}, "[1, 2].exists(x, (x > 1 ? x : null) == null)", "true"},
		{exact, "1.10", `"1.100"`}, {exact, "auth.claims.number", `"0.250"`}, {exact, "auth.claims.long", "precision"}, {exact, "auth.claims.whole", `"7.000"`}, {exact, "auth.claims.huge", "out_of_range"}, {exact, "-999999999999999.999", `"-999999999999999.999"`}, {exact, "-999999999999999.999 - 0.001", "out_of_range"},
	} {
		each.attribute.Name = "value"
		s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{computed(each.attribute, each.text)}})
		if err != nil {
			t.Errorf("%s: %v", each.text, err)
			continue
		}
		c := s.Collection("things")
		r := record(c, nil)
		set := rules.Of(c)
		faults := append(set.Derive(nil, r), set.Compute(rules.Change{After: r, Auth: caller, Now: model.TimeValue("2026-11-19T10:00:00.000Z")})...)
		got := "null"
		if !r[1].IsNull() {
			got = string(c.Columns()[1].Kind.AppendValue(nil, r, 1))
		}
		if len(faults) > 0 {
			got = string(faults[0].Code)
		}
		if got != each.want || len(faults) > 0 && (faults[0].Source.Pointer != "/value" || !r[1].IsNull()) {
			t.Errorf("%s is %s, want %s: %v", each.text, got, each.want, faults)
		}
	}
}

func many(n int) (list []any) {
	for i := range n {
		list = append(list, int64(i))
	}
	return list
}
