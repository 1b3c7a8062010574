package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// TestHintsAreValid: no word of a table is right by itself, or there twice, and what the hints
// on types say to write is valid.
func TestHintsAreValid(t *testing.T) {
	tables := map[string]struct {
		hints suggest.Hints
		known []string
	}{"types": {compile.TypeHints, []string{"string", "integer", "number", "boolean", "object", "array"}}, "booleans": {booleanHints, []string{"true", "false"}}}
	for _, keys := range [][]model.Keyword{rootKeys, infoKeys, collectionKeys, checkKeys, model.AttributeKeywords, model.ReferenceKeywords, grantKeys} {
		name := keys[0].Name
		tables[name] = struct {
			hints suggest.Hints
			known []string
		}{keyHints[name], model.KeywordNames(keys)}
	}
	if len(tables) != 2+len(keyHints) {
		t.Errorf("there are %d tables of hints for keys, and some are never used", len(keyHints))
	}
	for name, table := range tables {
		seen := map[string]bool{}
		for words, hint := range table.hints {
			for word := range strings.FieldsSeq(words) {
				if seen[word] || slices.Contains(table.known, word) {
					t.Errorf("%s: %s is right, or there twice", name, word)
				}
				seen[word] = true
				if table.hints.Find(strings.ToUpper(word)) != hint {
					t.Errorf("%s: %s in capitals has another hint", name, word)
				}
			}
		}
	}
	for _, hint := range compile.TypeHints {
		written, ok := strings.CutPrefix(hint, "write type: ")
		if !ok {
			continue
		}
		written = strings.ReplaceAll(written, " and ", ", ")
		if _, err := Parse([]byte("collections: {things: {attributes: {a: {type: " + written + "}}}}")); err != nil {
			t.Errorf("%s: %v", hint, err)
		}
	}
}
