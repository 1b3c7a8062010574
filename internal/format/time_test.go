package format

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

const millis = "2006-01-02T15:04:05.000Z"

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
		when, problem := DateTime(text)
		got := ""
		if problem == "" {
			got = when.Format(millis)
		}
		if got != want {
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
		got, problem := DateTime(text)
		if problem != "" || !got.Equal(when) || got.Location() != time.UTC {
			t.Fatalf("%s is %s (%s), want %s", text, got, problem, when)
		}
	})
}
