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

func TestArticle(t *testing.T) {
	for noun, want := range map[string]string{
		"integer": "an integer", "string": "a string", "order": "an order", "update": "an update",
		"user": "a user", "uuid": "a uuid", "uri": "a uri", "unit": "a unit", "event": "an event",
	} {
		if got := Article(noun); got != want {
			t.Errorf("%s: got %q, want %q", noun, got, want)
		}
	}
}
