//go:build linux

package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural/tools/soak/disk"
	"github.com/plural-go/plural/tools/soak/ledger"
)

// The tests are the short form of what "make soak" does for long: the same server, the same writers
// and the same checks.

var binaries string

func TestMain(m *testing.M) {
	// The bounds of make soak judge how fast a server is. Here they only end what hangs.
	for _, bound := range []*time.Duration{&maxRecovery, &maxDuringFailure, &ledger.MaxThinking, &maxSettle, &maxAnswer, &maxWriting} {
		*bound = 5 * time.Minute
	}
	lookAfter = 1500 * time.Millisecond // longer than a worker waits before it tries again after an error of the database
	os.Exit(func() int {
		var err error
		if binaries, err = os.MkdirTemp("", "plural-soak-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(binaries)
		return m.Run()
	}())
}

var (
	building sync.Mutex
	built    = map[Linked]string{}
)

// server builds a server, once.
func server(t *testing.T, linked Linked) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	if built[linked] == "" {
		binary := filepath.Join(binaries, fmt.Sprint("plural", len(built)))
		if err := Build(t.Context(), filepath.Join("..", ".."), binary, linked); err != nil {
			t.Fatal(err)
		}
		built[linked] = binary
	}
	return built[linked]
}

const (
	testWriters = 64
	testSeed    = 11
)

// judge fails the test if a run has found something, and shows the table.
func judge(t *testing.T, r *Run) {
	t.Helper()
	var report Report
	report.Add(r)
	var table strings.Builder
	report.Print(&table)
	if len(r.Findings) > 0 {
		t.Errorf("%d findings\n%s", len(r.Findings), table.String())
	}
	if report.Acknowledged() == 0 {
		t.Error("nothing was acknowledged, so that nothing was tested")
	}
	t.Logf("%v\n%s", r.Crashes, table.String())
}

func closed(t *testing.T, s System) {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestKilledServerKeepsItsPromises(t *testing.T) {
	t.Parallel()
	s, err := NewSQLite(server(t, Linked{}))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	r := NewRun(s, testWriters, testSeed)
	if err := r.Cycles(t.Context(), 3, 120); err != nil {
		t.Fatal(err)
	}
	judge(t, r)
}

func TestServerWithoutPowerKeepsItsPromises(t *testing.T) {
	t.Parallel()
	s, err := NewSQLiteOn(disk.New(testSeed), server(t, Linked{}))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	r := NewRun(s, testWriters, testSeed)
	if err := r.Cycles(t.Context(), 3, 120); err != nil {
		t.Fatal(err)
	}
	judge(t, r)
}

func TestServerOnABrokenDiskKeepsItsPromises(t *testing.T) {
	for _, f := range Faults() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r, err := f.Run(t.Context(), server(t, Linked{}), testWriters/4, testSeed)
			if err != nil {
				t.Fatal(err)
			}
			judge(t, r)
		})
	}
}

// A harness that sees no losses where there are some would see none at all.
func TestControlsLoseWrites(t *testing.T) {
	for _, c := range Controls {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			lost, err := c.Run(t.Context(), server(t, Linked{Synchronous: c.Synchronous}), testWriters/4, testSeed)
			if err != nil {
				t.Fatal(err)
			}
			if lost == 0 {
				t.Errorf("no loss was seen in %d power cuts", maxControl)
			}
			t.Logf("%d writes were lost", lost)
		})
	}
}

// A database that must only lack its last writes, and cannot be read, is a finding; where the disk may do anything, it has lost all.
func TestUnreadableControl(t *testing.T) {
	t.Parallel()
	s, err := NewSQLite(server(t, Linked{}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := NewRun(s, 8, testSeed)
	writeEverything(t, r)
	r.unsubscribe()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	tamper(t, filepath.Join(s.data, databaseFile), "DROP TABLE _plural_totals")
	if _, err := r.checkAtRest(); err != nil {
		t.Fatal(err)
	}
	if lost, err := (Control{}).judge(r); lost == 0 || err != nil {
		t.Errorf("%d writes were lost, %v", lost, err)
	}
	_, err = Control{Whole: true}.judge(r)
	if want := "the database must only lack its last writes, but: [the database cannot be read: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

// The report says one write, and not one writes.
func TestControlLine(t *testing.T) {
	for lost, want := range map[int]string{
		0: "control, x: 0 writes seen to be lost, as there must be some",
		1: "control, x: 1 write seen to be lost, as there must be some",
		2: "control, x: 2 writes seen to be lost, as there must be some",
	} {
		if got := controlLine("x", lost); got != want {
			t.Errorf("got %q", got)
		}
	}
}

// Something else that goes wrong is no loss.
func TestControlWithoutALossFails(t *testing.T) {
	t.Parallel()
	lost, err := Control{}.Run(t.Context(), "/bin/false", 1, testSeed)
	if lost != 0 || err == nil || !strings.Contains(err.Error(), "no write was lost, but:") {
		t.Errorf("%d writes were lost, %v", lost, err)
	}
}
