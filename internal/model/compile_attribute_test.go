package model

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"testing"
)

func TestCompileAttribute(t *testing.T) {
	id, _ := ParseID("01936f2e-7d3c-7a4b-9c5d-0123456789ab")
	// What an attribute without any constraint becomes.
	free := func(kind Kind, change func(*compiled)) compiled {
		c := compiled{kind: kind, minInt: math.MinInt64, maxInt: math.MaxInt64, min: math.Inf(-1), max: math.Inf(1)}
		if change != nil {
			change(&c)
		}
		return c
	}
	integers := func(first, last int64) compiled {
		return free(KindInteger, func(c *compiled) { c.minInt, c.maxInt = first, last })
	}
	numbers := func(min, max float64, minOpen, maxOpen bool) compiled {
		return free(KindNumber, func(c *compiled) { c.min, c.max, c.minOpen, c.maxOpen = min, max, minOpen, maxOpen })
	}
	constants := func(kind Kind, fallback Value, enum ...Value) compiled {
		return free(kind, func(c *compiled) { c.fallback, c.enum = fallback, enum })
	}
	tests := []struct {
		name string
		a    Attribute
		want compiled
	}{
		{"string", Attribute{Type: String}, free(KindText, nil)},
		{"email", Attribute{Type: String, Format: Email}, free(KindText, nil)},
		{"uri", Attribute{Type: String, Format: URI}, free(KindText, nil)},
		{"uuid", Attribute{Type: String, Format: UUID}, free(KindUUID, nil)},
		{"date", Attribute{Type: String, Format: Date}, free(KindDate, nil)},
		{"date-time", Attribute{Type: String, Format: DateTime}, free(KindDateTime, nil)},
		{"integer", Attribute{Type: Integer}, free(KindInteger, nil)},
		{"decimal", Attribute{Type: String, Format: Decimal, Scale: 2}, free(DecimalKind(2), nil)},
		{"decimal bounds", Attribute{Type: String, Format: Decimal, Scale: 2, Minimum: "0", ExclusiveMaximum: "10.005", MultipleOf: "0.05"},
			free(DecimalKind(2), func(c *compiled) { c.minInt, c.maxInt, c.multiple = 0, 1000, big.NewRat(5, 1) })},
		{"decimal constants", Attribute{Type: String, Format: Decimal, Scale: 2, Enum: []any{"1.5", "2"}, Default: "2.00"}, constants(DecimalKind(2), IntValue(200), IntValue(150), IntValue(200))},
		{"number", Attribute{Type: Number}, free(KindNumber, nil)},
		{"boolean", Attribute{Type: Boolean}, free(KindBoolean, nil)},
		{"object", Attribute{Type: Object}, free(KindJSON, nil)},
		{"array", Attribute{Type: Array}, free(KindJSON, nil)},
		{"pattern", Attribute{Type: String, Pattern: "^a+$"}, free(KindText, func(c *compiled) { c.pattern = regexp.MustCompile("^a+$") })},

		{"closed integers", Attribute{Type: Integer, Minimum: "-3", Maximum: "3"}, integers(-3, 3)},
		{"open integers", Attribute{Type: Integer, ExclusiveMinimum: "-3", ExclusiveMaximum: "3"}, integers(-2, 2)},
		{"fractions round inwards", Attribute{Type: Integer, Minimum: "-3.5", Maximum: "3.5"}, integers(-3, 3)},
		{"open fractions too", Attribute{Type: Integer, ExclusiveMinimum: "-3.5", ExclusiveMaximum: "3.5"}, integers(-3, 3)},
		{"the tighter bound counts", Attribute{Type: Integer, Minimum: "1", ExclusiveMinimum: "0", Maximum: "5", ExclusiveMaximum: "5"}, integers(1, 4)},
		{"beyond int64", Attribute{Type: Integer, Minimum: "-1e30", Maximum: "1e30"}, integers(math.MinInt64, math.MaxInt64)},
		{"the ends of int64", Attribute{Type: Integer, Minimum: "9223372036854775807", Maximum: "9223372036854775807.9"}, integers(math.MaxInt64, math.MaxInt64)},

		{"closed numbers", Attribute{Type: Number, Minimum: "-0.1", Maximum: "0.1"}, numbers(-0.1, 0.1, false, false)},
		{"open numbers", Attribute{Type: Number, ExclusiveMinimum: "-0.1", ExclusiveMaximum: "1e2"}, numbers(-0.1, 100, true, true)},
		{"open wins when equal", Attribute{Type: Number, Minimum: "1", ExclusiveMinimum: "1", Maximum: "2", ExclusiveMaximum: "2"}, numbers(1, 2, true, true)},
		{"closed and tighter", Attribute{Type: Number, Minimum: "1", ExclusiveMinimum: "0", Maximum: "2", ExclusiveMaximum: "3"}, numbers(1, 2, false, false)},
		{"one number", Attribute{Type: Number, Minimum: "1", Maximum: "1"}, numbers(1, 1, false, false)},
		{"beyond doubles", Attribute{Type: Number, Minimum: "-1e999", Maximum: "1e999"}, numbers(math.Inf(-1), math.Inf(1), false, false)},
		{"multiple", Attribute{Type: Number, MultipleOf: "0.1"}, free(KindNumber, func(c *compiled) { c.multiple = big.NewRat(1, 10) })},

		{"text constants", Attribute{Type: String, Enum: []any{"a", "<b>"}, Default: "<b>"}, constants(KindText, TextValue("<b>"), TextValue("a"), TextValue("<b>"))},
		{"integer constants", Attribute{Type: Integer, Enum: []any{1, 2.0, json.Number("3e0")}, Default: 3}, constants(KindInteger, IntValue(3), IntValue(1), IntValue(2), IntValue(3))},
		{"number constants", Attribute{Type: Number, Enum: []any{0.5, 1}}, constants(KindNumber, Null, FloatValue(0.5), FloatValue(1))},
		{"false", Attribute{Type: Boolean, Default: false}, constants(KindBoolean, BoolValue(false))},
		{"a UUID", Attribute{Type: String, Format: UUID, Default: "01936F2E-7D3C-7A4B-9C5D-0123456789AB"}, constants(KindUUID, IDValue(id))},
		{"a time", Attribute{Type: String, Format: DateTime, Default: "2026-11-14T10:30:00+01:00"}, constants(KindDateTime, TimeValue("2026-11-14T09:30:00.000Z"))},
		{"an object", Attribute{Type: Object, Default: json.RawMessage(`{ "z": 1.0, "a": [true, null] }`)}, constants(KindJSON, TextValue(`{"z":1,"a":[true,null]}`))},
		{"an array", Attribute{Type: Array, Default: []any{}}, constants(KindJSON, TextValue("[]"))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.a.Name = "a"
			s, err := New(Collection{Name: "things", Attributes: []Attribute{test.a}})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Collections()[0].Attributes[0].compiled; !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestCompileNested(t *testing.T) {
	s, err := New(Collection{Name: "things", Attributes: []Attribute{{Name: "a", Type: Object, Properties: []Attribute{
		{Name: "Any name at all", Type: Array, Items: &Attribute{Type: Integer, Minimum: "1", Enum: []any{2, 3}}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	got := s.Collections()[0].Attributes[0].Properties[0].Items.compiled
	want := compiled{kind: KindInteger, enum: []Value{IntValue(2), IntValue(3)}, minInt: 1, maxInt: math.MaxInt64, min: math.Inf(-1), max: math.Inf(1)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
