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
