package api

import (
	"strconv"
	"testing"
)

// TestDocumentsAreKept: each is made once, as long as there are not too many.
func TestDocumentsAreKept(t *testing.T) {
	kept, made := documents{all: map[string]*document{}}, 0
	ask := func(name string) *document {
		return kept.of(name, func() []byte { made++; return []byte(name) })
	}
	first := ask("a")
	if ask("a") != first || made != 1 || string(first.body) != "a" || ask("b").mark == first.mark {
		t.Errorf("made %d, %q", made, first.body)
	}
	for i := range 1000 {
		if got := ask(strconv.Itoa(i)); string(got.body) != strconv.Itoa(i) || len(kept.all) > maxDocuments {
			t.Fatalf("%d are kept, and %d is %q", len(kept.all), i, got.body)
		}
	}
}
