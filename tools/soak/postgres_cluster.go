//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/plural-go/plural/internal/pgserver"
)

// cluster is a PostgreSQL server that can be stopped, killed and replaced.
type cluster struct{ *pgserver.Server }

// follow makes this server a standby of another. Its own data are removed.
func (c *cluster) follow(ctx context.Context, primary *cluster) error {
	if err := os.RemoveAll(c.Data()); err != nil {
		return err
	}
	if err := c.Run("pg_basebackup", "--pgdata="+c.Data(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
		"--dbname="+hosts(primary)); err != nil {
		return err
	}
	return c.Start(ctx)
}

// hosts is a URL that connects to the one of several servers that accepts writes.
func hosts(clusters ...*cluster) string {
	var servers []*pgserver.Server
	for _, c := range clusters {
		servers = append(servers, c.Server)
	}
	return pgserver.URL("postgres", servers...)
}

// restart ends the server in immediate mode, without a checkpoint, and starts it again.
func (c *cluster) restart(ctx context.Context, settings ...string) error {
	if err := c.Stop(); err != nil {
		return err
	}
	return c.Start(ctx, settings...)
}

// halt stops all processes of the server, and lists them.
func (c *cluster) halt() (processes, error) {
	main := c.Pid()
	// The process that starts others is stopped first, so that no new ones appear.
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

// processes are the ids of the processes of a server.
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

// stateOf reads the state and the parent of a process, empty if it has ended.
func stateOf(pid int) (state, parent string) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, behindName, _ := strings.Cut(string(line), ") ")
	if fields := strings.Fields(behindName); err == nil && len(fields) > 1 {
		state, parent = fields[0], fields[1]
	}
	return state, parent
}

// kill ends all processes at once, as a crash of the machine would.
func (c *cluster) kill() error {
	// They are stopped first, so that none responds while others are already killed.
	all, err := c.halt()
	if err != nil {
		return err
	}
	all.signal(syscall.SIGKILL)
	return errors.Join(c.Wait(), c.freeMemory())
}

// freeMemory removes the shared memory segment by which PostgreSQL detects another server on the same
// data. A killed server does not remove it.
func (c *cluster) freeMemory() error {
	lock, err := os.ReadFile(filepath.Join(c.Data(), "postmaster.pid"))
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
