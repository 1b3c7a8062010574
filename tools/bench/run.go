//go:build linux

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Plan is what a run measures.
type Plan struct {
	Module      string        // directory of the module, from which the server is built
	Users       int           // that are loaded
	Rows        int           // tasks that are loaded, for filters and sorts; and rows that are imported
	Children    int           // of a cascade
	Rounds      int           // in which every server gets its turn
	Duration    time.Duration // of a turn
	Connections int           // of a load that does not say so itself
	Only        []string      // names of measurements, all if there is none
	Postgres    bool          // measure on PostgreSQL too
	Processor   bool          // count the time of the servers' processor, not that of the clock
	Dir         string        // where the databases are made, temporary files otherwise

	home       string // of this run
	self       string // the program that Serve is in
	binary     string
	serverCore core
	servers    []*server
	databases  int // that were made
	cluster    *cluster
	serial     atomic.Int64
}

// minRows is what the lists of the measurements need.
const minRows = 100

// Run measures all lines of the table. It reports what it does to progress. Results that are not nil
// are complete.
func (p *Plan) Run(ctx context.Context, progress io.Writer) (_ *Results, err error) {
	chosen, err := p.choose(func(Measurement) bool { return true })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	p.addBare()
	for _, postgres := range p.stores() {
		hand, plural := HandSQLite, PluralSQLite
		if postgres {
			hand, plural = HandPostgres, PluralPostgres
		}
		if err := p.addHand(ctx, hand, postgres); err != nil {
			return nil, err
		}
		if err := p.addPlural(ctx, plural, p.binary, postgres); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(progress, "loading %d users and %d tasks on each server\n", p.Users, p.Rows)
	if err := p.startAll(ctx); err != nil {
		return nil, err
	}
	return p.rounds(ctx, chosen, p.Rounds, progress)
}

// rounds measures in interleaved rounds: every round has all measurements on all servers.
func (p *Plan) rounds(ctx context.Context, chosen []Measurement, rounds int, progress io.Writer) (*Results, error) {
	results := p.newResults()
	for round := range rounds {
		for i, m := range chosen {
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, rounds, m.Name)
			if err := p.turns(ctx, m, round, i, results); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// stores are the databases to measure on, by whether it is PostgreSQL.
func (p *Plan) stores() []bool {
	if p.Postgres {
		return []bool{false, true}
	}
	return []bool{false}
}

// choose checks the plan, and returns its measurements: those that are named, or else those of the
// function.
func (p *Plan) choose(unnamed func(Measurement) bool) (chosen []Measurement, err error) {
	if p.Users < minRows || p.Rows < minRows || p.Rounds < 1 || p.Connections < 1 || p.Children < 1 {
		return nil, fmt.Errorf("at least %d users and rows, one child, one round and one connection are needed", minRows)
	}
	var known []string
	for _, m := range Measurements() {
		known = append(known, m.Name)
		if slices.Contains(p.Only, m.Name) || len(p.Only) == 0 && unnamed(m) {
			chosen = append(chosen, m)
		}
	}
	for _, name := range p.Only {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no measurement %s: use %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// open builds the server, divides the cores, and starts PostgreSQL.
func (p *Plan) open(ctx context.Context) (err error) {
	if p.home, err = os.MkdirTemp(p.Dir, "plural-bench-"); err != nil {
		return err
	}
	if p.self, err = os.Executable(); err != nil {
		return err
	}
	p.binary = filepath.Join(p.home, "plural")
	if err := build(ctx, p.Module, p.binary); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.home, "plural.yaml"), schemaFile, 0o644); err != nil {
		return err
	}
	var load core
	if p.serverCore, load, err = cores(); err != nil {
		return err
	}
	if err := load.pinProcess(); err != nil || !p.Postgres {
		return err
	}
	// It shares the core with the servers: the database is a part of what a response costs.
	p.cluster, err = startCluster(ctx, p.serverCore)
	return err
}

// build builds plural from the sources in a directory.
func build(ctx context.Context, dir, binary string) error {
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s", "-o", binary, "./cmd/plural")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released: the C library would count as memory of the server
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the server: %w\n%s", err, out)
	}
	return nil
}

// startAll starts and fills all servers. Every user is read once on each: what is measured is how it goes
// on, not how it begins.
func (p *Plan) startAll(ctx context.Context) error {
	for _, s := range p.servers {
		if err := s.start(ctx, s.full); err != nil {
			return err
		}
		if isPlural(s) {
			if err := p.fill(ctx, s, 0, 0); err != nil {
				return err
			}
		}
	}
	return p.warm(ctx)
}

// maxWarm is how many users are read before anything is counted. Of more than fit into
// memory, it makes no difference.
const maxWarm = 100_000

func (p *Plan) warm(ctx context.Context) error {
	for _, s := range p.servers {
		if s.isStatic() {
			continue
		}
		if err := p.load(s, Measurement{}).each(ctx, min(p.Users, maxWarm)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := s.emptyLog(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) newResults() *Results {
	results := &Results{Users: p.Users, Rows: p.Rows, Children: p.Children, Rounds: p.Rounds, Processor: p.Processor}
	for _, s := range p.servers {
		results.Servers = append(results.Servers, s.name)
	}
	return results
}

// turns gives every server its turn with a measurement. Another one is first each time, because what a
// server does after its responses may reach into the turn of the next.
func (p *Plan) turns(ctx context.Context, m Measurement, round, number int, results *Results) error {
	if m.most > 0 && round >= m.most {
		return nil
	}
	first := (round + number) % len(p.servers)
	for _, s := range slices.Concat(p.servers[first:], p.servers[:first]) {
		if m.on != nil && !m.on(s) {
			continue
		}
		figures, err := p.measure(ctx, m, s)
		if err != nil {
			return fmt.Errorf("%s: %s: %w\n%s", s.name, m.Name, err, s.logTail())
		}
		for i, line := range m.Lines {
			results.add(line.Name, s.name, figures[i])
		}
		if err := s.emptyLog(); err != nil {
			return err
		}
	}
	return nil
}

// measure returns the figures of the lines of a measurement.
func (p *Plan) measure(ctx context.Context, m Measurement, s *server) ([]float64, error) {
	if m.next == nil {
		return m.run(p, ctx, s)
	}
	perSecond, err := p.load(s, m).run(ctx, p.Duration)
	switch m.Lines[0].Unit {
	case milliseconds:
		perSecond = 1000 / perSecond
	case byteRate:
		perSecond /= 1e6
	}
	return []float64{perSecond}, err
}

func (p *Plan) load(s *server, m Measurement) load {
	connections := m.connections
	if connections == 0 {
		connections = p.Connections
	}
	return load{
		address: s.address, static: s.isStatic(), next: m.next, bytes: m.bytes, connections: connections,
		users: p.Users, rows: p.Rows, serial: &p.serial, clock: p.clock(s),
	}
}

func (p *Plan) clock(s *server) clock {
	switch {
	case !p.Processor:
		return wallClock()
	case s.postgres:
		return processorClock(s.process.Pid(), p.cluster.Pid())
	}
	return processorClock(s.process.Pid())
}

// close ends and removes everything.
func (p *Plan) close() error {
	var errs []error
	for _, s := range p.servers {
		errs = append(errs, s.stop())
	}
	if p.cluster != nil {
		errs = append(errs, p.cluster.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(p.home))...)
}
