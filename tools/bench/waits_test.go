//go:build linux

package bench

import (
	"io"
	"path/filepath"
	"slices"
	"testing"
)

// TestWaits is what "make bench-waits" does, with fewer rows: every request is answered as it should be.
func TestWaits(t *testing.T) {
	plan := &WaitPlan{Module: filepath.Join("..", ".."), Rows: minRows, Dir: t.TempDir()}
	all, err := plan.Run(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var statuses []int
	for _, each := range all {
		statuses = append(statuses, each.status)
	}
	if want := []int{0, 200, 200, 200, 200, 200, 413, 200}; !slices.Equal(statuses, want) {
		t.Errorf("got %v, want %v", statuses, want)
	}
	nothingLeft(t, &Plan{Dir: plan.Dir})
}
