//go:build linux

package soak

import (
	"testing"
	"time"
)

// testLease lets operations of a node that is gone be taken over soon.
const testLease = 2 * time.Second

func TestNodesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	// The killed node is gone for longer than its leases, so that the other takes over its operations under load.
	failures := []NodeFailure{NodeKilled(testLease + 500*time.Millisecond), ConnectionsCut(1), DatabaseRestarted(), NodePaused(2 * testLease)}
	r, err := runWithFailures(t.Context(), server(t, Linked{Lease: testLease}), testWriters/4, testSeed, 1, failures...)
	if err != nil {
		t.Fatal(err)
	}
	judge(t, r)
	t.Log(r.Impact)
}

func TestNodesKeepTheirPromisesInAFailover(t *testing.T) {
	t.Parallel()
	r, err := runWithFailures(t.Context(), server(t, Linked{Lease: testLease}), testWriters/4, testSeed, 1, FailedOver())
	if err != nil {
		t.Fatal(err)
	}
	judge(t, r)
	t.Log(r.Impact)
}

// A harness that sees no losses where there are some would see none at all.
func TestUnsafePostgresSettingsLoseWrites(t *testing.T) {
	for _, d := range UnsafeDatabases() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			lost, err := d.Run(t.Context(), server(t, Linked{Lease: testLease}), testWriters/4, testSeed)
			if err != nil {
				t.Fatal(err)
			}
			if lost == 0 {
				t.Error("no loss was seen")
			}
			t.Logf("%d writes were lost", lost)
		})
	}
}
