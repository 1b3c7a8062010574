package suggest

import "testing"

func TestNearest(t *testing.T) {
	keys := []string{"type", "format", "maxLength", "minLength", "properties", "references", "additionalProperties", "unique", "renamed_from"}
	for word, want := range map[string]string{
		"typ": "type", "Type": "type", "max_length": "maxLength", "max-length": "maxLength", "maxLenght": "maxLength", "propertes": "properties",
		"reference": "references", "additional_properties": "additionalProperties", "uniq": "unique", "x": "", "": "", "nullable": "", "colour": "",
	} {
		if got := Nearest(word, keys); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
