package model

import (
	"strconv"
	"testing"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// TestDecimals: what is taken, and how it comes back.
func TestDecimals(t *testing.T) {
	of := func(scale int) *Attribute {
		s, err := New(Collection{Name: "things", Attributes: []Attribute{{Name: "x", Type: String, Format: Decimal, Scale: scale}}})
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
			got = DecimalKind(test.scale).DecimalText(value)
		}
		if got != test.want {
			t.Errorf("%q with scale %d: got %s (%v), want %s", test.text, test.scale, got, err, test.want)
		}
		parsed, problem := DecimalKind(test.scale).Parse(test.text)
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

// TestNumbersKeepTheirDigits: what a double cannot hold with all its digits is refused.
func TestNumbersKeepTheirDigits(t *testing.T) {
	for text, want := range map[string]numberProblem{
		"0.1": noProblem, "1.10": noProblem, "1.1000000000000000000000000000": noProblem, "-0.0": noProblem, "100000000000000000000000": noProblem, "1e23": noProblem,
		"0.30000000000000004": noProblem, "1.7976931348623157e308": noProblem, "5e-324": noProblem, "123456789012345680": noProblem, "0e999": noProblem,
		"9007199254740993": imprecise, "0.1000000000000000055511151231257827": imprecise, "0.10000000000000001": imprecise, "3.14159265358979323846": imprecise,
		"12345678901234567.89": imprecise, "4.9e-324": imprecise, "3e-324": imprecise, "1.5e-323": noProblem, "1.2e-323": imprecise,
		"1e400": tooLarge, "-1e309": tooLarge, "1e-400": tooLarge,
	} {
		if _, got := parseNumber(text); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}
