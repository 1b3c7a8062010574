package db

import "testing"

func TestSuccessorOfAPrefix(t *testing.T) {
	for _, c := range []struct {
		prefix, want string
		ok           bool
	}{
		{"", "", false},
		{"a", "b", true},
		{"az", "a{", true},
		{"a\uD7FF", "a\uE000", true},
		{"a\U0010FFFF", "b", true},
		{"\U0010FFFF\U0010FFFF", "", false},
	} {
		if got, ok := Successor(c.prefix); got != c.want || ok != c.ok {
			t.Errorf("%q: got %q, %v", c.prefix, got, ok)
		}
	}
}
