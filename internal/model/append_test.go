package model

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestQuoteTail compares with encoding/json, which for the sake of JavaScript
// escapes two characters more.
func TestQuoteTail(t *testing.T) {
	line := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029")
	rapid.Check(t, func(t *rapid.T) {
		awkward := rapid.SampledFrom([]string{`"`, `\`, "/", "\x00", "\n", "\r", "\t", "\b", "\f", "\x1f", "\x7f", "<", "&", "\u2028", "\u2029", "é", "\ufffd", "\U0001d11e", "a"})
		text := rapid.String().Draw(t, "any") + strings.Join(rapid.SliceOf(awkward).Draw(t, "awkward"), "")
		before := rapid.SampledFrom([]string{"", "x", `{"a":`}).Draw(t, "before")
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(strings.ReplaceAll(text, `\u202`, "")); err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, `\u202`, "") // not to be taken for the escapes
		got := quoteTail([]byte(before+text), len(before))
		if string(got) != before+line.Replace(strings.TrimSpace(want.String())) {
			t.Fatalf("got  %s\nwant %s%s", got, before, want.String())
		}
	})
}

// TestAppendFloat compares with encoding/json, which has the same conventions
// but for -0.
func TestAppendFloat(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, f float64) {
		got := string(appendFloat([]byte("x"), f))[1:]
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
