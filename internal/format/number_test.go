package format

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInteger(t *testing.T) {
	tests := []struct {
		text    string
		want    int64
		problem Problem
	}{
		{"0", 0, Fits}, {"-0", 0, Fits}, {"1.0", 1, Fits}, {"1e3", 1000, Fits}, {"1.5e1", 15, Fits}, {"-1E+2", -100, Fits}, {"100e-2", 1, Fits},
		{"9223372036854775807", math.MaxInt64, Fits}, {"-9223372036854775808.000", math.MinInt64, Fits}, {"922337203685477580.7e1", math.MaxInt64, Fits},
		{"0e999999999999999999999", 0, Fits}, {"0.0e-999999999999999999999", 0, Fits}, {"1" + strings.Repeat("0", 400) + "e-400", 1, Fits},
		{"1.5", 0, Fractional}, {"1e-1", 0, Fractional}, {"15e-1", 0, Fractional}, {"1e-999999999999999999999", 0, Fractional}, {"1e-2147483648", 0, Fractional},
		{"9223372036854775808", 0, TooLarge}, {"-9223372036854775809", 0, TooLarge}, {"1e19", 0, TooLarge}, {"1e999999999999999999999", 0, TooLarge}, {"1e2147483647", 0, TooLarge},
	}
	for _, test := range tests {
		if got, problem := Integer(test.text); got != test.want || problem != test.problem {
			t.Errorf("%s: got %d, %d, want %d, %d", test.text, got, problem, test.want, test.problem)
		}
	}
}

// TestIntegerIsExact compares with arbitrary precision.
func TestIntegerIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,3}0{0,3})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		got, problem := Integer(text)
		switch {
		case !exact.IsInt():
			if problem != Fractional {
				t.Fatalf("%s has a fraction, but is %d, %d", text, got, problem)
			}
		case !exact.Num().IsInt64():
			if problem != TooLarge {
				t.Fatalf("%s is too large, but is %d, %d", text, got, problem)
			}
		case problem != Fits || got != exact.Num().Int64():
			t.Fatalf("%s is %d, %d", text, got, problem)
		}
	})
}

// TestNumbersKeepTheirDigits: what a double cannot hold with all its digits is refused.
func TestNumbersKeepTheirDigits(t *testing.T) {
	for text, want := range map[string]Problem{
		"0.1": Fits, "1.10": Fits, "1.1000000000000000000000000000": Fits, "-0.0": Fits, "100000000000000000000000": Fits, "1e23": Fits,
		"0.30000000000000004": Fits, "1.7976931348623157e308": Fits, "5e-324": Fits, "123456789012345680": Fits, "0e999": Fits,
		"9007199254740993": Imprecise, "0.1000000000000000055511151231257827": Imprecise, "0.10000000000000001": Imprecise, "3.14159265358979323846": Imprecise,
		"12345678901234567.89": Imprecise, "4.9e-324": Imprecise, "3e-324": Imprecise, "1.5e-323": Fits, "1.2e-323": Imprecise,
		"1e400": TooLarge, "-1e309": TooLarge, "1e-400": TooLarge,
	} {
		if _, got := Number(text); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

// TestAppendFloat compares with encoding/json, which has the same conventions
// but for -0.
func TestAppendFloat(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, f float64) {
		got := string(AppendFloat([]byte("x"), f))[1:]
		want, err := json.Marshal(f + 0)
		if err != nil || got != string(want) {
			t.Fatalf("%v: got %s, want %s (%v)", f, got, want, err)
		}
		if back, err := strconv.ParseFloat(got, 64); err != nil || back != f {
			t.Fatalf("%v is written %s and read as %v (%v)", f, got, back, err)
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 9.999999e-7, 1e-7, 1.5e-10, 1e20, 1e21, 1.5e21, 1e100, -1e-9, math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, 123456789012345680000} {
		check(t, f)
	}
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Uint64().Draw(t, "bits")
		if f := math.Float64frombits(bits); !math.IsNaN(f) && !math.IsInf(f, 0) {
			check(t, f)
		}
		check(t, float64(rapid.Int64().Draw(t, "mantissa"))*math.Pow10(rapid.IntRange(-30, 5).Draw(t, "exponent")))
	})
}
