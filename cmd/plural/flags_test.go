package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "512KiB": 512 << 10, "1MiB": 1 << 20, "2GiB": 2 << 30, "7B": 7, "0": -1, "-1": -1, "1MB": -1, "": -1, "9999999999GiB": -1} {
		var b byteSize
		err := b.Set(text)
		if (err != nil) != (want == -1) || err == nil && int64(b) != want {
			t.Errorf("%q: got %d, %v", text, b, err)
		}
	}
	for n, want := range map[int64]string{0: "0", 1: "1", 1000: "1000", 1 << 10: "1KiB", 3 << 20: "3MiB", 1 << 30: "1GiB"} {
		b := byteSize(n)
		if got := b.String(); got != want {
			t.Errorf("%d: got %q", n, got)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"30s": 30 * time.Second, "7d": 7 * 24 * time.Hour, "1h30m": 90 * time.Minute, "forever": 0, "": 0, "-1s": 0, "0s": 0, "5": 0, "99999999d": 0} {
		var d duration
		err := d.Set(text)
		if (err != nil) != (want == 0) || err == nil && time.Duration(d) != want {
			t.Errorf("%q: got %v, %v", text, time.Duration(d), err)
		}
		if err == nil && !strings.HasPrefix(d.String(), text) {
			t.Errorf("%q is shown as %q", text, d.String())
		}
	}
}

func TestRetention(t *testing.T) {
	for text, want := range map[string]string{"forever": "forever", "30d": "30d", "12h": "12h0m0s", "never": "", "-1s": "", "": ""} {
		var span time.Duration
		r := retention(&span)
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
		{new(rate), "20/s", "20/s"}, {new(rate), "600/m", "600/m"}, {new(rate), "none", "none"},
		{new(rate), "0/s", "must be none, or requests in a second, minute or hour, such as 20/s, 600/m or 5000/h"},
		{new(rate), "20", "must be none, or requests in a second, minute or hour, such as 20/s, 600/m or 5000/h"},
		{new(prefixes), "10.0.0.0/8, ::1", "10.0.0.0/8,::1/128"}, {new(prefixes), "192.0.2.1", "192.0.2.1/32"},
		{new(prefixes), "everybody", "must be addresses such as 10.0.0.0/8 or ::1, separated by commas"},
		{new(words), "https://a.example, https://b.example,", "https://a.example,https://b.example"},
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
