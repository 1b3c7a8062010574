//go:build linux

package soak

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// Nodes is several servers on one PostgreSQL, which may have a standby.
type Nodes struct {
	binary   string
	home     string
	settings []string   // of PostgreSQL
	clusters []*cluster // of PostgreSQL: the one that is written to, and its standby if there is one
	nodes    []*node
}

// node is one of the servers. It has the same address in all its lives.
type node struct {
	address string
	log     string
	process *process
}

const numNodes = 2

// NewNodes starts PostgreSQL with some settings, and prepares servers on it.
func NewNodes(ctx context.Context, binary string, settings ...string) (s *Nodes, err error) {
	s = &Nodes{binary: binary, settings: settings}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.home, err = os.MkdirTemp("", "plural-soak-"); err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.schema(), schemaFile, 0o644); err != nil {
		return nil, err
	}
	primary, err := newCluster()
	if err != nil {
		return nil, err
	}
	s.clusters = []*cluster{primary}
	if err := primary.initialise(); err != nil {
		return nil, err
	}
	if err := primary.start(ctx, settings...); err != nil {
		return nil, err
	}
	for i := range numNodes {
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		s.nodes = append(s.nodes, &node{address: address, log: filepath.Join(s.home, "log"+string(rune('0'+i)))})
	}
	return s, nil
}

// addStandby gives the database a standby.
func (s *Nodes) addStandby(ctx context.Context, synchronous bool) error {
	standby, err := newCluster()
	if err != nil {
		return err
	}
	s.clusters = append(s.clusters, standby)
	return s.join(ctx, synchronous)
}

// join makes the standby a copy of the primary, which waits for it from then on with
// every commit if it is synchronous.
func (s *Nodes) join(ctx context.Context, synchronous bool) error {
	primary, standby := s.clusters[0], s.clusters[1]
	if err := standby.follow(ctx, primary); err != nil {
		return err
	}
	if !synchronous {
		return primary.await(ctx, "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'")
	}
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if err := primary.query(ctx, nil, statement); err != nil {
			return err
		}
	}
	return primary.await(ctx, "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'")
}

// failOver ends the primary for good and makes the standby the primary.
func (s *Nodes) failOver(ctx context.Context) error {
	old, standby := s.clusters[0], s.clusters[1]
	if err := old.kill(); err != nil {
		return err
	}
	if err := standby.promote(ctx); err != nil {
		return err
	}
	s.clusters = []*cluster{standby, old}
	return nil
}

// freeAddress is one that nobody listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (s *Nodes) schema() string { return filepath.Join(s.home, "plural.yaml") }

func (s *Nodes) primary() *cluster { return s.clusters[0] }

// launch starts one of the nodes.
func (s *Nodes) launch(n *node) (err error) {
	n.process, err = launch(n.log, exec.Command(s.binary, "serve", "--addr="+n.address, "--log-level=warn",
		"--schema="+s.schema(), "--database="+hosts(s.clusters...)))
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
		base, err := n.process.wait(ctx)
		if err != nil {
			return nil, err
		}
		bases = append(bases, base)
	}
	return bases, nil
}

// Crash implements System. All nodes are killed.
func (s *Nodes) Crash() (string, error) {
	for _, n := range s.nodes {
		n.process.kill()
	}
	return "all nodes killed", nil
}

// Stop implements System.
func (s *Nodes) Stop() error {
	var errs []error
	for _, n := range s.nodes {
		errs = append(errs, n.process.stop())
	}
	return errors.Join(errs...)
}

// AtRest implements System.
func (s *Nodes) AtRest() (*Rest, error) {
	return readPostgres(context.Background(), hosts(s.primary()))
}

// Close implements System.
func (s *Nodes) Close() error {
	for _, n := range s.nodes {
		if n.process != nil {
			n.process.kill()
		}
	}
	var errs []error
	for _, c := range s.clusters {
		errs = append(errs, c.close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.home))...)
}
