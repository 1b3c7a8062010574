//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/plural-go/plural/tools/soak/disk"
	"github.com/plural-go/plural/tools/soak/ledger"
)

// Plan is how often a run makes a server crash, and in which ways.
type Plan struct {
	Module  string // its directory
	Writers int
	Kills   int // at least
	Cuts    int // at least
	Writes  int // acknowledged, at least
	Nodes   NodesPlan
	// FeedResets is how often each happens, on each database.
	FeedResets int
	Seed       uint64
}

const (
	cyclesPerDatabase = 10  // so that a check does not come to take longer than what it checks
	acksPerCycle      = 600 // on the average
	maxControl        = 40  // cuts, until a control must have lost something
)

// Run executes the plan: crashes, power cuts, faults, and the controls, which must fail. False means
// that a violation was found, or that a control lost nothing.
func (p Plan) Run(ctx context.Context, out io.Writer) (ok bool, err error) {
	begun := time.Now()
	fmt.Fprintf(out, "seed %d, %d writers\n", p.Seed, p.Writers)
	binaries, err := os.MkdirTemp("", "plural-soak-bin-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(binaries)
	servers := map[string]string{} // by the setting of synchronous, if it is not the server's own
	for _, synchronous := range []string{"", "NORMAL", "OFF"} {
		servers[synchronous] = filepath.Join(binaries, "plural"+synchronous)
		if err := Build(ctx, p.Module, servers[synchronous], Linked{Synchronous: synchronous}); err != nil {
			return false, err
		}
	}
	var report, nodes Report
	err = p.crashes(ctx, servers[""], &report, out)
	if err == nil {
		err = p.faults(ctx, servers[""], &report, out)
	}
	if err == nil {
		err = p.Nodes.run(ctx, servers[""], p.Writers, p.Seed, &nodes, out)
	}
	if err == nil {
		err = p.feedResets(ctx, servers[""], &report, &nodes, out)
	}
	fmt.Fprintf(out, "\nafter %v, a server on SQLite:\n", time.Since(begun).Round(time.Second))
	report.Print(out)
	fmt.Fprintf(out, "\n%d nodes on PostgreSQL:\n", numNodes)
	nodes.Print(out)
	if err != nil {
		return false, err
	}
	blind, err := p.controls(ctx, servers, out)
	return blind == 0 && len(report.Findings)+len(nodes.Findings) == 0, err
}

// crashes kills the server and cuts its power, on one database after another.
func (p Plan) crashes(ctx context.Context, server string, report *Report, out io.Writer) error {
	for n := uint64(0); ; n++ {
		kills, cuts := report.Crashes[killed], report.Crashes[cut]
		fmt.Fprintf(out, "%s: kills %d, power cuts %d, acknowledged writes %d, findings %d\n",
			time.Now().Format(time.TimeOnly), kills, cuts, report.Acknowledged(), len(report.Findings))
		if kills >= p.Kills && cuts >= p.Cuts && report.Acknowledged() >= p.Writes {
			return nil
		}
		var s *SQLite
		var err error
		// Alternately, so that an interrupted run has some of both.
		if cuts*p.Kills < kills*p.Cuts {
			s, err = NewSQLiteOn(disk.New(p.Seed+n), server)
		} else {
			s, err = NewSQLite(server)
		}
		if err != nil {
			return err
		}
		r := NewRun(s, p.Writers, p.Seed+n)
		err = r.Cycles(ctx, cyclesPerDatabase, acksPerCycle)
		r.unsubscribe()
		report.Add(r)
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
}

// Cycles runs several cycles, and finishes the run.
func (r *Run) Cycles(ctx context.Context, n, acks int) error {
	for range n {
		if ok, err := r.Cycle(ctx, acks); !ok || err != nil {
			return err
		}
	}
	return r.Finish(ctx)
}

// faults runs the tests with failing disks.
func (p Plan) faults(ctx context.Context, server string, report *Report, out io.Writer) error {
	for _, f := range Faults() {
		r, err := f.Run(ctx, server, p.Writers, p.Seed)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		fmt.Fprintf(out, "%s: %d findings\n", f.Name, len(r.Findings))
		report.Add(r)
	}
	return nil
}

// feedResets lets each happen on new databases of both kinds.
func (p Plan) feedResets(ctx context.Context, server string, report, nodes *Report, out io.Writer) error {
	for n := range uint64(p.FeedResets) { // #nosec G115 -- not negative
		for _, u := range FeedResets() {
			for _, on := range []struct {
				report *Report
				system func() (resettable, error)
			}{
				{report, func() (resettable, error) { return NewSQLite(server) }},
				{nodes, func() (resettable, error) { return NewNodes(ctx, server) }},
			} {
				s, err := on.system()
				if err != nil {
					return err
				}
				r, err := u.Run(ctx, s, p.Writers, p.Seed+n)
				if err != nil {
					return fmt.Errorf("%s: %w", u.Name, err)
				}
				on.report.Add(r)
				fmt.Fprintf(out, "%s: %s: %d findings\n", time.Now().Format(time.TimeOnly), u.Name, len(r.Findings))
			}
		}
	}
	return nil
}

// controls runs servers and disks that lose writes, and counts those whose losses the harness does
// not detect.
func (p Plan) controls(ctx context.Context, servers map[string]string, out io.Writer) (blind int, err error) {
	for _, c := range Controls {
		lost, err := c.Run(ctx, servers[c.Synchronous], p.Writers, p.Seed)
		if err != nil {
			return blind, fmt.Errorf("%s: %w", c.Name, err)
		}
		if lost == 0 {
			blind++
		}
		fmt.Fprintln(out, controlLine(c.Name, lost))
	}
	for _, d := range UnsafeDatabases() {
		lost, err := d.Run(ctx, servers[""], p.Writers, p.Seed)
		if err != nil {
			return blind, fmt.Errorf("%s: %w", d.Name, err)
		}
		if lost == 0 {
			blind++
		}
		fmt.Fprintln(out, controlLine(d.Name, lost))
	}
	return blind, nil
}

func controlLine(name string, lost int) string {
	writes := "writes"
	if lost == 1 {
		writes = "write"
	}
	return fmt.Sprintf("control, %s: %d %s seen to be lost, as there must be some", name, lost, writes)
}

// Control is a server or a disk that loses acknowledged writes when the power is cut.
type Control struct {
	Name        string
	Synchronous string // how the server was built
	Lies        bool   // the disk does not sync
	Whole       bool   // only the last writes may be lost: the database is an older one, and never damaged
}

// Controls lists the controls.
var Controls = []Control{
	{Name: "a disk that lies about syncs", Lies: true},
	{Name: "synchronous=NORMAL", Synchronous: "NORMAL", Whole: true},
	{Name: "synchronous=OFF", Synchronous: "OFF"},
}

// maxDatabases is how many databases a control may damage until one has lost an acknowledged write.
const maxDatabases = 3

// Run cuts the power until the harness detects a loss, and counts the lost writes. A database that cannot be read has lost all, which
// is an error where it must stay whole. If the damage concerns no acknowledged write, the control begins again with another.
func (c Control) Run(ctx context.Context, server string, writers int, seed uint64) (lost int, err error) {
	var unrelated []ledger.Violation
	for n := range uint64(maxDatabases) {
		r, err := c.damage(ctx, server, writers, seed+n)
		if err != nil {
			return 0, err
		}
		if lost, err := c.judge(r); lost > 0 || err != nil {
			return lost, err
		}
		if len(r.Findings) == 0 {
			break
		}
		unrelated = append(unrelated, r.Findings...)
	}
	if len(unrelated) > 0 {
		return 0, fmt.Errorf("no write was lost, but: %v", unrelated)
	}
	return 0, nil
}

// judge counts the writes that a run has lost.
func (c Control) judge(r *Run) (lost int, err error) {
	if c.Whole && len(r.damage) > 0 {
		return 0, fmt.Errorf("the database must only lack its last writes, but: %v", r.damage)
	}
	return r.lost(), nil
}

// damage cuts the power until the harness finds something.
func (c Control) damage(ctx context.Context, server string, writers int, seed uint64) (_ *Run, err error) {
	d := disk.New(seed)
	s, err := NewSQLiteOn(d, server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r := NewRun(s, writers, seed)
	defer r.unsubscribe()
	for range maxControl {
		ok, err := r.Cycle(ctx, acksPerCycle/10)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if c.Lies { // from the second on, when there is something to lose
			d.Lie()
		}
	}
	if r.lost() == 0 && len(r.Findings) > 0 {
		// The server does not start, for example. Only the database shows what that is due to.
		r.unsubscribe()
		s.process.Kill()
		_, err = r.checkAtRest()
	}
	return r, err
}
