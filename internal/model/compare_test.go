package model

import (
	"math/big"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
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
		old, err1 := New(Collection{Name: "things", Attributes: []Attribute{before}})
		now, err2 := New(Collection{Name: "things", Attributes: []Attribute{after}})
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
			if _, problem := a.decodeConstant([]byte(text)); problem != nil {
				continue
			}
			if _, problem := b.decodeConstant([]byte(text)); problem != nil {
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
		before, after Attribute
		want          []string
	}{
		"same":            {Attribute{Type: String, MaxLength: 5}, Attribute{Type: String, MaxLength: 5}, nil},
		"only words":      {Attribute{Type: String}, Attribute{Type: String, Description: "x", Default: "y"}, nil},
		"shorter":         {Attribute{Type: String, MaxLength: 6}, Attribute{Type: String, MaxLength: 5, MinLength: 1}, []string{"minLength", "maxLength"}},
		"longer":          {Attribute{Type: String, MaxLength: 5, MinLength: 1}, Attribute{Type: String, MaxLength: 6}, nil},
		"bounds":          {Attribute{Type: Integer, Minimum: "1"}, Attribute{Type: Integer, Minimum: "1.0", Maximum: "3"}, []string{"maximum"}},
		"wider bounds":    {Attribute{Type: Integer, Minimum: "1", Maximum: "3"}, Attribute{Type: Integer, Minimum: "0"}, nil},
		"enum grows":      {Attribute{Type: String, Enum: []any{"a"}}, Attribute{Type: String, Enum: []any{"b", "a"}}, nil},
		"enum changes":    {Attribute{Type: String, Enum: []any{"a", "c"}}, Attribute{Type: String, Enum: []any{"b", "a"}}, []string{"enum"}},
		"format":          {Attribute{Type: String}, Attribute{Type: String, Format: Email}, []string{"format"}},
		"no format":       {Attribute{Type: String, Format: Email}, Attribute{Type: String}, nil},
		"closed":          {Attribute{Type: Object}, Attribute{Type: Object, Closed: true}, []string{"additionalProperties"}},
		"property":        {Attribute{Type: Object}, Attribute{Type: Object, Properties: []Attribute{{Name: "a", Type: String, Required: true}}}, []string{"properties", "required"}},
		"widened integer": {Attribute{Type: Array, Items: &Attribute{Type: Integer}}, Attribute{Type: Array, Items: &Attribute{Type: Number}}, nil},
		"narrowed number": {Attribute{Type: Array, Items: &Attribute{Type: Number}}, Attribute{Type: Array, Items: &Attribute{Type: Integer}}, []string{"items"}},
	} {
		c.before.Name, c.after.Name = "x", "x"
		before, err1 := New(Collection{Name: "things", Attributes: []Attribute{c.before}})
		after, err2 := New(Collection{Name: "things", Attributes: []Attribute{c.after}})
		if err1 != nil || err2 != nil {
			t.Fatal(name, err1, err2)
		}
		if got := after.Collections()[0].Attributes[0].Tightened(&before.Collections()[0].Attributes[0]); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestConvert(t *testing.T) {
	text := func(s string) Value { return TextValue(s) }
	id, _ := ParseID("01936f2e-7d3c-7a4b-9c5d-0123456789ab")
	const refused = "refused"
	for _, c := range []struct {
		from  Kind
		value Value
		to    Attribute
		want  any // a Value, or refused
	}{
		{KindText, text("12"), Attribute{Type: Integer}, IntValue(12)},
		{KindText, text("12a"), Attribute{Type: Integer}, refused},
		{KindText, text("1.5"), Attribute{Type: Integer}, refused},
		{KindText, text("12"), Attribute{Type: Integer, Maximum: "11"}, refused},
		{KindText, text("1.5"), Attribute{Type: Number}, FloatValue(1.5)},
		{KindText, text("-1.50e2"), Attribute{Type: Number}, FloatValue(-150)},
		{KindText, text("-0.00"), Attribute{Type: Number}, FloatValue(0)},
		{KindText, text("9223372036854775807"), Attribute{Type: Number}, refused},
		{KindText, text("3.14159265358979323846"), Attribute{Type: Number}, refused},
		{KindText, text("1e-400"), Attribute{Type: Number}, refused},
		{KindText, text("true"), Attribute{Type: Boolean}, BoolValue(true)},
		{KindText, text("1"), Attribute{Type: Boolean}, refused},
		{KindText, text(`{"a": 1.0}`), Attribute{Type: Object}, text(`{"a":1}`)},
		{KindText, text(`[1]`), Attribute{Type: Object}, refused},
		{KindText, text(`null`), Attribute{Type: Object}, refused},
		{KindText, text(``), Attribute{Type: Array}, refused},
		{KindText, text(id.String()), Attribute{Type: String, Format: UUID}, IDValue(id)},
		{KindText, text("x"), Attribute{Type: String, Format: UUID}, refused},
		{KindText, text("2026-02-30"), Attribute{Type: String, Format: Date}, refused},
		{KindText, text("2026-01-01T01:00:00+01:00"), Attribute{Type: String, Format: DateTime}, TimeValue("2026-01-01T00:00:00.000Z")},
		{KindText, text("12.5"), Attribute{Type: String, Format: Decimal, Scale: 2}, IntValue(1250)},
		{KindText, text("12.500"), Attribute{Type: String, Format: Decimal, Scale: 2}, IntValue(1250)},
		{KindText, text("12.505"), Attribute{Type: String, Format: Decimal, Scale: 2}, refused},
		{KindText, text("x"), Attribute{Type: String, Format: Decimal, Scale: 2}, refused},
		{KindInteger, IntValue(-7), Attribute{Type: String, Format: Decimal, Scale: 2}, IntValue(-700)},
		{KindInteger, IntValue(1 << 62), Attribute{Type: String, Format: Decimal, Scale: 2}, refused},
		{KindNumber, FloatValue(0.1), Attribute{Type: String, Format: Decimal, Scale: 2}, IntValue(10)},
		{KindNumber, FloatValue(1e-7), Attribute{Type: String, Format: Decimal, Scale: 8}, IntValue(10)},
		{KindNumber, FloatValue(1e-7), Attribute{Type: String, Format: Decimal, Scale: 2}, refused},
		{KindNumber, FloatValue(0), Attribute{Type: String, Format: Decimal, Scale: 2}, IntValue(0)},
		{DecimalKind(2), IntValue(150), Attribute{Type: String, Format: Decimal, Scale: 4}, IntValue(15000)},
		{DecimalKind(2), IntValue(150), Attribute{Type: String, Format: Decimal, Scale: 1}, IntValue(15)},
		{DecimalKind(2), IntValue(155), Attribute{Type: String, Format: Decimal, Scale: 1}, refused},
		{DecimalKind(2), IntValue(999_999_999_999_999_999), Attribute{Type: String, Format: Decimal, Scale: 3}, refused},
		{DecimalKind(2), IntValue(150), Attribute{Type: String, Format: Decimal, Scale: 2, Maximum: "1.49"}, refused},
		{DecimalKind(2), IntValue(-150), Attribute{Type: String}, text("-1.50")},
		{DecimalKind(2), IntValue(-150), Attribute{Type: Number}, FloatValue(-1.5)},
		{DecimalKind(2), IntValue(999_999_999_999_999_999), Attribute{Type: Number}, refused},
		{DecimalKind(2), IntValue(200), Attribute{Type: Integer}, IntValue(2)},
		{DecimalKind(2), IntValue(150), Attribute{Type: Integer}, refused},
		{DecimalKind(2), IntValue(150), Attribute{Type: Boolean}, refused},
		{KindJSON, text(`["1.50"]`), Attribute{Type: Array, Items: &Attribute{Type: String, Format: Decimal, Scale: 3}}, text(`["1.500"]`)},
		{KindInteger, IntValue(-7), Attribute{Type: String}, text("-7")},
		{KindInteger, IntValue(7), Attribute{Type: Number}, FloatValue(7)},
		{KindInteger, IntValue(1<<53 + 1), Attribute{Type: Number}, refused},
		{KindInteger, IntValue(1<<63 - 1), Attribute{Type: Number}, refused},
		{KindInteger, IntValue(1), Attribute{Type: Boolean}, refused},
		{KindInteger, IntValue(1), Attribute{Type: Array}, refused},
		{KindNumber, FloatValue(3), Attribute{Type: Integer}, IntValue(3)},
		{KindNumber, FloatValue(3.5), Attribute{Type: Integer}, refused},
		{KindNumber, FloatValue(0.1), Attribute{Type: String}, text("0.1")},
		{KindBoolean, BoolValue(false), Attribute{Type: String}, text("false")},
		{KindUUID, IDValue(id), Attribute{Type: String}, text(id.String())},
		{KindDate, text("2026-01-02"), Attribute{Type: String, Format: DateTime}, TimeValue("2026-01-02T00:00:00.000Z")},
		{KindDateTime, TimeValue("2026-01-02T00:00:00.000Z"), Attribute{Type: String, Format: Date}, text("2026-01-02")},
		{KindDateTime, TimeValue("2026-01-02T00:00:01.000Z"), Attribute{Type: String, Format: Date}, refused},
		{KindDateTime, TimeValue("2026-01-02T00:00:01.000Z"), Attribute{Type: String}, text("2026-01-02T00:00:01.000Z")},
		{KindJSON, text(`{"a":"\n"}`), Attribute{Type: String}, text(`{"a":"\n"}`)},
		{KindJSON, text(`{"a":1}`), Attribute{Type: Array}, refused},
		{KindJSON, text(`["2026-01-01T00:00:00Z"]`), Attribute{Type: Array, Items: &Attribute{Type: String, Format: DateTime}}, text(`["2026-01-01T00:00:00.000Z"]`)},
		{KindText, text("abc"), Attribute{Type: String, MaxLength: 2}, refused},
		{KindText, text("abc"), Attribute{Type: String, MaxLength: 3}, text("abc")},
	} {
		c.to.Name = "x"
		s, err := New(Collection{Name: "things", Attributes: []Attribute{c.to}})
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
	s, err := New(Collection{Name: "things", Attributes: []Attribute{{Name: "x", Type: Number}}})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,20})?(e[+-]?[0-9]{1,2})?`).Draw(t, "text")
		value, problem := s.Collections()[0].Attributes[0].Convert(KindText, TextValue(text))
		before, _ := new(big.Rat).SetString(text)
		f, _ := before.Float64()
		after, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
		same := before.Cmp(after) == 0
		kept[same]++
		if (problem == nil) != same || same && value != FloatValue(f) {
			t.Errorf("%s: got %v, %v", text, value, problem)
		}
	})
	if kept[true] == 0 || kept[false] == 0 {
		t.Errorf("%v: this tests too little", kept)
	}
}
