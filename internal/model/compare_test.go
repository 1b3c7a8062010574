package model_test

import (
	"math/big"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// TestTightenedKeywordsAreComplete draws pairs of definitions and values: what one
// lets in and the other refuses is told by a keyword.
func TestTightenedKeywordsAreComplete(t *testing.T) {
	tightened, loosened := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		before := drawAttribute("x", 2).Draw(t, "before")
		after := drawAttribute("x", 2).Draw(t, "after")
		after.Type = before.Type
		if rapid.Bool().Draw(t, "near") { // so that little differs
			after = before
			after.MinLength, after.MaxItems, after.Closed, after.Enum = 0, 0, false, nil
		}
		old, err1 := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{before}})
		now, err2 := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{after}})
		if err1 != nil || err2 != nil {
			return
		}
		a, b := &old.Collections()[0].Attributes[0], &now.Collections()[0].Attributes[0]
		keywords := b.Tightened(a)
		if len(keywords) > 0 {
			tightened++
			return
		}
		loosened++
		for range 10 {
			text := drawJSON(before.Type, 3).Draw(t, "value")
			if _, problem := a.DecodeJSON([]byte(text)); problem != nil {
				continue
			}
			if _, problem := b.DecodeJSON([]byte(text)); problem != nil {
				t.Fatalf("%s\nis let in by %s\nand refused by %s: %v", text, a.Definition(), b.Definition(), problem)
			}
		}
	})
	if loosened == 0 {
		t.Errorf("all of %d pairs were tightened, and no value was tried", tightened)
	}
}

func TestTightenedKeywords(t *testing.T) {
	for name, c := range map[string]struct {
		before, after model.Attribute
		want          []string
	}{
		"same":            {model.Attribute{Type: model.String, MaxLength: 5}, model.Attribute{Type: model.String, MaxLength: 5}, nil},
		"only words":      {model.Attribute{Type: model.String}, model.Attribute{Type: model.String, Description: "x", Default: "y"}, nil},
		"shorter":         {model.Attribute{Type: model.String, MaxLength: 6}, model.Attribute{Type: model.String, MaxLength: 5, MinLength: 1}, []string{"minLength", "maxLength"}},
		"longer":          {model.Attribute{Type: model.String, MaxLength: 5, MinLength: 1}, model.Attribute{Type: model.String, MaxLength: 6}, nil},
		"bounds":          {model.Attribute{Type: model.Integer, Minimum: "1"}, model.Attribute{Type: model.Integer, Minimum: "1.0", Maximum: "3"}, []string{"maximum"}},
		"wider bounds":    {model.Attribute{Type: model.Integer, Minimum: "1", Maximum: "3"}, model.Attribute{Type: model.Integer, Minimum: "0"}, nil},
		"enum grows":      {model.Attribute{Type: model.String, Enum: []any{"a"}}, model.Attribute{Type: model.String, Enum: []any{"b", "a"}}, nil},
		"enum changes":    {model.Attribute{Type: model.String, Enum: []any{"a", "c"}}, model.Attribute{Type: model.String, Enum: []any{"b", "a"}}, []string{"enum"}},
		"format":          {model.Attribute{Type: model.String}, model.Attribute{Type: model.String, Format: model.Email}, []string{"format"}},
		"no format":       {model.Attribute{Type: model.String, Format: model.Email}, model.Attribute{Type: model.String}, nil},
		"closed":          {model.Attribute{Type: model.Object}, model.Attribute{Type: model.Object, Closed: true}, []string{"additionalProperties"}},
		"property":        {model.Attribute{Type: model.Object}, model.Attribute{Type: model.Object, Properties: []model.Attribute{{Name: "a", Type: model.String, Required: true}}}, []string{"properties", "required"}},
		"widened integer": {model.Attribute{Type: model.Array, Items: &model.Attribute{Type: model.Integer}}, model.Attribute{Type: model.Array, Items: &model.Attribute{Type: model.Number}}, nil},
		"narrowed number": {model.Attribute{Type: model.Array, Items: &model.Attribute{Type: model.Number}}, model.Attribute{Type: model.Array, Items: &model.Attribute{Type: model.Integer}}, []string{"items"}},
	} {
		c.before.Name, c.after.Name = "x", "x"
		before, err1 := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{c.before}})
		after, err2 := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{c.after}})
		if err1 != nil || err2 != nil {
			t.Fatal(name, err1, err2)
		}
		if got := after.Collections()[0].Attributes[0].Tightened(&before.Collections()[0].Attributes[0]); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestConvert(t *testing.T) {
	text := func(s string) model.Value { return model.TextValue(s) }
	id, _ := model.ParseID("01936f2e-7d3c-7a4b-9c5d-0123456789ab")
	const refused = "refused"
	for _, c := range []struct {
		from  model.Kind
		value model.Value
		to    model.Attribute
		want  any // a Value, or refused
	}{
		{model.KindText, text("12"), model.Attribute{Type: model.Integer}, model.IntValue(12)},
		{model.KindText, text("12a"), model.Attribute{Type: model.Integer}, refused},
		{model.KindText, text("1.5"), model.Attribute{Type: model.Integer}, refused},
		{model.KindText, text("12"), model.Attribute{Type: model.Integer, Maximum: "11"}, refused},
		{model.KindText, text("1.5"), model.Attribute{Type: model.Number}, model.FloatValue(1.5)},
		{model.KindText, text("-1.50e2"), model.Attribute{Type: model.Number}, model.FloatValue(-150)},
		{model.KindText, text("-0.00"), model.Attribute{Type: model.Number}, model.FloatValue(0)},
		{model.KindText, text("9223372036854775807"), model.Attribute{Type: model.Number}, refused},
		{model.KindText, text("3.14159265358979323846"), model.Attribute{Type: model.Number}, refused},
		{model.KindText, text("1e-400"), model.Attribute{Type: model.Number}, refused},
		{model.KindText, text("true"), model.Attribute{Type: model.Boolean}, model.BoolValue(true)},
		{model.KindText, text("1"), model.Attribute{Type: model.Boolean}, refused},
		{model.KindText, text(`{"a": 1.0}`), model.Attribute{Type: model.Object}, text(`{"a":1}`)},
		{model.KindText, text(`[1]`), model.Attribute{Type: model.Object}, refused},
		{model.KindText, text(`null`), model.Attribute{Type: model.Object}, refused},
		{model.KindText, text(``), model.Attribute{Type: model.Array}, refused},
		{model.KindText, text(id.String()), model.Attribute{Type: model.String, Format: model.UUID}, model.IDValue(id)},
		{model.KindText, text("x"), model.Attribute{Type: model.String, Format: model.UUID}, refused},
		{model.KindText, text("2026-02-30"), model.Attribute{Type: model.String, Format: model.Date}, refused},
		{model.KindText, text("2026-01-01T01:00:00+01:00"), model.Attribute{Type: model.String, Format: model.DateTime}, model.TimeValue("2026-01-01T00:00:00.000Z")},
		{model.KindText, text("12.5"), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, model.IntValue(1250)},
		{model.KindText, text("12.500"), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, model.IntValue(1250)},
		{model.KindText, text("12.505"), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, refused},
		{model.KindText, text("x"), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, refused},
		{model.KindInteger, model.IntValue(-7), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, model.IntValue(-700)},
		{model.KindInteger, model.IntValue(1 << 62), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, refused},
		{model.KindNumber, model.FloatValue(0.1), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, model.IntValue(10)},
		{model.KindNumber, model.FloatValue(1e-7), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 8}, model.IntValue(10)},
		{model.KindNumber, model.FloatValue(1e-7), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, refused},
		{model.KindNumber, model.FloatValue(0), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2}, model.IntValue(0)},
		{model.DecimalKind(2), model.IntValue(150), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 4}, model.IntValue(15000)},
		{model.DecimalKind(2), model.IntValue(150), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 1}, model.IntValue(15)},
		{model.DecimalKind(2), model.IntValue(155), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 1}, refused},
		{model.DecimalKind(2), model.IntValue(999_999_999_999_999_999), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 3}, refused},
		{model.DecimalKind(2), model.IntValue(150), model.Attribute{Type: model.String, Format: model.Decimal, Scale: 2, Maximum: "1.49"}, refused},
		{model.DecimalKind(2), model.IntValue(-150), model.Attribute{Type: model.String}, text("-1.50")},
		{model.DecimalKind(2), model.IntValue(-150), model.Attribute{Type: model.Number}, model.FloatValue(-1.5)},
		{model.DecimalKind(2), model.IntValue(999_999_999_999_999_999), model.Attribute{Type: model.Number}, refused},
		{model.DecimalKind(2), model.IntValue(200), model.Attribute{Type: model.Integer}, model.IntValue(2)},
		{model.DecimalKind(2), model.IntValue(150), model.Attribute{Type: model.Integer}, refused},
		{model.DecimalKind(2), model.IntValue(150), model.Attribute{Type: model.Boolean}, refused},
		{model.KindJSON, text(`["1.50"]`), model.Attribute{Type: model.Array, Items: &model.Attribute{Type: model.String, Format: model.Decimal, Scale: 3}}, text(`["1.500"]`)},
		{model.KindInteger, model.IntValue(-7), model.Attribute{Type: model.String}, text("-7")},
		{model.KindInteger, model.IntValue(7), model.Attribute{Type: model.Number}, model.FloatValue(7)},
		{model.KindInteger, model.IntValue(1<<53 + 1), model.Attribute{Type: model.Number}, refused},
		{model.KindInteger, model.IntValue(1<<63 - 1), model.Attribute{Type: model.Number}, refused},
		{model.KindInteger, model.IntValue(1), model.Attribute{Type: model.Boolean}, refused},
		{model.KindInteger, model.IntValue(1), model.Attribute{Type: model.Array}, refused},
		{model.KindNumber, model.FloatValue(3), model.Attribute{Type: model.Integer}, model.IntValue(3)},
		{model.KindNumber, model.FloatValue(3.5), model.Attribute{Type: model.Integer}, refused},
		{model.KindNumber, model.FloatValue(0.1), model.Attribute{Type: model.String}, text("0.1")},
		{model.KindBoolean, model.BoolValue(false), model.Attribute{Type: model.String}, text("false")},
		{model.KindUUID, model.IDValue(id), model.Attribute{Type: model.String}, text(id.String())},
		{model.KindDate, text("2026-01-02"), model.Attribute{Type: model.String, Format: model.DateTime}, model.TimeValue("2026-01-02T00:00:00.000Z")},
		{model.KindDateTime, model.TimeValue("2026-01-02T00:00:00.000Z"), model.Attribute{Type: model.String, Format: model.Date}, text("2026-01-02")},
		{model.KindDateTime, model.TimeValue("2026-01-02T00:00:01.000Z"), model.Attribute{Type: model.String, Format: model.Date}, refused},
		{model.KindDateTime, model.TimeValue("2026-01-02T00:00:01.000Z"), model.Attribute{Type: model.String}, text("2026-01-02T00:00:01.000Z")},
		{model.KindJSON, text(`{"a":"\n"}`), model.Attribute{Type: model.String}, text(`{"a":"\n"}`)},
		{model.KindJSON, text(`{"a":1}`), model.Attribute{Type: model.Array}, refused},
		{model.KindJSON, text(`["2026-01-01T00:00:00Z"]`), model.Attribute{Type: model.Array, Items: &model.Attribute{Type: model.String, Format: model.DateTime}}, text(`["2026-01-01T00:00:00.000Z"]`)},
		{model.KindText, text("abc"), model.Attribute{Type: model.String, MaxLength: 2}, refused},
		{model.KindText, text("abc"), model.Attribute{Type: model.String, MaxLength: 3}, text("abc")},
	} {
		c.to.Name = "x"
		s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{c.to}})
		if err != nil {
			t.Fatal(err)
		}
		got, problem := s.Collections()[0].Attributes[0].Convert(c.from, c.value)
		if c.want == refused {
			if problem == nil {
				t.Errorf("%s %v to %s: got %v", c.from, c.value, c.to.Type, got)
			}
		} else if problem != nil || got != c.want {
			t.Errorf("%s %v to %s %s: got %v, %v", c.from, c.value, c.to.Type, c.to.Format, got, problem)
		}
	}
}

// TestDigitsAreKept: a text becomes a number only if that is written as the same
// number again.
func TestDigitsAreKept(t *testing.T) {
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{{Name: "x", Type: model.Number}}})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,20})?(e[+-]?[0-9]{1,2})?`).Draw(t, "text")
		value, problem := s.Collections()[0].Attributes[0].Convert(model.KindText, model.TextValue(text))
		before, _ := new(big.Rat).SetString(text)
		f, _ := before.Float64()
		after, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
		same := before.Cmp(after) == 0
		kept[same]++
		if (problem == nil) != same || same && value != model.FloatValue(f) {
			t.Errorf("%s: got %v, %v", text, value, problem)
		}
	})
	if kept[true] == 0 || kept[false] == 0 {
		t.Errorf("%v: this tests too little", kept)
	}
}
