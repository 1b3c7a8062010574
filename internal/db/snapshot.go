package db

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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

// ParseSnapshot reads what PostgreSQL writes for a pg_snapshot: MIN:MAX:RUNNING,…. The empty text
// is the zero value.
func ParseSnapshot(text string) (s Snapshot, err error) {
	if text == "" {
		return s, nil
	}
	wrong := func() (Snapshot, error) { return Snapshot{}, fmt.Errorf("%q is no snapshot", text) }
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return wrong()
	}
	numbers := parts[:2:2]
	if parts[2] != "" {
		numbers = append(numbers, strings.Split(parts[2], ",")...)
	}
	for i, part := range numbers {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			return wrong()
		}
		switch i {
		case 0:
			s.Min = n
		case 1:
			s.Max = n
		default:
			s.Running = append(s.Running, n)
		}
	}
	inside := func(n uint64) bool { return s.Min <= n && n < s.Max }
	if s.Min > s.Max || !slices.IsSorted(s.Running) || len(s.Running) > 0 && !(inside(s.Running[0]) && inside(s.Running[len(s.Running)-1])) {
		return wrong()
	}
	return s, nil
}
