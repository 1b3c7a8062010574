package suggest

import "testing"

func TestOneOf(t *testing.T) {
	for _, test := range []struct {
		choices []string
		want    string
	}{
		{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a or b"}, {[]string{"a", "b", "c"}, "a, b or c"},
	} {
		if got := OneOf(test.choices); got != test.want {
			t.Errorf("%v: got %q, want %q", test.choices, got, test.want)
		}
	}
}
