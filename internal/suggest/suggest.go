// Package suggest has the words of error messages about names: the known word that is nearest to a
// misspelt one, hints for words of other systems, and lists of choices.
package suggest

import (
	"fmt"
	"strings"
)

// DidYouMean is a question to append to a message, or nothing when no choice
// is near.
func DidYouMean[T ~string](word string, choices []T) string {
	if near := Nearest(word, choices); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", near)
	}
	return ""
}

// Nearest finds the choice that a word was most likely meant to be, or returns
// nothing. Case, underscores and hyphens are what people mix up most, so they
// do not count.
func Nearest[T ~string](word string, choices []T) T {
	var best T
	word = Bare(word)
	bestDistance := min(len(word)/3+1, len(word)-1)
	for _, choice := range choices {
		if distance := editDistance(word, Bare(string(choice))); distance < bestDistance || distance == bestDistance && best == "" {
			best, bestDistance = choice, distance
		}
	}
	return best
}

var bareReplacer = strings.NewReplacer("_", "", "-", "")

// Bare is a word without what does not count when words are compared.
func Bare(word string) string { return bareReplacer.Replace(strings.ToLower(word)) }

// maxWord is longer than twice any name that there is.
const maxWord = 128

// editDistance counts the bytes to insert, delete or replace (Levenshtein).
func editDistance(from, to string) int {
	// Far too long a word is near to nothing; this bounds the work.
	if len(from) > maxWord {
		return len(from)
	}
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(from) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(to) {
			cost := diagonal
			if from[i] != to[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(to)]
}
