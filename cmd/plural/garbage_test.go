package main

import (
	"runtime"
	"testing"
	"time"
)

func TestGarbagePercent(t *testing.T) {
	const mib = 1 << 20
	for live, want := range map[uint64]int{
		0: 700, mib: 700, 3 * mib: 700, 4 * mib: 600, 8 * mib: 250, 14*mib - 1: 100, 14 * mib: 100, 500 * mib: 100,
	} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes live: %d %%, want %d %%", live, got, want)
		}
	}
}

func TestAfterCollection(t *testing.T) {
	called := make(chan struct{}, 1)
	afterCollection(func() { called <- struct{}{} })
	select {
	case <-called:
		t.Fatal("called before the collection")
	default:
	}
	runtime.GC()
	select {
	case <-called:
	case <-time.After(5 * time.Minute):
		t.Fatal("not called after the collection")
	}
}
