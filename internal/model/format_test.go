package model

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

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
