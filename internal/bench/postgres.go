//go:build linux

package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster is a PostgreSQL server with its own files and the settings it comes
// with: unlike that of the tests it syncs, as what it takes is measured.
type cluster struct {
	dir     string // has the data, the socket and the log
	process *process
}

// startCluster makes an empty server on a core.
func startCluster(ctx context.Context, on core) (_ *cluster, err error) {
	programs, err := findPostgres()
	if err != nil {
		return nil, err
	}
	owner, err := postgresOwner()
	if err != nil {
		return nil, err
	}
	// The path of a socket must be short.
	dir, err := os.MkdirTemp("/tmp", "plural-bench-pg-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if owner != nil {
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return nil, err
		}
	}
	command := func(program string, args ...string) *exec.Cmd {
		command := exec.Command(filepath.Join(programs, program), args...)
		command.Dir = dir // its owner may not be allowed into ours
		command.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
		return command
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "--pgdata="+data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync").
		CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if c.process, err = launch(filepath.Join(dir, "log"), on, command("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "port=5432")); err != nil {
		return nil, err
	}
	return c, c.await(ctx)
}

// findPostgres finds the programs. Debian keeps them out of PATH.
func findPostgres() (string, error) {
	if dir := os.Getenv("PLURAL_PG_BIN"); dir != "" {
		return dir, nil
	}
	candidates, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		candidates = append(candidates, path)
	}
	for _, candidate := range slices.Backward(candidates) {
		return filepath.Dir(candidate), nil
	}
	return "", errors.New("PostgreSQL is not here: run make setup, or set PLURAL_PG_BIN to the directory of its programs")
}

// postgresOwner is somebody else if we are root, as whom PostgreSQL does not run.
func postgresOwner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}

// await returns when the server answers.
func (c *cluster) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxStart)
	defer cancel()
	for {
		err := c.exec(ctx, "postgres", "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
			continue
		case <-c.process.exited:
		case <-ctx.Done():
		}
		return fmt.Errorf("PostgreSQL does not start: %w\n%s", err, c.process.said())
	}
}

// exec runs a statement in one of the databases.
func (c *cluster) exec(ctx context.Context, database, statement string) error {
	conn, err := pgx.Connect(ctx, c.url(database))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, statement)
	return err
}

func (c *cluster) url(database string) string {
	q := url.Values{"host": {c.dir}, "port": {"5432"}, "user": {"postgres"}, "sslmode": {"disable"}}
	return "postgres:///" + database + "?" + q.Encode()
}

// close ends the server without a checkpoint and removes its files.
func (c *cluster) close() error {
	var err error
	if c.process != nil {
		err = c.process.stop(syscall.SIGQUIT)
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}
