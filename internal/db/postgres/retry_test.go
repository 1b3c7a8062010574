package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// TestRetryLocks: one has it, the others wait for as long as they may.
func TestRetryLocks(t *testing.T) {
	var all retryLocks
	about := resource{"users", model.ID{1}}
	never, ended := context.WithCancel(context.Background())
	ended()
	first, err := all.acquire(context.Background(), about, time.Now().Add(time.Minute))
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	if none, err := all.acquire(context.Background(), about, time.Now()); none != nil || !errors.Is(err, errContended) {
		t.Errorf("got %v, %v", none, err)
	}
	if none, err := all.acquire(never, about, time.Now().Add(time.Minute)); none != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", none, err)
	}
	if none, err := all.acquire(context.Background(), resource{}, time.Now()); none != nil || err != nil {
		t.Errorf("got %v, %v", none, err)
	}
	second := make(chan *retryLock)
	go func() {
		turn, _ := all.acquire(context.Background(), about, time.Now().Add(time.Minute))
		second <- turn
	}()
	first.release()
	(<-second).release()
	if all.contended(about) {
		t.Error("there is a line of nobody")
	}
}
