package main

import (
	"testing"

	"github.com/spf13/pflag"
)

// TestAccessFlags: what is shown is what can be given, and mistakes say what would be right.
func TestAccessFlags(t *testing.T) {
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
