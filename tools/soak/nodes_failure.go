//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"syscall"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// NodeFailure is a fault of nodes or of their database while writers write.
type NodeFailure struct {
	Name        string
	Unavailable bool // nodes may answer with 503 meanwhile
	Standby     standby
	Times       int      // how often it happens, one directly after the other; zero: once
	settings    []string // of PostgreSQL
	// cause causes the fault. It returns when nodes and database run again.
	cause func(ctx context.Context, s *Nodes, rng *rand.Rand) error
}

// standby is the kind of standby server of a database.
type standby int

const (
	noStandby    standby = iota
	synchronous          // every commit waits for it
	asynchronous         // may lag
)

// Impact is what clients noticed of a failure.
type Impact struct {
	Longest     time.Duration // time of a response
	Unavailable int           // answers with 503
	Unhelpful   int           // of these, without Retry-After
	Recovery    time.Duration // the longest time from the end of the failure until all requests succeeded
}

func (t Impact) String() string {
	return fmt.Sprintf("longest answer %v, %d answers with 503, recovered within %v",
		t.Longest.Round(time.Millisecond), t.Unavailable, t.Recovery.Round(time.Millisecond))
}

func (t *Impact) add(other Impact) {
	t.Longest, t.Recovery = max(t.Longest, other.Longest), max(t.Recovery, other.Recovery)
	t.Unavailable += other.Unavailable
	t.Unhelpful += other.Unhelpful
}

// NodeKilled: a node is killed, and started again after a while.
func NodeKilled(gone time.Duration) NodeFailure {
	return NodeFailure{Name: "node killed", cause: func(ctx context.Context, s *Nodes, rng *rand.Rand) error {
		n := s.nodes[rng.IntN(len(s.nodes))]
		n.process.Kill()
		if err := sleep(ctx, gone); err != nil {
			return err
		}
		if err := s.launch(n); err != nil {
			return err
		}
		return n.wait(ctx)
	}}
}

// NodePaused: a node is stopped (SIGSTOP) for longer than a lease, and then continues.
func NodePaused(pause time.Duration) NodeFailure {
	return NodeFailure{Name: "node paused", Unavailable: true, cause: func(ctx context.Context, s *Nodes, rng *rand.Rand) error {
		n := s.nodes[rng.IntN(len(s.nodes))].process
		if err := n.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		return errors.Join(sleep(ctx, pause), n.Signal(syscall.SIGCONT))
	}}
}

// DatabaseStopped: PostgreSQL is stopped (SIGSTOP) for a while, and then continues.
func DatabaseStopped(pause time.Duration) NodeFailure {
	return NodeFailure{Name: "PostgreSQL stopped", Unavailable: true, cause: func(ctx context.Context, s *Nodes, _ *rand.Rand) error {
		halted, err := s.primary().halt()
		if err != nil {
			return err
		}
		defer halted.signal(syscall.SIGCONT)
		return sleep(ctx, pause)
	}}
}

// DatabaseRestarted: PostgreSQL is restarted in immediate mode, and recovers.
func DatabaseRestarted() NodeFailure {
	return NodeFailure{Name: "immediate restart", Unavailable: true, cause: func(ctx context.Context, s *Nodes, _ *rand.Rand) error {
		return s.primary().restart(ctx, s.settings...)
	}}
}

// ConnectionsCut: connections are terminated while statements run on them.
func ConnectionsCut(times int) NodeFailure {
	return NodeFailure{Name: "connection cut", Unavailable: true, Times: times, cause: func(ctx context.Context, s *Nodes, rng *rand.Rand) error {
		if err := sleep(ctx, time.Duration(rng.Int64N(int64(100*time.Millisecond)))); err != nil {
			return err
		}
		return s.primary().Query(ctx, nil, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"+
			" WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1")
	}}
}

// FailedOver: the primary is destroyed, and its standby becomes the primary. A new server becomes
// the next standby.
func FailedOver() NodeFailure {
	return NodeFailure{Name: "failover", Unavailable: true, Standby: synchronous, cause: func(ctx context.Context, s *Nodes, _ *rand.Rand) error {
		if err := s.rejoin(ctx, synchronous); err != nil {
			return err
		}
		if err := s.primary().kill(); err != nil {
			return err
		}
		return s.promote(ctx)
	}}
}

func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Tests use longer limits than make soak, because they must pass on a busy machine, and observe for a shorter time: see TestMain.
var (
	// maxRecovery is how long it may take until all requests succeed again.
	maxRecovery = 5 * time.Second
	// maxDuringFailure is how long a response may take during a failure.
	maxDuringFailure = 30 * time.Second
	// lookAfter is the least time that requests are observed after a failure.
	lookAfter = 3 * time.Second
)

const (
	// maxWait is how long writers wait for a node before they use another.
	maxWait = 3 * time.Second

	acksBefore = 300 // of writes, before a failure
	acksAfter  = 50  // and after it, by each node
)

// InjectAll causes failures a number of times, one after another, on nodes under load, and checks
// everything after each.
func (r *Run) InjectAll(ctx context.Context, s *Nodes, times int, failures ...NodeFailure) error {
	r.answerTimeout = maxWait
	for _, failure := range failures {
		if failure.Unavailable {
			r.broken = []int{http.StatusServiceUnavailable}
		}
		if failure.Standby != noStandby {
			if err := s.addStandby(ctx, failure.Standby); err != nil {
				return err
			}
		}
	}
	c, err := r.start(ctx)
	if err != nil || c == nil {
		return err
	}
	for i := range times * len(failures) {
		failure := failures[i%len(failures)]
		if err := r.write(ctx, c, until{acks: acksBefore}, func() error { return r.inject(ctx, s, failure) }); err != nil {
			return err
		}
		if ok, err := r.verify(ctx, r.clients[r.rng.IntN(len(r.clients))]); !ok || err != nil {
			return err
		}
		if ok, err := r.checkAtRest(); !ok || err != nil {
			return err
		}
		if len(r.Findings) > 0 {
			return nil
		}
	}
	return r.end(ctx, c)
}

// inject causes a failure, and waits until the nodes have recovered.
func (r *Run) inject(ctx context.Context, s *Nodes, failure NodeFailure) error {
	for range max(1, failure.Times) {
		r.Crashes = append(r.Crashes, failure.Name)
		if err := failure.cause(ctx, s, r.rng); err != nil {
			return fmt.Errorf("%s: %w", failure.Name, err)
		}
	}
	for i, c := range r.clients {
		c.base.Store(s.nodes[i].base)
		c.watch.over()
	}
	begun := time.Now()
	for looked := time.Duration(0); looked < lookAfter || r.fewestAcks() < acksAfter && looked < 4*maxRecovery; looked = time.Since(begun) {
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	r.judge()
	return nil
}

// fewestAcks is how many writes each node has acknowledged since a failure, at least.
func (r *Run) fewestAcks() int {
	fewest := math.MaxInt
	for _, c := range r.clients {
		fewest = min(fewest, c.watch.acknowledged())
	}
	return fewest
}

// judge checks how the nodes recovered from a failure.
func (r *Run) judge() {
	for i, c := range r.clients {
		noticed := c.watch.noticed()
		r.Impact.add(noticed)
		if noticed.Recovery > maxRecovery {
			r.find(ledger.Violation{Fault: ledger.Wrong, Text: fmt.Sprintf("node %d recovered after %v, and not within %v", i, noticed.Recovery, maxRecovery)})
		}
		if noticed.Longest > maxDuringFailure {
			r.find(ledger.Violation{Fault: ledger.Wrong, Text: fmt.Sprintf("node %d took %v for an answer", i, noticed.Longest)})
		}
		if noticed.Unhelpful > 0 {
			r.find(ledger.Violation{Fault: ledger.Wrong, Text: fmt.Sprintf("node %d answered %d times with 503 and without Retry-After", i, noticed.Unhelpful)})
		}
	}
}
