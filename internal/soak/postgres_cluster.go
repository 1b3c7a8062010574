//go:build linux

package soak

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
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster is a PostgreSQL server, which can be treated as badly as a machine can.
type cluster struct {
	programs string              // the directory of initdb and the others
	owner    *syscall.Credential // who runs it, nil: we do
	dir      string              // has the data, the socket and the log
	process  *process            // nil if it does not run
}

// newCluster makes room for a server.
func newCluster() (*cluster, error) {
	programs, err := findPostgres()
	if err != nil {
		return nil, err
	}
	owner, err := postgresOwner()
	if err != nil {
		return nil, err
	}
	// Not in the directory of the temporary files of others: the path of a socket
	// must be short, and its owner be allowed there.
	dir, err := os.MkdirTemp("/tmp", "plural-soak-pg-")
	if err == nil && owner != nil {
		err = os.Chown(dir, int(owner.Uid), int(owner.Gid))
	}
	return &cluster{programs: programs, owner: owner, dir: dir}, err
}

// findPostgres finds the programs. Debian keeps them out of PATH.
func findPostgres() (string, error) {
	if dir := os.Getenv("PLURAL_PG_BIN"); dir != "" {
		return dir, nil
	}
	candidates, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_basebackup")
	if path, err := exec.LookPath("pg_basebackup"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			candidates = append(candidates, path)
		}
	}
	for _, candidate := range slices.Backward(candidates) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(candidate), "initdb")); err == nil {
			return filepath.Dir(candidate), nil
		}
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

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *cluster) command(program string, args ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(c.programs, program), args...)
	command.Dir = c.dir // its owner may not be allowed into ours
	command.SysProcAttr = &syscall.SysProcAttr{Credential: c.owner}
	return command
}

func (c *cluster) run(program string, args ...string) error {
	if out, err := c.command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

// initialise makes an empty database.
func (c *cluster) initialise() error {
	return c.run("initdb", "--pgdata="+c.data(), "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
}

// follow makes a standby of another server. Whatever it was before is gone.
func (c *cluster) follow(ctx context.Context, primary *cluster) error {
	if err := os.RemoveAll(c.data()); err != nil {
		return err
	}
	if err := c.run("pg_basebackup", "--pgdata="+c.data(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
		"--dbname="+hosts(primary)); err != nil {
		return err
	}
	return c.start(ctx)
}

// start starts the server, and returns when it answers.
func (c *cluster) start(ctx context.Context, settings ...string) (err error) {
	args := []string{"-D", c.data(), "-k", c.dir, "-c", "listen_addresses=", "-c", "port=5432"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	if c.process, err = launch(filepath.Join(c.dir, "log"), c.command("postgres", args...)); err != nil {
		return err
	}
	return c.await(ctx, "SELECT true")
}

// await repeats a question until the answer is yes.
func (c *cluster) await(ctx context.Context, question string) error {
	ctx, cancel := context.WithTimeout(ctx, maxStart)
	defer cancel()
	for {
		var yes bool
		err := c.query(ctx, func(row pgx.Rows) error { return row.Scan(&yes) }, question)
		if yes {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
			continue
		case <-c.process.exited:
		case <-ctx.Done():
		}
		log, _ := os.ReadFile(c.process.log)
		return fmt.Errorf("PostgreSQL: %s: %w\n%s", question, err, log[max(0, len(log)-4096):])
	}
}

// query runs a query on a connection of its own.
func (c *cluster) query(ctx context.Context, row func(pgx.Rows) error, sql string, args ...any) error {
	conn, err := pgx.Connect(ctx, hosts(c))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if row != nil {
			if err := row(rows); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

// hosts is the URL of whichever of several servers can be written to.
func hosts(clusters ...*cluster) string {
	var dirs, ports []string
	for _, c := range clusters {
		dirs, ports = append(dirs, c.dir), append(ports, "5432")
	}
	q := url.Values{"host": {strings.Join(dirs, ",")}, "port": {strings.Join(ports, ",")}, "user": {"postgres"}, "sslmode": {"disable"}}
	if len(clusters) > 1 {
		q.Set("target_session_attrs", "read-write")
	}
	return "postgres:///postgres?" + q.Encode()
}

// restart ends the server in immediate mode, without a checkpoint, and starts it again.
func (c *cluster) restart(ctx context.Context, settings ...string) error {
	if err := c.process.command.Process.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	<-c.process.exited
	return c.start(ctx, settings...)
}

// halt stops all processes of the server, and lists them.
func (c *cluster) halt() (processes, error) {
	main := c.process.command.Process.Pid
	// The one that starts others goes first, so that there are no more of them.
	if err := syscall.Kill(main, syscall.SIGSTOP); err != nil {
		return nil, err
	}
	for state, _ := stateOf(main); state != "T"; state, _ = stateOf(main) {
		time.Sleep(time.Millisecond)
	}
	all, err := children(main)
	if err != nil {
		return nil, err
	}
	all.signal(syscall.SIGSTOP)
	return append(all, main), nil
}

// processes are those of a server, by their numbers.
type processes []int

func (p processes) signal(signal syscall.Signal) {
	for _, pid := range p {
		_ = syscall.Kill(pid, signal) // it may be gone by itself
	}
}

// children lists the processes that a process has started.
func children(of int) (found processes, err error) {
	entries, err := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, notAProcess := strconv.Atoi(entry.Name()); notAProcess == nil {
			if _, parent := stateOf(pid); parent == strconv.Itoa(of) {
				found = append(found, pid)
			}
		}
	}
	return found, err
}

// stateOf reads the state and the parent of a process, empty if it is gone.
func stateOf(pid int) (state, parent string) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, behindName, _ := strings.Cut(string(line), ") ")
	if fields := strings.Fields(behindName); err == nil && len(fields) > 1 {
		state, parent = fields[0], fields[1]
	}
	return state, parent
}

// kill ends all processes at once, as when the machine is gone.
func (c *cluster) kill() error {
	// Halted first: those that are left for a moment must not answer anybody.
	all, err := c.halt()
	if err != nil {
		return err
	}
	all.signal(syscall.SIGKILL)
	<-c.process.exited
	c.process = nil
	return c.freeMemory()
}

// freeMemory removes the segment of shared memory by which PostgreSQL notices another
// server on the same data; who is killed leaves it behind.
func (c *cluster) freeMemory() error {
	lock, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	const line, remove = 6, 0 // shmctl's IPC_RMID
	var key, id uintptr
	lines := strings.Split(string(lock), "\n")
	if len(lines) > line {
		if _, err := fmt.Sscan(lines[line], &key, &id); err == nil {
			_, _, _ = syscall.Syscall(syscall.SYS_SHMCTL, id, remove, 0) // it may never have been made
		}
	}
	return nil
}

// close ends the server and removes its files.
func (c *cluster) close() error {
	if c.process != nil {
		_ = c.process.command.Process.Signal(syscall.SIGQUIT)
		<-c.process.exited
	}
	return os.RemoveAll(c.dir)
}
