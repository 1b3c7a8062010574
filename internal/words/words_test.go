package words

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	long := strings.Repeat("ä", 100)
	for text, want := range map[string][]string{
		"":                           nil,
		" \t\n":                      nil,
		"!?… — 😀 «»":                 nil,
		"Ada Lovelace":               {"ada", "lovelace"},
		"ada ADA Ada":                {"ada", "ada", "ada"},
		"e-mail, can't (3.14) 1,000": {"e", "mail", "can't", "3.14", "1,000"},
		"snake_case ada@example.org": {"snake_case", "ada", "example.org"},
		// Case: full folding, so that one character may become several.
		"Straße STRASSE ẞ":  {"strasse", "strasse", "ss"},
		"ΣΊΣΥΦΟΣ σίσυφος ΐ": {"σισυφοσ", "σισυφοσ", "ι"},
		"İstanbul ıI ŉ":     {"istanbul", "ıi", "ʼn"},
		"ﬁne ŒUVRE":         {"fine", "œuvre"},
		// Marks are removed, composed or not. Letters that only look like they have one stay.
		"Müller Mu\u0308ller Ångström": {"muller", "muller", "angstrom"},
		"łódź Ørsted Đặng":             {"łodz", "ørsted", "đang"},
		"שָׁלוֹם مُحَمَّد":             {"שלום", "محمد"},
		"co\u00adoperate a\u200db":     {"cooperate", "ab"},
		"\u0301\u0302":                 nil,
		// Other scripts.
		"東京タワー":        {"東", "京", "タワー"},
		"서울 한국어":       {"서울", "한국어"},
		"Привет, МИР!": {"привет", "мир"},
		"٣٤ Ⅷ ½":       {"٣٤", "ⅷ", "½"},
		// Only the first characters are compared.
		long:                           {strings.Repeat("a", 64)},
		strings.Repeat("a", 64):        {strings.Repeat("a", 64)},
		strings.Repeat("x", 65):        {strings.Repeat("x", 64)},
		strings.Repeat("é", 65) + " b": {strings.Repeat("e", 64), "b"},
		strings.Repeat("я", 65):        {strings.Repeat("я", 64)},
	} {
		if got := Of(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestWordsOfAnyText checks what the index relies on, with texts of awkward characters.
func TestWordsOfAnyText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(
			rapid.SampledFrom([]rune("aAbßẞſKÅéİıΐςŉﬀ'’.,:;_\"·\u0300\u0301\u034f\u00ad\u200d\u200b\u202f\u2028 1٣½東タ한\u1100\u1161กि🇩👩\u05d0")),
			rapid.SampledFrom([]rune("aZ09_.,:;' \"\t-")), rapid.SampledFrom([]rune("aZ09_.,:;' \"\t-")), rapid.SampledFrom([]rune("aZ09_.,:;' \"\t-")),
			rapid.Rune(),
		)).Draw(rt, "text")
		for _, word := range Of(text) {
			switch {
			case word == "" || utf8.RuneCountInString(word) > MaxLength || !utf8.ValidString(word):
				rt.Fatalf("%q has the word %q", text, word)
			case strings.ContainsAny(word, " \t\r\n\v\f\x00"):
				rt.Fatalf("%q has the word %q, with a separator of the index", text, word)
			case strings.IndexFunc(word, func(r rune) bool { return unicode.In(r, unicode.M, unicode.Cf) || 'A' <= r && r <= 'Z' }) >= 0:
				rt.Fatalf("%q has the word %q, which is not folded", text, word)
			}
		}
		var slow []string // without any shortcut
		for rest, state := text, -1; rest != ""; {
			var part string
			part, rest, state = uniseg.FirstWordInString(rest, state)
			if folded := fold(part); hasLetterOrDigit(folded) {
				slow = append(slow, firstCharacters(folded, MaxLength))
			}
		}
		if got := Of(text); !slices.Equal(got, slow) {
			rt.Fatalf("%q: got %q, want %q", text, got, slow)
		}
		for _, part := range strings.Fields(text) {
			slow := fold(part)
			if fast, _ := foldASCII(part); fast != "" && fast != slow {
				rt.Fatalf("%q is folded to %q and %q", part, fast, slow)
			}
		}
	})
}

func BenchmarkWords(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, can't it? ", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for range Each(text) {
		}
	}
}
