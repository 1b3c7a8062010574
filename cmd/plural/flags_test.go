package main

import (
	"strings"
	"testing"
	"time"
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
		var r retention
		err := r.Set(text)
		if (err != nil) != (want == "") || err == nil && r.String() != want {
			t.Errorf("%q: got %s, %v", text, &r, err)
		}
	}
}
