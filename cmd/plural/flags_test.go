package main

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/plural-go/plural/schema"
)

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "512KiB": 512 << 10, "1MiB": 1 << 20, "2GiB": 2 << 30, "7B": 7, "0": -1, "-1": -1, "1MB": -1, "": -1, "9999999999GiB": -1} {
		var n int64
		err := bytesOf(&n).Set(text)
		if (err != nil) != (want == -1) || err == nil && n != want {
			t.Errorf("%q: got %d, %v", text, n, err)
		}
	}
	for n, want := range map[int64]string{0: "0", 1: "1", 1000: "1000", 1 << 10: "1KiB", 3 << 20: "3MiB", 1 << 30: "1GiB"} {
		if got := bytesOf(&n).String(); got != want {
			t.Errorf("%d: got %q", n, got)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"30s": 30 * time.Second, "7d": 7 * 24 * time.Hour, "1h30m": 90 * time.Minute, "forever": 0, "": 0, "-1s": 0, "0s": 0, "5": 0, "99999999d": 0} {
		var d time.Duration
		err := span(&d).Set(text)
		if (err != nil) != (want == 0) || err == nil && d != want {
			t.Errorf("%q: got %v, %v", text, d, err)
		}
		if shown := span(&d).String(); err == nil && !strings.HasPrefix(shown, text) {
			t.Errorf("%q is shown as %q", text, shown)
		}
	}
}

func TestRetention(t *testing.T) {
	for text, want := range map[string]string{"forever": "forever", "30d": "30d", "12h": "12h0m0s", "never": "", "-1s": "", "": ""} {
		var d time.Duration
		r := orWord(span(&d), "forever")
		err := r.Set(text)
		if (err != nil) != (want == "") || err == nil && r.String() != want {
			t.Errorf("%q: got %s, %v", text, r, err)
		}
	}
}

// TestOtherFlags: what is shown is what can be given, and mistakes say what would be right.
func TestOtherFlags(t *testing.T) {
	for _, c := range []struct {
		flag        pflag.Value
		given, want string // or the error
	}{
		{rate(new(schema.Rate)), "20/s", "20/s"}, {rate(new(schema.Rate)), "600/m", "600/m"}, {rate(new(schema.Rate)), "none", "none"},
		{rate(new(schema.Rate)), "0/s", "must be none, or requests in a second, minute or hour, such as 20/s, 600/m or 5000/h"},
		{rate(new(schema.Rate)), "20", "must be none, or requests in a second, minute or hour, such as 20/s, 600/m or 5000/h"},
		{prefixes(new([]netip.Prefix)), "10.0.0.0/8, ::1", "10.0.0.0/8,::1/128"}, {prefixes(new([]netip.Prefix)), "192.0.2.1", "192.0.2.1/32"},
		{prefixes(new([]netip.Prefix)), "everybody", "must be addresses such as 10.0.0.0/8 or ::1, separated by commas"},
		{words(new([]string)), "https://a.example, https://b.example,", "https://a.example,https://b.example"},
	} {
		got := ""
		if err := c.flag.Set(c.given); err != nil {
			got = err.Error()
		} else {
			got = c.flag.String()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.given, got, c.want)
		}
	}
}
