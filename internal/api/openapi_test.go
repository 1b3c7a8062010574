package api

import (
	"strconv"
	"testing"
)

// TestDocumentsAreCached: each is made once, as long as there are not too many.
func TestDocumentsAreCached(t *testing.T) {
	kept, made := documents{all: map[string]*document{}}, 0
	ask := func(name string) *document {
		return kept.of(name, func() []byte { made++; return []byte(name) })
	}
	first := ask("a")
	if ask("a") != first || made != 1 || string(first.body) != "a" || ask("b").mark == first.mark {
		t.Errorf("made %d, %q", made, first.body)
	}
	large := make([]byte, maxDocuments/10)
	for i := range 25 {
		kept.of(strconv.Itoa(i), func() []byte { return large })
		if len(kept.all) > 12 || kept.all[strconv.Itoa(i)] == nil {
			t.Fatalf("%d are kept behind number %d", len(kept.all), i)
		}
	}
	if len(kept.all) < 2 {
		t.Errorf("only %d are kept", len(kept.all))
	}
}
