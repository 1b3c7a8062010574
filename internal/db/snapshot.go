package db

import "slices"

// Snapshot is a set of transactions that a snapshot sees, by their numbers. The zero value sees
// none.
type Snapshot struct {
	Min     uint64   // all below are seen
	Max     uint64   // none from here on
	Running []uint64 // between, not seen; sorted
}

// Has reports whether the snapshot sees a transaction. Zero is no transaction.
func (s Snapshot) Has(transaction uint64) bool {
	if transaction == 0 || transaction >= s.Max {
		return false
	}
	_, running := slices.BinarySearch(s.Running, transaction)
	return !running
}
