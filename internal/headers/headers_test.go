package headers

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/plural-go/plural/problem"
)

func TestPrefers(t *testing.T) {
	for prefer, want := range map[string]bool{
		"count=exact":                         true,
		`Count="exact"`:                       true,
		"return=minimal, count=exact; foo":    true,
		"count=estimated":                     false,
		"count":                               false,
		"respond-async, wait=10":              false,
		"counts=exact, count = exact;x=y,a=b": true,
	} {
		if got := PrefersExactCount(http.Header{"Prefer": {prefer}}); got != want {
			t.Errorf("%q: %v", prefer, got)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"gzip":                    true,
		"x-gzip":                  true,
		"br, gzip;q=0.5":          true,
		"*":                       true,
		"":                        false,
		"br":                      false,
		"gzip;q=0":                false,
		"gzip;q=0, *":             false,
		"*;q=0":                   false,
		"identity, deflate;q=0.1": false,
	} {
		if got := AcceptsGzip(http.Header{"Accept-Encoding": {accept}}); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

// TestClientAddress: only what trusted proxies say is believed.
func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"192.0.2.1:1234", nil, "192.0.2.1"},
		{"192.0.2.1:1234", []string{"198.51.100.7"}, "192.0.2.1"},
		{"10.0.0.1:1234", []string{"198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1:1234", []string{"203.0.113.9, 198.51.100.7", "10.0.0.2"}, "198.51.100.7"},
		{"10.0.0.1:1234", []string{"198.51.100.7:80"}, "198.51.100.7"},
		{"10.0.0.1:1234", []string{"unknown"}, "10.0.0.1"},
		{"10.0.0.1:1234", nil, "10.0.0.1"},
		{"[::1]:1234", []string{"2001:db8::1"}, "2001:db8::1"},
		{"[::ffff:192.0.2.1]:1234", nil, "192.0.2.1"},
		{"@", nil, "@"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := ClientAddress(r, trusted); got != c.want {
			t.Errorf("%s with %q: got %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
	for address, want := range map[string]string{"192.0.2.1": "192.0.2.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "@": "@"} {
		if got := Network(address); got != want {
			t.Errorf("network of %s: got %s, want %s", address, got, want)
		}
	}
}

// TestConditions compares a whole table of conditions with the state of a resource, seen with all attributes and with some.
func TestConditions(t *testing.T) {
	whole, part, other := ETag(50, 1, "k3", 0, 0, ""), ETag(50, 1, "k3", 0, 0, "ab"), ETag(51, 1, "k3", 0, 0, "")
	versioned := ETag(50, 1, "k3", 2, 0, "ab")
	if whole != `"1e.1.k3"` || part != `"1e.1.k3.ab"` || versioned != `"1e.1.k3.v2.ab"` {
		t.Fatalf("got %s, %s and %s", whole, part, versioned)
	}
	for _, c := range []struct {
		match, noneMatch []string
		changes          problem.Code // empty: a change is allowed
		unchanged        bool
	}{
		{nil, nil, "", false},
		{[]string{whole}, nil, "", false},
		{[]string{part}, nil, "", false},
		{[]string{versioned}, nil, "", false},
		{[]string{other}, nil, problem.CodePreconditionFailed, false},
		{[]string{other + ", " + whole}, nil, "", false},
		{[]string{"W/" + whole}, nil, problem.CodePreconditionFailed, false},
		{[]string{"*"}, nil, "", false},
		{nil, []string{whole}, problem.CodePreconditionFailed, true},
		{nil, []string{"W/" + whole}, problem.CodePreconditionFailed, true},
		{nil, []string{part}, problem.CodePreconditionFailed, false},
		{nil, []string{versioned}, problem.CodePreconditionFailed, false},
		{nil, []string{other}, "", false},
		{nil, []string{"*"}, problem.CodePreconditionFailed, true},
	} {
		condition, err := ParseCondition(c.match, c.noneMatch)
		if err != nil {
			t.Fatal(err)
		}
		var code problem.Code
		if err := condition.AllowsChange(whole); err != nil {
			code = err.(*problem.Error).Code
		}
		if code != c.changes {
			t.Errorf("If-Match %q, If-None-Match %q: a change is refused with %q, want %q", c.match, c.noneMatch, code, c.changes)
		}
		if c.match == nil {
			if unchanged, err := condition.AllowsReading(whole); unchanged != c.unchanged || err != nil {
				t.Errorf("If-None-Match %q: unchanged is %v, %v", c.noneMatch, unchanged, err)
			}
		}
	}
	for _, malformed := range []string{"", "1e.1.k3", `"1e" "1f"`, `"1e`, `"a b"`, `*, "1e"`} {
		if condition, err := ParseCondition([]string{malformed}, nil); err == nil {
			t.Errorf("If-Match %q: %+v", malformed, condition)
		}
	}
}
