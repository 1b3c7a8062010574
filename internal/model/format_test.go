package model

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

func TestDateTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-14T09:30:00Z":          "2026-11-14T09:30:00.000Z",
		"2026-11-14t09:30:00z":          "2026-11-14T09:30:00.000Z",
		"2026-11-14T09:30:00.1Z":        "2026-11-14T09:30:00.100Z",
		"2026-11-14T09:30:00.123Z":      "2026-11-14T09:30:00.123Z",
		"2026-11-14T09:30:00.05+01:30":  "2026-11-14T08:00:00.050Z",
		"2026-11-14T00:00:00-00:00":     "2026-11-14T00:00:00.000Z",
		"2024-02-29T23:59:59.999-23:59": "2024-03-01T23:58:59.999Z",
		"0000-01-01T00:00:00Z":          "0000-01-01T00:00:00.000Z",
		"9999-12-31T23:59:59.999Z":      "9999-12-31T23:59:59.999Z",

		"":                                      "",
		"2026-11-14":                            "",
		"2026-11-14 09:30:00Z":                  "",
		"2026-11-14T09:30:00":                   "",
		"2026-11-14T09:30Z":                     "",
		"2026-11-14T9:30:00.5Z":                 "",
		"2026-11-14T09:30:00.Z":                 "",
		"2026-11-14T09:30:00,1234Z":             "",
		"2026-11-14T09:30:00,123Z":              "",
		"2026-11-14T09:30:00.1234Z":             "",
		"2026-11-14T09:30:00.1230Z":             "",
		"2026-11-14T24:00:00Z":                  "",
		"2026-11-14T09:60:00Z":                  "",
		"2016-12-31T23:59:60Z":                  "", // a leap second
		"2026-02-29T09:30:00Z":                  "",
		"2026-11-14T09:30:00+24:00":             "",
		"2026-11-14T09:30:00+01:60":             "",
		"2026-11-14T09:30:00+0100":              "",
		"2026-11-14T09:30:00+01":                "",
		"2026-11-14T09:30:00ZZ":                 "",
		"2026-11-14T09:30:00Z ":                 "",
		" 2026-11-14T09:30:00Z":                 "",
		"+2026-11-14T09:30:00Z":                 "",
		"0000-01-01T00:00:00+01:00":             "",
		"9999-12-31T23:59:59-00:01":             "",
		"2026-11-14T09:30:00.123\u00e9Z":        "",
		"2026-11-14T09:30:00" + "\u2212" + "01": "",
	} {
		got, problem := parseDateTime(text)
		if got != want || (problem == "") != (want != "") {
			t.Errorf("%q: got %q (%s), want %q", text, got, problem, want)
		}
	}
}

// TestDateTimesMeanTheirTime writes random times in random forms.
func TestDateTimesMeanTheirTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		millis := rapid.Int64Range(-62135596800000+86400000, 253402300799999-86400000).Draw(t, "millis")
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "minutes"))
		when := time.UnixMilli(millis)
		text := when.In(zone).Format(rapid.SampledFrom([]string{"2006-01-02T15:04:05.000Z07:00", "2006-01-02T15:04:05.999Z07:00", "2006-01-02t15:04:05.000-07:00"}).Draw(t, "form"))
		got, problem := parseDateTime(text)
		if problem != "" || got != FormatTime(when) {
			t.Fatalf("%s is %s (%s), want %s", text, got, problem, FormatTime(when))
		}
	})
}

// TestTimesAreFormatted compares with package time, also beyond the years that a client can write.
func TestTimesAreFormatted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		when := time.UnixMicro(rapid.Int64Range(-62200000000000000, 253500000000000000).Draw(t, "micros"))
		when = when.In(time.FixedZone("", 60*rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "minutes")))
		if got, want := FormatTime(when), when.UTC().Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Fatalf("%v is %s, want %s", when, got, want)
		}
	})
}

func TestFormats(t *testing.T) {
	tests := map[Format]struct{ valid, invalid []string }{
		Date: {
			[]string{"2026-11-14", "2024-02-29", "0001-01-01"},
			[]string{"", "2026-11-1", "2026-1-14", "14.11.2026", "2026-13-01", "2026-02-29", "2026-11-14T00:00:00Z", "2026-11-14 ", "+2026-11-14", "20261114"},
		},
		UUID: {
			[]string{"01936f2e-7d3c-7a4b-9c5d-0123456789ab", "01936F2E-7D3C-7A4B-9C5D-0123456789AB", "00000000-0000-0000-0000-000000000000"},
			[]string{"", "01936f2e7d3c7a4b9c5d0123456789ab", "{01936f2e-7d3c-7a4b-9c5d-0123456789ab}", "urn:uuid:01936f2e-7d3c-7a4b-9c5d-0123456789ab"},
		},
		Email: {
			[]string{"ada@example.com", "a@b", "a.b+c@d-e.f", "!#$%&'*+-/=?^_`{|}~@x.y", `"a b@c\""@x.y`, "a@[127.0.0.1]", "a@[IPv6:::1]",
				strings.Repeat("a", 64) + "@x", "a@" + strings.Repeat("x", 63) + ".y"},
			[]string{"", "a", "@b", "a@", "a b@c", ".a@b", "a.@b", "a..b@c", "a@b..c", "a@.b", "a@b.", "a@-b", "a@b-", "a@b_c", "a@b c", "é@b.c", "a@é.c", "<a@b>", "Ada <a@b>",
				`"@b`, `""@b`, `"a"b"@c`, `"a\"@c`, "a@[127.0.0.1", "a@[::1]", "a@[IPv6:127.0.0.1]", "a@[IPv6:fe80::1%25e]", "a@b@c", "a@b\n",
				strings.Repeat("a", 65) + "@x", "a@" + strings.Repeat("x", 64), "a@" + strings.Repeat("x.", 127) + "x"},
		},
		URI: {
			[]string{"https://example.com/a", "http://user@[::1]:8080/a?b=%20#c", "mailto:ada@example.com", "urn:isbn:0", "a:b", "a+b-c.d:/", "file:///x", "urn:a%20b", "http://x/?a=[b]"},
			[]string{"", "example.com", "/a", "//a/b", "a", ":a", "1a:b", "a:", "http://a b", "http://a/\u00e9", "http://a/%zz", "http://a/?%zz", "http://a/#%zz", "urn:%zz", "mailto:%",
				"http://a/#b#c", "http://a/\"", "http://a/<b>", `http://a\b`, "http://[::1", "http://a:b/", "http://a/\x7f"},
		},
	}
	for format, test := range tests {
		for _, text := range test.valid {
			if value, problem := parseFormat(format, text); problem != "" || value.IsNull() {
				t.Errorf("%s: %q is refused: %s", format, text, problem)
			}
		}
		for _, text := range test.invalid {
			if value, problem := parseFormat(format, text); problem == "" || !value.IsNull() {
				t.Errorf("%s: %q is accepted as %v", format, text, value)
			}
		}
	}
}

// TestFormatsAgainstJSONSchema compares date-time, date and uuid with another
// implementation, on texts that are nearly right. It takes leap seconds, years
// that leave 0000 to 9999 in UTC, and any number of digits; we do not.
func TestFormatsAgainstJSONSchema(t *testing.T) {
	seeds := map[Format][]string{
		DateTime: {"2026-11-14T09:30:00.123+01:00", "2026-11-14T09:30:00.12Z", "2024-02-29T23:59:59-23:59", "2026-11-14T09:30:00,1234Z"},
		Date:     {"2026-11-14", "2024-02-29"},
		UUID:     {"01936f2e-7d3c-7a4b-9c5d-0123456789ab"},
	}
	syntax := map[Format]*regexp.Regexp{
		DateTime: regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$`),
		Date:     regexp.MustCompile(`^\d{4}-\d\d-\d\d$`),
		UUID:     regexp.MustCompile(`^[0-9A-Fa-f-]{36}$`),
	}
	for format, texts := range seeds {
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if err := compiler.AddResource("x.json", map[string]any{"format": string(format)}); err != nil {
			t.Fatal(err)
		}
		other := compiler.MustCompile("x.json")
		rapid.Check(t, func(t *rapid.T) {
			text := []byte(rapid.SampledFrom(texts).Draw(t, "text"))
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
				text[at] = rapid.SampledFrom([]byte("0123456789:.,-+TtZz aF")).Draw(t, "to")
				if rapid.IntRange(0, 5).Draw(t, "cut") == 0 {
					text = append(text[:at], text[at+1:]...)
				}
			}
			second := format == DateTime && len(text) > 18 && string(text[17:19]) == "60"
			_, problem := parseFormat(format, string(text))
			if strings.Contains(problem, "three digits") || strings.Contains(problem, "9999") || second {
				return
			}
			err := other.Validate(string(text))
			// The other one takes a sign for a digit.
			if valid := err == nil && syntax[format].Match(text); valid != (problem == "") {
				t.Fatalf("%s %q: we say %q, the other one %v", format, text, problem, err)
			}
		})
	}
}

func TestParseInteger(t *testing.T) {
	tests := []struct {
		text    string
		want    int64
		problem numberProblem
	}{
		{"0", 0, noProblem}, {"-0", 0, noProblem}, {"1.0", 1, noProblem}, {"1e3", 1000, noProblem}, {"1.5e1", 15, noProblem}, {"-1E+2", -100, noProblem}, {"100e-2", 1, noProblem},
		{"9223372036854775807", math.MaxInt64, noProblem}, {"-9223372036854775808.000", math.MinInt64, noProblem}, {"922337203685477580.7e1", math.MaxInt64, noProblem},
		{"0e999999999999999999999", 0, noProblem}, {"0.0e-999999999999999999999", 0, noProblem}, {"1" + strings.Repeat("0", 400) + "e-400", 1, noProblem},
		{"1.5", 0, fractional}, {"1e-1", 0, fractional}, {"15e-1", 0, fractional}, {"1e-999999999999999999999", 0, fractional}, {"1e-2147483648", 0, fractional},
		{"9223372036854775808", 0, tooLarge}, {"-9223372036854775809", 0, tooLarge}, {"1e19", 0, tooLarge}, {"1e999999999999999999999", 0, tooLarge}, {"1e2147483647", 0, tooLarge},
	}
	for _, test := range tests {
		if got, problem := parseInteger(test.text); got != test.want || problem != test.problem {
			t.Errorf("%s: got %d, %d, want %d, %d", test.text, got, problem, test.want, test.problem)
		}
	}
}

// TestParseIntegerIsExact compares with arbitrary precision.
func TestParseIntegerIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,3}0{0,3})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		got, problem := parseInteger(text)
		switch {
		case !exact.IsInt():
			if problem != fractional {
				t.Fatalf("%s has a fraction, but is %d, %d", text, got, problem)
			}
		case !exact.Num().IsInt64():
			if problem != tooLarge {
				t.Fatalf("%s is too large, but is %d, %d", text, got, problem)
			}
		case problem != noProblem || got != exact.Num().Int64():
			t.Fatalf("%s is %d, %d", text, got, problem)
		}
	})
}

func TestParseNumberText(t *testing.T) {
	for _, text := range []string{"", " 1", "1 ", "+1", "01", ".5", "1.", "0x10", "1_0", "Inf", "NaN", "1e", "true", `"1"`, "1,2", "--1", "1\n", "١", "1e400"} {
		for _, kind := range []Kind{KindInteger, KindNumber} {
			if value, problem := kind.Parse(text); problem == "" || !value.IsNull() {
				t.Errorf("kind %d takes %q for %v", kind, text, value)
			}
		}
	}
	if value, problem := KindNumber.Parse("1e-400"); problem == "" || !value.IsNull() {
		t.Errorf("1e-400 is %v, and is too small to be told from zero", value)
	}
	for text, want := range map[string]float64{"-0": 0, "1e3": 1000, "0.1": 0.1, "0e-400": 0, "-0.00e400": 0, "5e-324": 5e-324, "1E+2": 100, strconv.FormatFloat(math.MaxFloat64, 'g', -1, 64): math.MaxFloat64} {
		if value, problem := KindNumber.Parse(text); problem != "" || value != FloatValue(want) {
			t.Errorf("%s is %v (%s), want %v", text, value, problem, want)
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
