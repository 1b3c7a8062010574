package openapi

import (
	"strconv"
	"testing"
)

// TestDocumentsAreCached: each is made once, as long as there are not too many.
func TestDocumentsAreCached(t *testing.T) {
	kept, made := Cache{}, 0
	ask := func(name string) *Made {
		return kept.Of(name, func() []byte { made++; return []byte(name) })
	}
	first := ask("a")
	if ask("a") != first || made != 1 || string(first.Body) != "a" || ask("b").Mark == first.Mark {
		t.Errorf("made %d, %q", made, first.Body)
	}
	large := make([]byte, maxDocuments/10)
	for i := range 25 {
		kept.Of(strconv.Itoa(i), func() []byte { return large })
		if len(kept.all) > 12 || kept.all[strconv.Itoa(i)] == nil {
			t.Fatalf("%d are kept behind number %d", len(kept.all), i)
		}
	}
	if len(kept.all) < 2 {
		t.Errorf("only %d are kept", len(kept.all))
	}
}
