//go:build linux

package soak

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/pgserver"
	"github.com/plural-go/plural/internal/process"
	"github.com/plural-go/plural/tools/soak/stored"
)

// Nodes is several servers on one PostgreSQL, which may have a standby.
type Nodes struct {
	binary   string
	home     string
	settings []string   // of PostgreSQL
	clusters []*cluster // the primary, and its standby if there is one
	nodes    []*node
	flags    []string // additional flags of the servers
}

// node is one of the servers.
type node struct {
	log     string
	process *process.Process
	base    string // URL, set when it is ready
}

const numNodes = 2

// NewNodes starts PostgreSQL with some settings, and prepares servers on it.
func NewNodes(ctx context.Context, binary string, settings ...string) (*Nodes, error) {
	home, err := os.MkdirTemp("", "plural-soak-")
	if err != nil {
		return nil, err
	}
	s := &Nodes{binary: binary, home: home, settings: settings}
	for i := range numNodes {
		s.nodes = append(s.nodes, &node{log: filepath.Join(home, "log"+strconv.Itoa(i))})
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Nodes) prepare(ctx context.Context) error {
	if err := os.WriteFile(s.schema(), schemaFile, 0o644); err != nil {
		return err
	}
	server, err := pgserver.New()
	if err != nil {
		return err
	}
	primary := &cluster{server}
	s.clusters = []*cluster{primary}
	if err := primary.Init(); err != nil {
		return err
	}
	return primary.Start(ctx, s.settings...)
}

// addStandby gives the database a standby.
func (s *Nodes) addStandby(ctx context.Context, kind standby) error {
	server, err := pgserver.New()
	if err != nil {
		return err
	}
	s.clusters = append(s.clusters, &cluster{server})
	return s.join(ctx, kind)
}

// join makes the standby a copy of the primary. If replication is synchronous, every commit of the
// primary waits for it from then on.
func (s *Nodes) join(ctx context.Context, kind standby) error {
	primary, standby := s.clusters[0], s.clusters[1]
	if err := standby.follow(ctx, primary); err != nil {
		return err
	}
	if kind == asynchronous {
		return primary.Await(ctx, "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'")
	}
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if err := primary.Query(ctx, nil, statement); err != nil {
			return err
		}
	}
	return primary.Await(ctx, "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'")
}

// rejoin makes a server that was destroyed by an earlier failover the standby.
func (s *Nodes) rejoin(ctx context.Context, kind standby) error {
	if s.clusters[1].Running() {
		return nil
	}
	return s.join(ctx, kind)
}

// promote makes the standby the primary after the old one has failed.
func (s *Nodes) promote(ctx context.Context) error {
	slices.Reverse(s.clusters)
	return s.primary().Await(ctx, "SELECT pg_promote()")
}

func (s *Nodes) schema() string { return filepath.Join(s.home, "plural.yaml") }

func (s *Nodes) primary() *cluster { return s.clusters[0] }

// launch starts one of the nodes.
func (s *Nodes) launch(n *node) (err error) {
	n.process, err = launch(n.log, s.binary, s.schema(), hosts(s.clusters...), s.flags...)
	return err
}

// command runs another command of the program on the database.
func (s *Nodes) command(ctx context.Context, arguments ...string) error {
	return runCommand(ctx, s.binary, append(arguments, "--schema="+s.schema(), "--database="+hosts(s.primary()))...)
}

func (s *Nodes) setFlags(flags ...string) { s.flags = flags }

func (n *node) wait(ctx context.Context) (err error) {
	n.base, err = baseOf(ctx, n.process)
	return err
}

// Launch implements System.
func (s *Nodes) Launch() error {
	for _, n := range s.nodes {
		if err := s.launch(n); err != nil {
			return err
		}
	}
	return nil
}

// Ready implements System.
func (s *Nodes) Ready(ctx context.Context) (bases []string, err error) {
	for _, n := range s.nodes {
		if err := n.wait(ctx); err != nil {
			return nil, err
		}
		bases = append(bases, n.base)
	}
	return bases, nil
}

// Crash implements System. All nodes are killed.
func (s *Nodes) Crash() (string, error) {
	for _, n := range s.nodes {
		n.process.Kill()
	}
	return "all nodes killed", nil
}

// Stop implements System.
func (s *Nodes) Stop() error {
	var errs []error
	for _, n := range s.nodes {
		errs = append(errs, stop(n.process))
	}
	return errors.Join(errs...)
}

// AtRest implements System.
func (s *Nodes) AtRest() (*stored.Contents, error) {
	contents, err := stored.ReadPostgres(context.Background(), hosts(s.primary()))
	if err == nil && len(contents.Changes) > 0 {
		err = askDoctor(contents, s.binary, s.schema(), hosts(s.primary()))
	}
	return contents, err
}

// Close implements System.
func (s *Nodes) Close() error {
	for _, n := range s.nodes {
		if n.process != nil {
			n.process.Kill()
		}
	}
	var errs []error
	for _, c := range s.clusters {
		errs = append(errs, c.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.home))...)
}
