package model

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseID(t *testing.T) {
	want := ID{0x01, 0x93, 0x6f, 0x2e, 0x7d, 0x3c, 0x7a, 0x4b, 0x9c, 0x5d, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab}
	const text = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	for _, form := range []string{text, strings.ToUpper(text), "01936F2e-7d3c-7A4b-9c5d-0123456789aB"} {
		if got, ok := ParseID(form); !ok || got != want {
			t.Errorf("%s is %v, %v", form, got, ok)
		}
		if got, ok := ParseID([]byte(form)); !ok || got != want {
			t.Errorf("%s as bytes is %v, %v", form, got, ok)
		}
	}
	for _, form := range []string{
		"", "x", strings.ReplaceAll(text, "-", ""), "{" + text + "}", "urn:uuid:" + text, " " + text, text + " ", text[:35], text + "0",
		strings.Replace(text, "-", "_", 1), strings.Replace(text, "-", "0", 1), strings.Replace(text, "a", "g", 1), strings.Replace(text, "f", "-", 1),
		"0193-6f2e7d3c-7a4b-9c5d-0123456789ab", strings.Replace(text, "01", "\u0660", 1), strings.Repeat("-", 36),
		"01936f2e-7d3c-7a4b-9c5d-01-3456789ab", "-1936f2e-7d3c-7a4b-9c5d-0123456789ab", "01936f2e-7d3c-7a4b-9c5d-0123456789-b", "01936f2e-7d3c-7a4b-9c5d-----------ab",
	} {
		if got, ok := ParseID(form); ok || got != (ID{}) {
			t.Errorf("%q is accepted as %v", form, got)
		}
	}
}

func TestIDTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		text := id.String()
		if got, ok := ParseID(text); !ok || got != id || text != strings.ToLower(text) || len(text) != 36 {
			t.Fatalf("%v is %q, which is %v, %v", id[:], text, got, ok)
		}
	})
}
