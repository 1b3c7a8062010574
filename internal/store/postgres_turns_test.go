package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/plural-go/plural/schema"
)

// TestTurns: one has it, the others wait for as long as they may.
func TestTurns(t *testing.T) {
	var all turns
	about := contested{"users", schema.ID{1}}
	never, ended := context.WithCancel(context.Background())
	ended()
	first, err := all.join(context.Background(), about, time.Now().Add(time.Minute))
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	if none, err := all.join(context.Background(), about, time.Now()); none != nil || !errors.Is(err, errOutOfTurn) {
		t.Errorf("got %v, %v", none, err)
	}
	if none, err := all.join(never, about, time.Now().Add(time.Minute)); none != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", none, err)
	}
	if none, err := all.join(context.Background(), contested{}, time.Now()); none != nil || err != nil {
		t.Errorf("got %v, %v", none, err)
	}
	second := make(chan *turn)
	go func() {
		turn, _ := all.join(context.Background(), about, time.Now().Add(time.Minute))
		second <- turn
	}()
	first.leave()
	(<-second).leave()
	if all.waiting(about) {
		t.Error("there is a line of nobody")
	}
}
