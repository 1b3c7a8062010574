package rules_test

import (
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
)

// BenchmarkRules is what three checks and two computed attributes add to a create.
func BenchmarkRules(b *testing.B) {
	decimal := model.Attribute{Name: "price", Type: model.String, Format: model.Decimal, Scale: 2}
	total := decimal
	total.Name, total.Computed = "total", model.Rule{Text: "resource.price * resource.quantity"}
	s, err := compile.Schema(model.Collection{
		Name: "orders",
		Attributes: []model.Attribute{
			decimal, {Name: "quantity", Type: model.Integer}, total,
			{Name: "starts_on", Type: model.String, Format: model.Date}, {Name: "ends_on", Type: model.String, Format: model.Date},
			computed(model.Attribute{Name: "created_by", Type: model.String, When: model.WhenCreate}, "auth.sub"),
			{Name: "state", Type: model.String}, {Name: "at", Type: model.String, Format: model.DateTime},
		},
		Checks: []model.Check{
			{Rule: model.Rule{Text: "resource.ends_on >= resource.starts_on"}, Message: "It ends before it starts."},
			{Rule: model.Rule{Text: "resource.state != 'paid' || resource.total > 0"}, Message: "It costs nothing."},
			{Rule: model.Rule{Text: "resource.at == null || resource.at <= now"}, Message: "It is in the future."},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	c := s.Collection("orders")
	set, after := rules.Of(c), record(c, map[string]model.Value{
		"price": model.IntValue(1999), "quantity": model.IntValue(3), "starts_on": model.TextValue("2026-11-19"), "ends_on": model.TextValue("2026-11-20"),
		"state": model.TextValue("paid"), "at": model.TimeValue("2026-11-19T10:00:00.000Z"),
	})
	variables := map[string]any{"auth.sub": "ann"}
	change := rules.Change{After: after, Auth: func() map[string]any { return variables }, Now: model.TimeValue("2026-11-19T10:00:00.000Z")}
	b.ReportAllocs()
	for b.Loop() {
		if set.Derive(nil, after) != nil || set.Compute(change) != nil || set.Check(change) != nil {
			b.Fatal("a rule does not hold")
		}
	}
}
