package feed

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/resource"
)

// TestErrorAtTheEndOfASnapshot: a stream whose snapshot could not be completed goes on where it
// was, with nothing lost or doubled.
func TestErrorAtTheEndOfASnapshot(t *testing.T) {
	n := openNotes(t, pgtest.URL(t), Options{})
	n.run(t)
	for i := range 3 {
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: byte(i + 1)}, map[string]any{"label": strings.Repeat("a", pieceBytes/2)})
	}
	s := n.subscribe(t, Shape{Path: resource.Path{Collection: n.links}}, "")
	events := take(t, s, 2)
	working := s.ctx
	failing, cancel := context.WithCancel(working)
	cancel()
	s.ctx = failing // only the sequencer uses it here: the list has a context already
	if got, err := s.Next(context.Background()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %d events, %v", len(got), err)
	}
	s.ctx = working
	n.mustDo(t, http.MethodDelete, n.links, model.ID{15: 1}, nil)
	events = append(events, take(t, s, 2)...)
	events = append(events, take(t, s, 1)...)
	var kinds []EventKind
	for _, event := range events {
		kinds = append(kinds, event.Kind)
	}
	if want := []EventKind{Listed, Listed, Listed, Synced, Deleted}; !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
}
