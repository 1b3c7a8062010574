// Package words finds the words of a text, in the form in which search compares them. Texts and
// searches go through the same function, so a word of one is compared with a word of the other byte
// by byte.
package words

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// MaxLength is how many characters of a word are compared.
const MaxLength = 64

// Of lists the words of a text in their order, also those that occur more than once.
func Of(text string) []string {
	return slices.Collect(Each(text))
}

// Set is the words of a text, sorted, each once.
type Set []string

// SetOf returns the set of the words of a text.
func SetOf(text string) Set {
	found := map[string]struct{}{}
	for word := range Each(text) {
		found[word] = struct{}{}
	}
	return slices.Sorted(maps.Keys(found))
}

// HasPrefix reports whether a word of the set begins with a prefix.
func (s Set) HasPrefix(prefix string) bool {
	at, _ := slices.BinarySearch(s, prefix)
	return at < len(s) && strings.HasPrefix(s[at], prefix)
}

// Each goes through the words of a text: the parts between the word boundaries of UAX 29 that have a
// letter or a digit.
func Each(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		// There is a boundary at white space, and nothing that follows changes where the others are.
		for piece := range strings.FieldsFuncSeq(text, isSpace) {
			next := nextPart
			if isASCII(piece) {
				next = nextASCII
			}
			for piece != "" {
				var part string
				part, piece = next(piece)
				if word := comparable(part); word != "" && !yield(word) {
					return
				}
			}
		}
	}
}

func isSpace(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' }

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// nextPart splits a text at its first word boundary.
func nextPart(text string) (part, rest string) {
	part, rest, _ = uniseg.FirstWordInString(text, -1)
	return part, rest
}

// nextASCII does the same for ASCII, much faster.
func nextASCII(text string) (part, rest string) {
	end := 1
	if isLetter(text[0]) || isDigit(text[0]) || text[0] == '_' {
		for end < len(text) && !isBoundary(text, end) {
			end++
		}
	}
	return text[:end], text[end:]
}

// isBoundary reports whether a word ends before a byte.
func isBoundary(text string, at int) bool {
	before, b := text[at-1], text[at]
	if isLetter(b) || isDigit(b) || b == '_' {
		return false // a sign before it was no boundary, because of this one
	}
	if at+1 == len(text) {
		return true
	}
	after := text[at+1]
	switch b {
	case '.', '\'':
		return !(isLetter(before) && isLetter(after) || isDigit(before) && isDigit(after))
	case ':':
		return !(isLetter(before) && isLetter(after))
	case ',', ';':
		return !(isDigit(before) && isDigit(after))
	}
	return true
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// comparable is the form of a word that is compared, or empty if the text is no word.
func comparable(text string) string {
	folded, isWord := foldASCII(text)
	if folded == "" {
		folded = fold(text)
		isWord = hasLetterOrDigit(folded)
	}
	if !isWord {
		return ""
	}
	return firstCharacters(folded, MaxLength)
}

// foldASCII is the fast form of fold and hasLetterOrDigit. It returns an empty text if the text has
// other characters.
func foldASCII(text string) (folded string, isWord bool) {
	upper := false
	for i := range len(text) {
		b := text[i]
		if b >= utf8.RuneSelf {
			return "", false
		}
		upper = upper || 'A' <= b && b <= 'Z'
		isWord = isWord || isLetter(b) || isDigit(b)
	}
	if !upper {
		return text, isWord
	}
	return strings.ToLower(text), isWord
}

// fold removes differences of case and marks. Folding can bring marks of its own, as of ΐ.
func fold(text string) string {
	return norm.NFC.String(withoutMarks(cases.Fold().String(withoutMarks(text))))
}

// withoutMarks decomposes characters and removes combining marks, and format characters such as the
// soft hyphen, which are invisible.
func withoutMarks(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.M, unicode.Cf) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}

func hasLetterOrDigit(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

func firstCharacters(text string, most int) string {
	if len(text) <= most {
		return text
	}
	count := 0
	for i := range text {
		if count == most {
			return text[:i]
		}
		count++
	}
	return text
}
