package sqlite

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// change replaces words of a resource. The index gets only what differs: it has seven entries for each word, and a long
// text, of which a few words have changed, would take a second.
func (r *ranks) change(rank int64, row db.ResourceWords) error {
	var stored string
	if _, err := db.One(r.conn, func(row model.Row) { stored = row.Text(0) },
		"SELECT _words FROM "+r.table+" WHERE _rank = $1", model.IntValue(rank)); err != nil {
		return err
	}
	before, after := splitWords(stored), splitWords(row.Words)
	if row.Marks != "" {
		for _, word := range before {
			if mark, _ := utf8.DecodeRuneInString(word); !strings.ContainsRune(row.Marks, mark) {
				after = append(after, word)
			}
		}
		slices.Sort(after)
	}
	removed, added := differences(before, after)
	if len(removed)+len(added) == 0 {
		return nil
	}
	// FTS5 counts the rows and the words that it has. So each of the two statements has to be there, even without words, and
	// a word that is added again is removed first.
	again := slices.DeleteFunc(restored(removed, after), func(word string) bool {
		_, isNew := slices.BinarySearch(added, word)
		return isNew
	})
	removed, added = append(removed, again...), append(added, again...)
	slices.Sort(removed)
	slices.Sort(added)
	number := model.IntValue(rank)
	if _, err := r.conn.Exec("INSERT INTO "+r.index+" ("+r.index+", rowid, _words) VALUES ('delete', $1, $2)", number, model.TextValue(joinWords(removed))); err != nil {
		return err
	}
	if _, err := r.conn.Exec("INSERT INTO "+r.index+" (rowid, _words) VALUES ($1, $2)", number, model.TextValue(joinWords(added))); err != nil {
		return err
	}
	_, err := r.conn.Exec("UPDATE "+r.table+" SET _words = $1 WHERE _rank = $2", model.TextValue(joinWords(after)), number)
	return err
}

// splitWords and joinWords convert between a text in which each word has a space before it, and the words.
func splitWords(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text[1:], " ")
}

func joinWords(words []string) string {
	var text strings.Builder
	for _, word := range words {
		text.WriteString(" ")
		text.WriteString(word)
	}
	return text.String()
}

// differences compares two sorted lists.
func differences(before, after []string) (removed, added []string) {
	for len(before) > 0 && len(after) > 0 {
		switch order := strings.Compare(before[0], after[0]); {
		case order < 0:
			removed, before = append(removed, before[0]), before[1:]
		case order > 0:
			added, after = append(added, after[0]), after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
	return append(removed, before...), append(added, after...)
}

// restored lists words that have to be added to the index again: it has lost their prefixes, which removed words had as
// well. One word for each prefix is enough.
func restored(removed, after []string) []string {
	again := map[string]bool{}
	last := ""
	for _, word := range removed {
		characters, number := 0, 0
		for i := range word + " " { // ends after each character, and after the last one
			if number < len(prefixes) && characters == prefixes[number] {
				number++
				if prefix := word[:i]; !strings.HasPrefix(last, prefix) { // the word before has not lost it too
					at, _ := slices.BinarySearch(after, prefix)
					if at < len(after) && strings.HasPrefix(after[at], prefix) {
						again[after[at]] = true
					}
				}
			}
			characters++
		}
		last = word
	}
	return slices.Collect(maps.Keys(again))
}
