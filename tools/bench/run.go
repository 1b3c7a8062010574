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
	Other       string        // another server program to compare with, if there is one
	Rows        int           // that are loaded
	Rounds      int           // in which every server gets its turn
	Duration    time.Duration // of a turn
	Connections int           // of a workload that does not say so itself
	Only        []string      // the workloads, all if there is none
	Postgres    bool          // compare on PostgreSQL too
	Processor   bool          // count by the time of the servers' processor, not by that of the clock
	Dir         string        // where the databases are made, temporary files otherwise

	home       string // of this run
	self       string // the program that Serve is in
	binary     string
	serverCore core
	workloads  []Workload
	servers    []*server
	cluster    *cluster
	serial     atomic.Int64
}

// minRows is what the lists of the workloads need.
const minRows = 100

// Run measures. What is done is told to progress. Results that are not nil are
// whole.
func (p *Plan) Run(ctx context.Context, progress io.Writer) (_ *Results, err error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.home, err = os.MkdirTemp(p.Dir, "plural-bench-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	fmt.Fprintf(progress, "preparing %d users on each server\n", p.Rows)
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintln(progress, "reading each once")
	if err := p.warm(ctx); err != nil {
		return nil, err
	}
	results := &Results{Rows: p.Rows}
	for _, s := range p.servers {
		results.Servers = append(results.Servers, s.name)
	}
	for round := range p.Rounds {
		fmt.Fprintf(progress, "round %d of %d\n", round+1, p.Rounds)
		if err := p.round(ctx, round, results); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(progress, "starting and stopping")
	for range p.Rounds {
		if err := p.restarts(ctx, results); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// check sees to what can be wrong with a plan.
func (p *Plan) check() error {
	if p.Rows < minRows || p.Rounds < 1 || p.Connections < 1 {
		return fmt.Errorf("at least %d rows, one round and one connection are needed", minRows)
	}
	var known []string
	for _, workload := range Workloads() {
		known = append(known, workload.Name)
		if len(p.Only) == 0 || slices.Contains(p.Only, workload.Name) {
			p.workloads = append(p.workloads, workload)
		}
	}
	for _, name := range p.Only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no workload %s: use %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// build builds the server, and divides the cores.
func (p *Plan) build(ctx context.Context) (err error) {
	if p.self, err = os.Executable(); err != nil {
		return err
	}
	p.binary = filepath.Join(p.home, "plural")
	build := exec.CommandContext(ctx, "go", "build", "-o", p.binary, "./cmd/plural")
	build.Dir = p.Module
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the server: %w\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(p.home, "plural.yaml"), schemaFile, 0o644); err != nil {
		return err
	}
	var load core
	if p.serverCore, load, err = cores(); err != nil {
		return err
	}
	return load.pinProcess()
}

// prepare builds, starts and fills everything.
func (p *Plan) prepare(ctx context.Context) (err error) {
	if err := p.build(ctx); err != nil {
		return err
	}
	p.servers = append(p.servers, p.bareServer())
	if err := p.prepareSQLite(); err != nil {
		return err
	}
	if p.Postgres {
		if err := p.preparePostgres(ctx); err != nil {
			return err
		}
	}
	for _, s := range p.servers {
		if err := s.start(ctx, s.full); err != nil {
			return err
		}
		if strings.Contains(s.name, "Plural") {
			if err := s.fill(ctx, p.Rows); err != nil {
				return err
			}
		}
	}
	if p.Postgres {
		return p.cluster.exec(ctx, "plural", "VACUUM ANALYZE")
	}
	return nil
}

func (p *Plan) prepareSQLite() error {
	file := func(name string) string { return filepath.Join(p.home, name+".db") }
	for name, rows := range map[string]int{"hand": p.Rows, "hand-empty": 0} {
		if err := createHandSQLite(file(name), rows); err != nil {
			return err
		}
	}
	p.servers = append(p.servers,
		p.handServer(HandSQLite, serveSQLite, file("hand"), file("hand-empty")),
		p.pluralServer(PluralSQLite, p.binary, "sqlite:"+file("plural"), "sqlite:"+file("plural-empty")))
	if p.Other != "" {
		p.servers = append(p.servers, p.pluralServer(OtherSQLite, p.Other, "sqlite:"+file("other"), "sqlite:"+file("other-empty")))
	}
	return nil
}

func (p *Plan) preparePostgres(ctx context.Context) (err error) {
	// It shares the core with the servers: the database is a part of what an
	// answer costs.
	if p.cluster, err = startCluster(ctx, p.serverCore); err != nil {
		return err
	}
	for _, name := range []string{"hand", "hand_empty", "plural", "plural_empty"} {
		if err := p.cluster.exec(ctx, "postgres", "CREATE DATABASE "+name); err != nil {
			return err
		}
	}
	for name, rows := range map[string]int{"hand": p.Rows, "hand_empty": 0} {
		if err := createHandPostgres(ctx, p.cluster.url(name), rows); err != nil {
			return err
		}
	}
	p.servers = append(p.servers,
		p.handServer(HandPostgres, servePostgres, p.cluster.url("hand"), p.cluster.url("hand_empty")),
		p.pluralServer(PluralPostgres, p.binary, p.cluster.url("plural"), p.cluster.url("plural_empty")))
	return nil
}

// maxWarm is how many users are read before anything is counted. Of more than fit into
// memory, it makes no difference.
const maxWarm = 100_000

// warm reads users once on every server: what is measured is how it goes on, not how it begins.
func (p *Plan) warm(ctx context.Context) error {
	for _, s := range p.servers {
		if s.isStatic() {
			continue
		}
		if err := p.load(s, Workload{connections: p.Connections}).each(ctx, min(p.Rows, maxWarm)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := s.emptyLog(); err != nil {
			return err
		}
	}
	return nil
}

// round gives every server its turn with every workload. Who comes first is
// another one each time, as what a server does behind its answers may reach into
// the turn of the next.
func (p *Plan) round(ctx context.Context, round int, results *Results) error {
	for i, workload := range p.workloads {
		first := (round + i) % len(p.servers)
		for _, s := range slices.Concat(p.servers[first:], p.servers[:first]) {
			if s.isStatic() && workload.bytes {
				continue
			}
			rate, err := p.load(s, workload).run(ctx, p.Duration)
			if err != nil {
				return fmt.Errorf("%s: %s: %w\n%s", s.name, workload.Name, err, s.process.LogTail())
			}
			results.add(workload.Name, s.name, rate)
			if err := s.emptyLog(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Plan) load(s *server, workload Workload) load {
	connections := workload.connections
	if connections == 0 {
		connections = p.Connections
	}
	return load{
		address: s.address, static: s.isStatic(), workload: workload, connections: connections, rows: p.Rows,
		serial: &p.serial, clock: p.clock(s),
	}
}

func (p *Plan) clock(s *server) clock {
	switch {
	case !p.Processor:
		return wallClock()
	case s.name == HandPostgres || s.name == PluralPostgres:
		return processorClock(s.process.Pid(), p.cluster.Pid())
	}
	return processorClock(s.process.Pid())
}

// restarts stops every server, starts it again, and looks at its memory.
func (p *Plan) restarts(ctx context.Context, results *Results) error {
	for _, s := range p.servers {
		started, err := p.restart(ctx, s, s.full)
		if err != nil {
			return err
		}
		results.add(StartUp, s.name, started.Seconds()*1000)
		if s.isStatic() {
			if err := p.idleMemory(s, results); err != nil {
				return err
			}
			continue
		}
		if err := p.exportMemory(ctx, s, results); err != nil {
			return err
		}
		if _, err := p.restart(ctx, s, s.empty); err != nil {
			return err
		}
		if err := p.idleMemory(s, results); err != nil {
			return err
		}
		if _, err := p.restart(ctx, s, s.full); err != nil {
			return err
		}
	}
	return nil
}

// restart starts a server anew, and returns how long it took until its first
// answer.
func (p *Plan) restart(ctx context.Context, s *server, database string) (time.Duration, error) {
	if err := s.stop(); err != nil {
		return 0, err
	}
	started := time.Now()
	if err := s.start(ctx, database); err != nil {
		return 0, err
	}
	first, err := dial(s.address, s.isStatic())
	if err != nil {
		return 0, err
	}
	defer first.conn.Close()
	caller := newCaller(p.Rows, 1, &p.serial)
	if database == s.full {
		caller.get()
	} else {
		caller.list("limit=30", 0, 0, false)
	}
	err = first.do(&caller.call)
	return time.Since(started), err
}

// idleMemory is what a server takes that was left alone for a while.
func (p *Plan) idleMemory(s *server, results *Results) error {
	time.Sleep(p.settle())
	idle, err := memory(s.process.Pid(), "VmRSS")
	results.add(IdleMemory, s.name, idle)
	return err
}

func (p *Plan) settle() time.Duration { return p.Duration / 4 }

// exportMemory is by how much an export raises the peak of what a server takes
// above what it takes when idle.
func (p *Plan) exportMemory(ctx context.Context, s *server, results *Results) error {
	time.Sleep(p.settle())
	idle, err := memory(s.process.Pid(), "VmRSS")
	if err != nil {
		return err
	}
	export := Workload{Name: Export, next: (*caller).export, connections: 1, bytes: true}
	if _, err := p.load(s, export).run(ctx, 0); err != nil {
		return err
	}
	peak, err := memory(s.process.Pid(), "VmHWM")
	results.add(ExportMemory, s.name, peak-idle)
	return err
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
