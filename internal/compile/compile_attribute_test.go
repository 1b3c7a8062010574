package compile

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"testing"

	"github.com/plural-go/plural/internal/model"
)

func TestCompileAttribute(t *testing.T) {
	id, _ := model.ParseID("01936f2e-7d3c-7a4b-9c5d-0123456789ab")
	// What an attribute without any constraint becomes.
	free := func(kind model.Kind, change func(*model.Constraints)) model.Constraints {
		c := model.Constraints{Kind: kind, MinInt: math.MinInt64, MaxInt: math.MaxInt64, Min: math.Inf(-1), Max: math.Inf(1)}
		if change != nil {
			change(&c)
		}
		return c
	}
	integers := func(first, last int64) model.Constraints {
		return free(model.KindInteger, func(c *model.Constraints) { c.MinInt, c.MaxInt = first, last })
	}
	numbers := func(min, max float64, minOpen, maxOpen bool) model.Constraints {
		return free(model.KindNumber, func(c *model.Constraints) { c.Min, c.Max, c.MinOpen, c.MaxOpen = min, max, minOpen, maxOpen })
	}
	constants := func(kind model.Kind, fallback model.Value, enum ...model.Value) model.Constraints {
		return free(kind, func(c *model.Constraints) { c.Default, c.Enum = fallback, enum })
	}
	tests := []struct {
		name string
		a    model.Attribute
		want model.Constraints
	}{
		{"string", model.Attribute{Type: model.String}, free(model.KindText, nil)},
		{"email", model.Attribute{Type: model.String, Format: model.Email}, free(model.KindText, nil)},
		{"uri", model.Attribute{Type: model.String, Format: model.URI}, free(model.KindText, nil)},
		{"uuid", model.Attribute{Type: model.String, Format: model.UUID}, free(model.KindUUID, nil)},
		{"date", model.Attribute{Type: model.String, Format: model.Date}, free(model.KindDate, nil)},
		{"date-time", model.Attribute{Type: model.String, Format: model.DateTime}, free(model.KindDateTime, nil)},
		{"integer", model.Attribute{Type: model.Integer}, free(model.KindInteger, nil)},
		{"decimal", model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, free(model.DecimalKind(2), nil)},
		{"decimal bounds", model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2, Minimum: "0", ExclusiveMaximum: "10.005", MultipleOf: "0.05"},
			free(model.DecimalKind(2), func(c *model.Constraints) { c.MinInt, c.MaxInt, c.Multiple = 0, 1000, big.NewRat(5, 1) })},
		{"decimal constants", model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2, Enum: []any{"1.5", "2"}, Default: "2.00"}, constants(model.DecimalKind(2), model.IntValue(200), model.IntValue(150), model.IntValue(200))},
		{"number", model.Attribute{Type: model.Number}, free(model.KindNumber, nil)},
		{"boolean", model.Attribute{Type: model.Boolean}, free(model.KindBoolean, nil)},
		{"object", model.Attribute{Type: model.Object}, free(model.KindJSON, nil)},
		{"array", model.Attribute{Type: model.Array}, free(model.KindJSON, nil)},
		{"pattern", model.Attribute{Type: model.String, Pattern: "^a+$"}, free(model.KindText, func(c *model.Constraints) { c.Pattern = regexp.MustCompile("^a+$") })},

		{"closed integers", model.Attribute{Type: model.Integer, Minimum: "-3", Maximum: "3"}, integers(-3, 3)},
		{"open integers", model.Attribute{Type: model.Integer, ExclusiveMinimum: "-3", ExclusiveMaximum: "3"}, integers(-2, 2)},
		{"fractions round inwards", model.Attribute{Type: model.Integer, Minimum: "-3.5", Maximum: "3.5"}, integers(-3, 3)},
		{"open fractions too", model.Attribute{Type: model.Integer, ExclusiveMinimum: "-3.5", ExclusiveMaximum: "3.5"}, integers(-3, 3)},
		{"the tighter bound counts", model.Attribute{Type: model.Integer, Minimum: "1", ExclusiveMinimum: "0", Maximum: "5", ExclusiveMaximum: "5"}, integers(1, 4)},
		{"beyond int64", model.Attribute{Type: model.Integer, Minimum: "-1e30", Maximum: "1e30"}, integers(math.MinInt64, math.MaxInt64)},
		{"the ends of int64", model.Attribute{Type: model.Integer, Minimum: "9223372036854775807", Maximum: "9223372036854775807.9"}, integers(math.MaxInt64, math.MaxInt64)},

		{"closed numbers", model.Attribute{Type: model.Number, Minimum: "-0.1", Maximum: "0.1"}, numbers(-0.1, 0.1, false, false)},
		{"open numbers", model.Attribute{Type: model.Number, ExclusiveMinimum: "-0.1", ExclusiveMaximum: "1e2"}, numbers(-0.1, 100, true, true)},
		{"open wins when equal", model.Attribute{Type: model.Number, Minimum: "1", ExclusiveMinimum: "1", Maximum: "2", ExclusiveMaximum: "2"}, numbers(1, 2, true, true)},
		{"closed and tighter", model.Attribute{Type: model.Number, Minimum: "1", ExclusiveMinimum: "0", Maximum: "2", ExclusiveMaximum: "3"}, numbers(1, 2, false, false)},
		{"one number", model.Attribute{Type: model.Number, Minimum: "1", Maximum: "1"}, numbers(1, 1, false, false)},
		{"beyond doubles", model.Attribute{Type: model.Number, Minimum: "-1e999", Maximum: "1e999"}, numbers(math.Inf(-1), math.Inf(1), false, false)},
		{"multiple", model.Attribute{Type: model.Number, MultipleOf: "0.1"}, free(model.KindNumber, func(c *model.Constraints) { c.Multiple = big.NewRat(1, 10) })},

		{"text constants", model.Attribute{Type: model.String, Enum: []any{"a", "<b>"}, Default: "<b>"}, constants(model.KindText, model.TextValue("<b>"), model.TextValue("a"), model.TextValue("<b>"))},
		{"integer constants", model.Attribute{Type: model.Integer, Enum: []any{1, 2.0, json.Number("3e0")}, Default: 3}, constants(model.KindInteger, model.IntValue(3), model.IntValue(1), model.IntValue(2), model.IntValue(3))},
		{"number constants", model.Attribute{Type: model.Number, Enum: []any{0.5, 1}}, constants(model.KindNumber, model.Null, model.FloatValue(0.5), model.FloatValue(1))},
		{"false", model.Attribute{Type: model.Boolean, Default: false}, constants(model.KindBoolean, model.BoolValue(false))},
		{"a UUID", model.Attribute{Type: model.String, Format: model.UUID, Default: "01936F2E-7D3C-7A4B-9C5D-0123456789AB"}, constants(model.KindUUID, model.IDValue(id))},
		{"a time", model.Attribute{Type: model.String, Format: model.DateTime, Default: "2026-11-14T10:30:00+01:00"}, constants(model.KindDateTime, model.TimeValue("2026-11-14T09:30:00.000Z"))},
		{"an object", model.Attribute{Type: model.Object, Default: json.RawMessage(`{ "z": 1.0, "a": [true, null] }`)}, constants(model.KindJSON, model.TextValue(`{"z":1,"a":[true,null]}`))},
		{"an array", model.Attribute{Type: model.Array, Default: []any{}}, constants(model.KindJSON, model.TextValue("[]"))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.a.Name = "a"
			s, err := Schema(model.Collection{Name: "things", Attributes: []model.Attribute{test.a}})
			if err != nil {
				t.Fatal(err)
			}
			if got := *s.Collections()[0].Attributes[0].Constraints(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestCompileNested(t *testing.T) {
	s, err := Schema(model.Collection{Name: "things", Attributes: []model.Attribute{{Name: "a", Type: model.Object, Properties: []model.Attribute{
		{Name: "Any name at all", Type: model.Array, Items: &model.Attribute{Type: model.Integer, Minimum: "1", Enum: []any{2, 3}}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	got := *s.Collections()[0].Attributes[0].Properties[0].Items.Constraints()
	want := model.Constraints{Kind: model.KindInteger, Enum: []model.Value{model.IntValue(2), model.IntValue(3)}, MinInt: 1, MaxInt: math.MaxInt64, Min: math.Inf(-1), Max: math.Inf(1)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
