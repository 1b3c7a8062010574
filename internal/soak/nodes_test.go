//go:build linux

package soak

import (
	"os"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	trouble := map[string]Trouble{
		"kill": NodeKilled(time.Second), "pause": NodePaused(20 * time.Second), "stop": DatabaseStopped(30 * time.Second),
		"restart": DatabaseRestarted(), "cut": ConnectionsCut(10), "failover": FailedOver(),
	}[os.Getenv("TROUBLE")]
	linked := Linked{}
	if os.Getenv("LEASE") != "" {
		linked.Lease = 2 * time.Second
	}
	s, err := NewNodes(t.Context(), server(t, linked))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	r := NewRun(s, testWriters, testSeed)
	n := 1
	if os.Getenv("N") != "" {
		n = int(os.Getenv("N")[0] - '0')
	}
	if err := r.Endure(t.Context(), s, trouble, n); err != nil {
		t.Fatal(err)
	}
	judge(t, r)
	t.Log(r.Trouble)
}
