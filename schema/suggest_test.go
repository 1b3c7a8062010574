package schema

import "testing"

func TestNearest(t *testing.T) {
	keys := keyNames(attributeKeys)
	for word, want := range map[string]string{
		"typ": "type", "Type": "type", "max_length": "maxLength", "max-length": "maxLength", "maxLenght": "maxLength", "propertes": "properties",
		"reference": "references", "additional_properties": "additionalProperties", "uniq": "unique", "x": "", "": "", "nullable": "", "colour": "",
	} {
		if got := nearest(word, keys); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestOneOf(t *testing.T) {
	for _, test := range []struct {
		choices []string
		want    string
	}{
		{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a or b"}, {[]string{"a", "b", "c"}, "a, b or c"},
	} {
		if got := oneOf(test.choices); got != test.want {
			t.Errorf("%v: got %q, want %q", test.choices, got, test.want)
		}
	}
}
