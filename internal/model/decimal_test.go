package model_test

import (
	"strconv"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// TestDecimals: what is taken, and how it comes back.
func TestDecimals(t *testing.T) {
	of := func(scale int) *model.Attribute {
		s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{{Name: "x", Type: model.String, Format: model.Decimal, Scale: scale}}})
		if err != nil {
			t.Fatal(err)
		}
		return &s.Collections()[0].Attributes[0]
	}
	for _, test := range []struct {
		scale int
		text  string
		want  string // how it comes back, or the code
	}{
		{2, "0", "0.00"}, {2, "-0", "0.00"}, {2, "-0.00", "0.00"}, {2, "1", "1.00"}, {2, "1.5", "1.50"}, {2, "-1.05", "-1.05"}, {2, "-0.05", "-0.05"},
		{2, "9999999999999999.99", "9999999999999999.99"}, {2, "-9999999999999999.99", "-9999999999999999.99"},
		{2, "10000000000000000", "out_of_range"}, {2, "10000000000000000.00", "out_of_range"},
		{2, "1.005", "precision"}, {2, "1.500", "precision"},
		{2, "", "format"}, {2, "-", "format"}, {2, ".", "format"}, {2, ".5", "format"}, {2, "5.", "format"}, {2, "+1", "format"}, {2, "01", "format"}, {2, "1e2", "format"},
		{2, "1,5", "format"}, {2, " 1", "format"}, {2, "--1", "format"}, {2, "1.-5", "format"}, {2, "٣", "format"}, {2, "NaN", "format"},
		{0, "12", "12"}, {0, "-0", "0"}, {0, "1.0", "precision"}, {0, "999999999999999999", "999999999999999999"}, {0, "1000000000000000000", "out_of_range"},
		{18, "0.000000000000000001", "0.000000000000000001"}, {18, "-0.999999999999999999", "-0.999999999999999999"}, {18, "1", "out_of_range"},
		{17, "9.99999999999999999", "9.99999999999999999"}, {17, "10", "out_of_range"},
	} {
		a := of(test.scale)
		value, err := a.DecodeJSON([]byte(strconv.Quote(test.text)))
		got := ""
		if err != nil {
			got = string(fault.From(err)[0].Code)
		} else {
			got = model.DecimalKind(test.scale).DecimalText(value)
		}
		if got != test.want {
			t.Errorf("%q with scale %d: got %s (%v), want %s", test.text, test.scale, got, err, test.want)
		}
		parsed, problem := model.DecimalKind(test.scale).Parse(test.text)
		if (problem == "") != (err == nil) || parsed != value {
			t.Errorf("the filter value %q with scale %d: %v, %q", test.text, test.scale, parsed, problem)
		}
	}
	for _, text := range []string{"1.5", "1", "true", "{}", "[]"} {
		if _, err := of(2).DecodeJSON([]byte(text)); !fault.Is(err, problem.CodeType) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
