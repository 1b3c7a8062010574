// Package search keeps the words of resources in the database, where searches find them: which words a
// resource has, how a table with them is built from the resources, and whether it is right.
package search

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// mark begins the words of an attribute in the index, so that those of other attributes can be left
// out. It is the number of the attribute among those that are searched.
func mark(number int) string { return string(rune('a' + number)) }

func marks(numbers []int) (marks string) {
	for _, number := range numbers {
		marks += mark(number)
	}
	return marks
}

// Text is what the index has of a resource: its words with the marks of their attributes, each with a
// space before it, sorted, and each once.
func Text(c *model.Collection, record model.Record) string {
	return textOf(new(Texts), c, record, changedNumbers(c, nil, record))
}

// textOf is the part of Text that has the words of some attributes.
func textOf(texts *Texts, c *model.Collection, record model.Record, numbers []int) string {
	var text strings.Builder
	for _, number := range numbers { // the marks have the same order
		start, split := " "+mark(number), texts.of(record[c.SearchColumns()[number]].Text())
		text.Grow(split.bytes + len(split.words))
		for _, word := range split.words {
			text.WriteString(start)
			text.WriteString(word)
		}
	}
	return text.String()
}

// changedNumbers lists the numbers of the attributes that are searched and differ. Of a new resource, before is nil, and all
// differ.
func changedNumbers(c *model.Collection, before, after model.Record) (numbers []int) {
	for number, column := range c.SearchColumns() {
		if before == nil || before[column] != after[column] {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// lengthWithout counts the bytes of the texts that are searched, without those of some attributes.
func lengthWithout(c *model.Collection, record model.Record, numbers []int) (length int) {
	for number, column := range c.SearchColumns() {
		if !slices.Contains(numbers, number) {
			length += len(record[column].Text())
		}
	}
	return length
}

// Terms is what the index is asked for, to find words in some of the columns.
func Terms(c *model.Collection, columns []int, words []string) db.SearchTerms {
	terms := make(db.SearchTerms, len(words))
	for i, word := range words {
		for number, column := range c.SearchColumns() {
			if slices.Contains(columns, column) {
				terms[i].Prefixes = append(terms[i].Prefixes, mark(number)+word)
			}
		}
	}
	return terms
}

// MaxBytes is how many bytes the different words of a resource can have. PostgreSQL's tsvector has room
// for one MiB. The attributes have equal shares, so that what a caller may write does not depend on
// attributes that they may not see.
const MaxBytes = 1_000_000

// share is how many bytes the different words of one attribute can have, with their marks.
func share(c *model.Collection) int { return MaxBytes / len(c.SearchColumns()) }

// TooLong reports attributes of resources with too many different words; nil: there are none. Before are the previous
// states, nil for new resources: only changed values are checked.
func TooLong(texts *Texts, c *model.Collection, before, after []model.Record) (faults []problem.Errors) {
	for _, column := range c.SearchColumns() {
		for i, record := range after {
			text := record[column].Text()
			// Folding never makes a word three times as long.
			if len(text) <= share(c)/4 || before != nil && before[i][column] == record[column] {
				continue
			}
			bytes := texts.of(text).bytes
			if bytes <= share(c) {
				continue
			}
			if faults == nil {
				faults = make([]problem.Errors, len(after))
			}
			name := c.Columns()[column].Name
			faults[i].Add(fault.At("/"+name, problem.CodeTooManyWords, "The different words of the text have %d bytes. At most %d can be searched. Shorten it.", bytes, share(c)))
		}
	}
	return faults
}

// Bytes counts the bytes of the different words that resources get, those of each by themselves. Before are the previous
// states, or nil: values that stay are not counted.
func Bytes(texts *Texts, c *model.Collection, before, after []model.Record) (bytes int) {
	for _, column := range c.SearchColumns() {
		for i, record := range after {
			if before[i] != nil && before[i][column] == record[column] {
				continue
			}
			text := record[column].Text()
			size := len(text)
			if size > shortText {
				size = min(texts.of(text).bytes, share(c)) // more is refused by TooLong
			}
			bytes += size
		}
	}
	return bytes
}
