// Package search keeps the words of resources in the database, where searches find them: which words a
// resource has, how a table with them is built from the resources, and whether it is right.
package search

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/words"
	"github.com/plural-go/plural/problem"
)

// mark begins the words of an attribute in the index, so that those of other attributes can be left
// out. It is the number of the attribute among those that are searched.
func mark(number int) string { return string(rune('a' + number)) }

// Text is what the index has of a resource: its words with the marks of their attributes, each with a
// space before it, sorted, and each once.
func Text(c *model.Collection, record model.Record) string {
	var marked []string
	for number, column := range c.SearchColumns() {
		for word := range words.Each(record[column].Text()) {
			marked = append(marked, mark(number)+word)
		}
	}
	slices.Sort(marked)
	var text strings.Builder
	for _, word := range slices.Compact(marked) {
		text.WriteString(" " + word)
	}
	return text.String()
}

// Terms is what the index is asked for, to find words in some of the columns.
func Terms(c *model.Collection, columns []int, words []string) db.SearchTerms {
	terms := make(db.SearchTerms, len(words))
	for i, word := range words {
		for number, column := range c.SearchColumns() {
			if slices.Contains(columns, column) {
				terms[i] = append(terms[i], mark(number)+word)
			}
		}
	}
	return terms
}

// Same reports whether two states of a resource have the same words.
func Same(c *model.Collection, before, after model.Record) bool {
	return !slices.ContainsFunc(c.SearchColumns(), func(column int) bool { return before[column] != after[column] })
}

// MaxBytes is how many bytes the different words of a resource can have. PostgreSQL's tsvector has room
// for one MiB. The attributes have equal shares, so that what a caller may write does not depend on
// attributes that they may not see.
const MaxBytes = 1_000_000

// share is how many bytes the different words of one attribute can have, with their marks.
func share(c *model.Collection) int { return MaxBytes / len(c.SearchColumns()) }

// TooLong reports attributes with too many different words. Before is the previous state, nil for a new
// resource: only changed values are checked.
func TooLong(c *model.Collection, before, after model.Record) (faults problem.Errors) {
	for _, column := range c.SearchColumns() {
		text := after[column].Text()
		// Folding never makes a word three times as long.
		if len(text) <= share(c)/4 || before != nil && before[column] == after[column] {
			continue
		}
		if bytes := bytesOf(text); bytes > share(c) {
			name := c.Columns()[column].Name
			faults.Add(fault.At("/"+name, problem.CodeTooManyWords, "The different words of the text have %d bytes. At most %d can be searched. Shorten it.", bytes, share(c)))
		}
	}
	return faults
}

// bytesOf counts the bytes of the different words of an attribute, with their marks.
func bytesOf(text string) (bytes int) {
	seen := map[string]bool{}
	for word := range words.Each(text) {
		if !seen[word] {
			seen[word] = true
			bytes += len(word) + 1
		}
	}
	return bytes
}
