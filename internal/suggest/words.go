package suggest

import (
	"strconv"
	"strings"
)

// OneOf lists choices as people do: "a, b or c".
func OneOf[T ~string](choices []T) string {
	var b strings.Builder
	for i, choice := range choices {
		switch {
		case i > 0 && i == len(choices)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(choice))
	}
	return b.String()
}

// Counted is a number with a noun, in the plural unless there is one: 1 resource, 2 resources.
func Counted[N int | int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}

// Article puts the indefinite article before a noun, as it is spoken: an order, a user.
func Article(noun string) string {
	for _, start := range []string{"us", "uni", "uti", "uu", "ur", "eu", "one"} {
		if strings.HasPrefix(noun, start) {
			return "a " + noun
		}
	}
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// Hints are what to write, by the words that people write instead.
type Hints map[string]string

// Find is what to write in place of a word, "" if nothing is known of it.
func (h Hints) Find(word string) string {
	for words, hint := range h {
		for each := range strings.FieldsSeq(words) {
			if Bare(each) == Bare(word) {
				return hint
			}
		}
	}
	return ""
}

// Instead is what to write in place of a word: by the Hints, or else one of the choices.
func Instead[T ~string](word string, h Hints, choices []T) string {
	if hint := h.Find(word); hint != "" {
		return ": " + hint
	}
	return DidYouMean(word, choices) + ": use " + OneOf(choices)
}
