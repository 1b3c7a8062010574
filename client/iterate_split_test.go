package client

import (
	"strings"
	"testing"
)

// TestItemsAreReadOnce: an item that comes in pieces is continued where the last piece ended. Otherwise the time for an item would
// grow with the square of its length.
func TestItemsAreReadOnce(t *testing.T) {
	item := []byte(`{"text":"` + strings.Repeat(`\",]}\\`, 50) + `","list":[1,[2]]},`)
	var splitter itemSplitter
	for n := range item {
		advance, part, err := splitter.split(item[:n], false)
		if advance != 0 || part != nil || err != nil {
			t.Fatalf("after %d bytes: %d %q %v", n, advance, part, err)
		}
		if n > 0 {
			item[n-1] = ',' // would end the item if it was read again
		}
	}
	if advance, part, err := splitter.split(item, true); advance != len(item) || len(part) != len(item) || err != nil {
		t.Errorf("got %d %q %v", advance, part, err)
	}
	if splitter != (itemSplitter{}) {
		t.Errorf("the next item begins with %+v", splitter)
	}
}
