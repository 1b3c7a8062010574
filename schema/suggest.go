package schema

import (
	"fmt"
	"strings"
)

// oneOf lists choices as people do: "a, b or c".
func oneOf[T ~string](choices []T) string {
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

// didYouMean is a question to append to a message, or nothing when no choice
// is near.
func didYouMean[T ~string](word string, choices []T) string {
	if near := nearest(word, choices); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", near)
	}
	return ""
}

// nearest finds the choice that a word was most likely meant to be, or returns
// nothing. Case, underscores and hyphens are what people mix up most, so they
// do not count.
func nearest[T ~string](word string, choices []T) T {
	var best T
	word = bare(word)
	bestDistance := min(len(word)/3+1, len(word)-1)
	for _, choice := range choices {
		if distance := editDistance(word, bare(string(choice))); distance < bestDistance || distance == bestDistance && best == "" {
			best, bestDistance = choice, distance
		}
	}
	return best
}

var bareReplacer = strings.NewReplacer("_", "", "-", "")

func bare(word string) string { return bareReplacer.Replace(strings.ToLower(word)) }

// editDistance counts the bytes to insert, delete or replace (Levenshtein).
func editDistance(from, to string) int {
	// Far too long a word is near to nothing; this bounds the work.
	if len(from) > 2*maxName {
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
