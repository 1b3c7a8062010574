//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// NodesPlan is how often each failure happens to nodes on PostgreSQL.
type NodesPlan struct{ Kills, Pauses, Stops, Restarts, Cuts, Failovers int }

const (
	nodeGone     = 2 * time.Second
	nodePause    = 20 * time.Second // longer than a lease
	databaseStop = 30 * time.Second
	cutsAtOnce   = 10
)

// run executes the plan, each failure on its own database.
func (p NodesPlan) run(ctx context.Context, server string, writers int, seed uint64, report *Report, out io.Writer) error {
	for _, t := range []struct {
		failure NodeFailure
		times   int
	}{
		{NodeKilled(nodeGone), p.Kills},
		{NodePaused(nodePause), p.Pauses},
		{DatabaseStopped(databaseStop), p.Stops},
		{DatabaseRestarted(), p.Restarts},
		{ConnectionsCut(cutsAtOnce), (p.Cuts + cutsAtOnce - 1) / cutsAtOnce},
		{FailedOver(), p.Failovers},
	} {
		if t.times == 0 {
			continue
		}
		r, err := runWithFailures(ctx, server, writers, seed, t.times, t.failure)
		if err != nil {
			return fmt.Errorf("%s: %w", t.failure.Name, err)
		}
		report.Add(r)
		fmt.Fprintf(out, "%s: %d × %s: %v, %d findings\n", time.Now().Format(time.TimeOnly), t.times*max(1, t.failure.Times), t.failure.Name, r.Impact, len(r.Findings))
	}
	return nil
}

// runWithFailures runs failures, one after another, on nodes with a new database.
func runWithFailures(ctx context.Context, server string, writers int, seed uint64, times int, failures ...NodeFailure) (r *Run, err error) {
	s, err := NewNodes(ctx, server, failures[0].settings...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r = NewRun(s, writers, seed)
	defer r.unsubscribe()
	return r, r.InjectAll(ctx, s, times, failures...)
}

// UnsafeDatabase is a PostgreSQL that loses acknowledged writes: a control.
type UnsafeDatabase struct {
	Name    string
	failure NodeFailure
}

// UnsafeDatabases lists the controls.
func UnsafeDatabases() []UnsafeDatabase {
	forgetful := NodeFailure{Name: "immediate restart", Unavailable: true, settings: []string{"synchronous_commit=off"}, cause: forget}
	lagging := NodeFailure{Name: "failover", Unavailable: true, Standby: asynchronous, cause: lagAndFailOver}
	return []UnsafeDatabase{{"PostgreSQL with synchronous_commit=off", forgetful}, {"an asynchronous standby", lagging}}
}

// forget restarts PostgreSQL in immediate mode while acknowledged commits are only in its memory.
// Before, it stops what would write them: the WAL writer, and the ticks of the feed, whose commits
// are always durable. Then it waits for changes.
func forget(ctx context.Context, s *Nodes, _ *rand.Rand) error {
	c := s.primary()
	conn, err := pgx.Connect(ctx, hosts(c))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // with the server, at the latest
	var walWriter, before int
	err = conn.QueryRow(ctx, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'").Scan(&walWriter)
	if err == nil {
		_, err = conn.Exec(ctx, "BEGIN; LOCK TABLE _plural_ticks IN EXCLUSIVE MODE")
	}
	if err == nil {
		err = syscall.Kill(walWriter, syscall.SIGSTOP)
	}
	if err != nil {
		return err
	}
	err = conn.QueryRow(ctx, countChanges).Scan(&before)
	for changes := before; err == nil && changes < before+forgotten; {
		if err = sleep(ctx, 10*time.Millisecond); err == nil {
			err = conn.QueryRow(ctx, countChanges).Scan(&changes)
		}
	}
	err = errors.Join(err, syscall.Kill(c.Pid(), syscall.SIGQUIT))
	_ = syscall.Kill(walWriter, syscall.SIGKILL) // before it continues
	if err != nil {
		return err
	}
	if err := c.Wait(); err != nil {
		return err
	}
	return c.Start(ctx, s.settings...)
}

const (
	// forgotten is how many changes are lost, at least. Each writer waits for the answer before its
	// next write, so that most of them are acknowledged.
	forgotten    = 100
	countChanges = "SELECT count(*) FROM _plural_changes"
)

// lagAndFailOver makes the standby fall behind before it becomes the primary.
func lagAndFailOver(ctx context.Context, s *Nodes, _ *rand.Rand) error {
	if err := s.rejoin(ctx, asynchronous); err != nil {
		return err
	}
	halted, err := s.clusters[1].halt()
	if err != nil {
		return err
	}
	// Otherwise it would find in its socket what the primary has sent meanwhile.
	err = s.primary().Query(ctx, nil, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_replication")
	err = errors.Join(err, sleep(ctx, time.Second), s.primary().kill())
	halted.signal(syscall.SIGCONT)
	if err != nil {
		return err
	}
	return s.promote(ctx)
}

// maxAttempts is how often the loss is attempted before the control fails: by chance, there may be no
// acknowledged write to lose.
const maxAttempts = 20

// Run repeats the fault until the harness detects a loss, and counts the lost writes.
func (d UnsafeDatabase) Run(ctx context.Context, server string, writers int, seed uint64) (lost int, err error) {
	r, err := runWithFailures(ctx, server, writers, seed, maxAttempts, d.failure)
	if err != nil {
		return 0, err
	}
	if lost = r.lost(); lost == 0 && len(r.Findings) > 0 {
		return 0, fmt.Errorf("no write was lost, but: %v", r.Findings)
	}
	return lost, nil
}
