package main

import (
	"runtime"
	"testing"
	"time"
)

func TestGarbagePercent(t *testing.T) {
	const mib = 1 << 20
	for live, want := range map[uint64]int{
		0: 1600, mib: 1600, 2 * mib: 1500, 4 * mib: 700, 8 * mib: 300, 16*mib - 1: 100, 16 * mib: 100, 500 * mib: 100,
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
