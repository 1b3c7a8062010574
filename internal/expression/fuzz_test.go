package expression_test

import (
	"testing"

	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
)

// FuzzExpression: whatever the text of an expression is, it is refused with a place in the file, or can be evaluated.
func FuzzExpression(f *testing.F) {
	c := bookings(f)
	for _, seed := range []string{
		"resource.ends_on >= resource.starts_on", "resource.price * resource.seats * 0.19", "previous == null ? 0 : previous.seats + 1", "resource.paid ? resource.price : 0",
		"auth.claims.team in ['a', resource.title]", "[resource.price, 1.5].exists(x, x > 1e-3)", "resource.at + duration('24h') < now", "resource.at.getFullYear('Europe/Berlin') > 2000", "size()", "now()",
		"resource.price in auth.claims.list", "{'a': resource.price}", "[resource.price].map(x, x * 2)", "-resource.price", "resource.title.matches('(')", "1 / 0 > resource.seats", "dyn(resource.price) == 1", "type(resource.price)", "dyn(resource.price)['a']", "has(dyn(resource.price).a)", "dyn(resource.price).a", "dyn(resource.price) + 1.5", "resource.price.a", "decimal{}", "resource.price == decimal", "dyn(resource.price) in [1.5]", "{resource.price: 1}", "[resource.price, 1].map(x, x).exists(y, y == 1.5)", "string(resource.price)",
		"- 0.5 * resource.price", "has(auth.claims.a.b)", "auth.claims[resource.title]", "resource.price * 1e-300", "''.x()", "\x00", "((", "resource", "previous.seats", "b'a'", "1u", "[1][5]", "optional.none()",
	} {
		f.Add(seed)
	}
	record := make(model.Record, len(c.Columns()))
	full := append(model.Record{}, record...)
	for i, column := range c.Columns() {
		switch {
		case column.Kind.IsDecimal() || column.Kind == model.KindInteger:
			full[i] = model.IntValue(model.MaxDecimalUnits)
		case column.Kind == model.KindNumber:
			full[i] = model.FloatValue(1e308)
		case column.Kind == model.KindBoolean:
			full[i] = model.BoolValue(true)
		case column.Kind == model.KindUUID:
			full[i] = model.IDValue(model.ID{1})
		case column.Kind == model.KindDateTime:
			full[i] = model.TimeValue("9999-12-31T23:59:59.999Z")
		default:
			full[i] = model.TextValue("text")
		}
	}
	claims := func() map[string]any {
		return map[string]any{"auth.sub": "a", "auth.claims": map[string]any{"team": nil, "list": []any{1.5, "a", nil}, "a": map[string]any{"b": 1e300}}}
	}
	states := []expression.State{
		{After: record}, {After: full, Before: record, Auth: claims, Now: model.TimeValue("2026-11-19T10:00:00.000Z")}, {After: full, Before: full},
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []model.Kind{model.KindBoolean, model.KindText, model.KindInteger, model.KindNumber, model.KindDateTime, model.DecimalKind(4)} {
			checked, problems := expression.Compile(model.Rule{Text: text, Line: 7, Column: 5}, expression.Scope{Collection: c, Data: true}, kind)
			if (checked == nil) != (len(problems) > 0) {
				t.Fatalf("%q: %v and %v", text, checked, problems)
			}
			for _, wrong := range problems {
				if wrong.Line < 7 || wrong.Column < 1 || wrong.Message == "" {
					t.Errorf("%q: %+v", text, wrong)
				}
			}
			if checked == nil {
				continue
			}
			program, problems := checked.Program()
			if problems != nil {
				continue
			}
			for i := range states {
				value, err := program.AppendJSON(nil, kind, &states[i])
				if err == nil && len(value) == 0 {
					t.Errorf("%q has no value and no error", text)
				}
			}
		}
	})
}
