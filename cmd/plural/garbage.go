package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// minHeap is how far the heap may grow before it is worth collecting. With it, long lists with related
// resources stay below 64 MiB, however often they are requested: see decision 29.
const minHeap = 28 << 20

// leastGoal is the size below which Go does not collect at 100 %; at other percentages it is in proportion.
const leastGoal = 4 << 20

// delayCollections lets a small heap grow to minHeap before garbage is collected. Go collects
// when the heap has doubled, and a small server has a heap of a few MiB: it would collect
// dozens of times a second. It changes nothing for a larger heap, or if the operator has set
// GOGC or GOMEMLIMIT.
func delayCollections() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percentFor(live[0].Value.Uint64()))
	afterCollection(delayCollections)
}

// percentFor is the GC percentage at which a live heap grows to minHeap.
func percentFor(live uint64) int {
	const usual, most = 100, 100 * minHeap / leastGoal
	if live >= minHeap/2 {
		return usual
	}
	return int(min((minHeap-live)*100/max(live, 1), most)) // #nosec G115 -- at most 700
}

// afterCollection calls a function once, after the next garbage collection.
func afterCollection(do func()) {
	witness := new(*int) // unreachable; a pointer, as tiny objects without pointers share a block
	runtime.AddCleanup(witness, func(struct{}) { do() }, struct{}{})
}
