package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// minHeap is how far the heap may grow before it is worth collecting.
const minHeap = 32 << 20

// delayCollections lets a small heap grow to room before the garbage is collected. Go collects when
// the heap has doubled, and that of a server with little to keep is a few MiB: it would collect
// dozens of times in a second. A larger heap is left as it is, and so is whatever the
// operator has set.
func delayCollections() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percentFor(live[0].Value.Uint64()))
	afterCollection(delayCollections)
}

// percentFor is how much garbage there may be beside what lives, in percent of that.
func percentFor(live uint64) int {
	const usual, most = 100, 1600
	if live >= minHeap/2 {
		return usual
	}
	return int(min((minHeap-live)*100/max(live, 1), most)) // #nosec G115 -- at most 1600
}

// afterCollection calls a function once, when the garbage has been collected.
func afterCollection(do func()) {
	witness := new(*int) // that nothing refers to; a pointer, as the smallest of others share a block
	runtime.AddCleanup(witness, func(struct{}) { do() }, struct{}{})
}
