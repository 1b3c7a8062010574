package search

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/words"
)

// shortText is the length of a text that is split again whenever its words are needed, and which Bytes counts as if all its
// words were different.
const shortText = 1 << 10

// maxRemembered bounds the words that Texts remembers, in bytes. A request gives the index less.
const maxRemembered = 4 << 20

// Texts remembers the words of long texts: a megabyte of text takes up to a second to split. So a text is split once, and
// before the transaction that stores it where it is known there. The zero value is empty.
type Texts struct {
	split map[string]splitText
	bytes int
}

type splitText struct {
	words []string // different, sorted
	bytes int      // of the words, with their marks
}

// Add splits the texts of a resource that will be stored.
func (t *Texts) Add(c *model.Collection, record model.Record) {
	for _, column := range c.SearchColumns() {
		if text := record[column].Text(); len(text) > shortText && t.bytes < maxRemembered {
			t.of(text)
		}
	}
}

// of is the words of a text.
func (t *Texts) of(text string) splitText {
	if known, ok := t.split[text]; ok {
		return known
	}
	var s splitText
	seen := map[string]struct{}{}
	for word := range words.Each(text) {
		if _, again := seen[word]; !again {
			seen[word] = struct{}{}
			s.words, s.bytes = append(s.words, word), s.bytes+len(word)+1
		}
	}
	slices.Sort(s.words)
	if len(text) > shortText && t.bytes < maxRemembered {
		if t.split == nil {
			t.split = map[string]splitText{}
		}
		t.split[text] = s
		t.bytes += s.bytes
	}
	return s
}
