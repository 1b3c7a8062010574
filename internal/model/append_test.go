package model

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestQuoteTail compares with encoding/json, which for the sake of JavaScript
// escapes two characters more.
func TestQuoteTail(t *testing.T) {
	line := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029")
	rapid.Check(t, func(t *rapid.T) {
		awkward := rapid.SampledFrom([]string{`"`, `\`, "/", "\x00", "\n", "\r", "\t", "\b", "\f", "\x1f", "\x7f", "<", "&", "\u2028", "\u2029", "é", "\ufffd", "\U0001d11e", "a"})
		text := rapid.String().Draw(t, "any") + strings.Join(rapid.SliceOf(awkward).Draw(t, "awkward"), "")
		before := rapid.SampledFrom([]string{"", "x", `{"a":`}).Draw(t, "before")
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(strings.ReplaceAll(text, `\u202`, "")); err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, `\u202`, "") // not to be taken for the escapes
		got := quoteTail([]byte(before+text), len(before))
		if string(got) != before+line.Replace(strings.TrimSpace(want.String())) {
			t.Fatalf("got  %s\nwant %s%s", got, before, want.String())
		}
	})
}
