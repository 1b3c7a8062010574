package terminal

import (
	"strings"
	"testing"
)

// TestPlainText: what is written without decoding it is what would be written with it, and nothing else that has no control characters in ASCII.
func TestPlainText(t *testing.T) {
	for c := range 256 {
		text := "a" + string([]byte{byte(c)}) + "b"
		var out strings.Builder
		if _, err := (Visibly{&out}).Write([]byte(text)); err != nil || out.String() != visible(text) {
			t.Errorf("%q is written as %q, not as %q: %v", text, out.String(), visible(text), err)
		}
		if c < 0x80 && isPlain([]byte(text)) != (visible(text) == text) {
			t.Errorf("plain of %q: %v", text, isPlain([]byte(text)))
		}
	}
	for text, want := range map[string]string{"Zoë\n": "Zoë\n", "\ufffd": "\ufffd", "a\u202eb": `a\u202eb`, "\x1b[2J": `\u001b[2J`} {
		if got := visible(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
