//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/plural-go/plural/tools/soak/disk"
	"github.com/plural-go/plural/tools/soak/ledger"
)

// FaultTest is a test in which a disk fails.
type FaultTest struct {
	Name string
	Run  func(ctx context.Context, server string, writers int, seed uint64) (*Run, error)
}

// Faults lists the tests. Mounting a tmpfs needs root.
func Faults() []FaultTest {
	faults := []FaultTest{
		{"disk full", onDisk(func(ctx context.Context, s *SQLite, d *disk.Disk, writers int, seed uint64) (*Run, error) {
			return fullDisk(ctx, s, diskSpace{d}, writers, seed)
		})},
		{"error in a write to the log", failing(disk.Write, databaseFile+"-wal")},
		{"error in a sync of the log", failing(disk.Sync, databaseFile+"-wal")},
		{"error in a write to the database", failing(disk.Write, databaseFile)},
		{"error in a sync of the database", failing(disk.Sync, databaseFile)},
	}
	if os.Geteuid() == 0 {
		faults = append(faults, FaultTest{"tmpfs full", fullTmpfs})
	}
	return faults
}

// onDisk runs a test on a simulated disk.
func onDisk(test func(context.Context, *SQLite, *disk.Disk, int, uint64) (*Run, error)) func(context.Context, string, int, uint64) (*Run, error) {
	return func(ctx context.Context, server string, writers int, seed uint64) (r *Run, err error) {
		d := disk.New(seed)
		s, err := NewSQLiteOn(d, server)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return test(ctx, s, d, writers, seed)
	}
}

func failing(op disk.Op, file string) func(context.Context, string, int, uint64) (*Run, error) {
	return onDisk(func(ctx context.Context, s *SQLite, d *disk.Disk, writers int, seed uint64) (*Run, error) {
		return diskError(ctx, s, d, op, file, writers, seed)
	})
}

func fullTmpfs(ctx context.Context, server string, writers int, seed uint64) (r *Run, err error) {
	s, space, err := newSQLiteOnTmpfs(server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return fullDisk(ctx, s, space, writers, seed)
}

// someWrites is the number of writes before and after a fault.
const someWrites = 100

// fullDisk fills a disk while the writers run, and frees space again. While the disk is full, writes
// must be refused and reads must succeed. Writes must succeed as soon as there is space, without a
// restart.
func fullDisk(ctx context.Context, s *SQLite, space space, writers int, seed uint64) (*Run, error) {
	r := NewRun(s, writers, seed)
	defer r.unsubscribe()
	r.broken = []int{http.StatusServiceUnavailable}
	c, err := r.begin(ctx)
	if err != nil || c == nil {
		return r, err
	}
	if err := space.fill(); err != nil {
		return r, err
	}
	if err := r.write(ctx, c, until{errors: 3 * writers}, nothing); err != nil {
		return r, err
	}
	r.expect(ctx, c, message{method: "POST", path: "/accounts", body: encode(attributes("too much"))}, http.StatusServiceUnavailable, "storage_full")
	r.expect(ctx, c, message{method: "GET", path: "/accounts?limit=1"}, http.StatusOK, "")
	r.expect(ctx, c, message{method: "GET", path: "/-/health"}, http.StatusOK, "")
	if err := space.free(); err != nil {
		return r, err
	}
	r.broken = nil
	if err := r.writeSome(ctx, c); err != nil {
		return r, err
	}
	return r, r.end(ctx, c)
}

// diskError makes one operation on the database file fail. From then on, until it is restarted, the
// server must refuse writes with an error that says so, although the disk works again, and must
// answer reads.
func diskError(ctx context.Context, s *SQLite, d *disk.Disk, op disk.Op, suffix string, writers int, seed uint64) (*Run, error) {
	r := NewRun(s, writers, seed)
	defer r.unsubscribe()
	r.broken = []int{http.StatusServiceUnavailable}
	c, err := r.begin(ctx)
	if err != nil || c == nil {
		return r, err
	}
	d.Fail(op, suffix, 1)
	if err := r.write(ctx, c, until{errors: 2 * writers}, nothing); err != nil {
		return r, err
	}
	if d.Failed(op) != 1 {
		return r, fmt.Errorf("a %s of %s was to fail once, and failed %d times", op, suffix, d.Failed(op))
	}
	r.expect(ctx, c, message{method: "GET", path: "/accounts?limit=1"}, http.StatusOK, "")
	r.expect(ctx, c, message{method: "GET", path: "/-/health"}, http.StatusServiceUnavailable, "")
	if err := r.write(ctx, c, until{acks: 1, errors: writers}, nothing); err != nil {
		return r, err
	}
	if acks := r.tally.soFar().acks; acks > 0 {
		r.find(ledger.Violation{Fault: ledger.Wrong, Text: fmt.Sprintf("%d writes were acknowledged after the disk had failed", acks)})
	}
	return r, r.end(ctx, c)
}

func nothing() error { return nil }

// begin starts the server and runs the writers for some writes.
func (r *Run) begin(ctx context.Context) (*client, error) {
	c, err := r.start(ctx)
	if err != nil || c == nil {
		return nil, err
	}
	return c, r.writeSome(ctx, c)
}

// writeSome runs the writers for some writes, which must succeed.
func (r *Run) writeSome(ctx context.Context, c *client) error {
	if err := r.write(ctx, c, until{acks: someWrites}, nothing); err != nil {
		return err
	}
	if acks := r.tally.soFar().acks; acks < someWrites {
		r.find(ledger.Violation{Fault: ledger.Wrong, Text: fmt.Sprintf("only %d writes are acknowledged in %v", acks, maxWriting)})
	}
	return nil
}

// end crashes the server and checks everything.
func (r *Run) end(ctx context.Context, c *client) error {
	if err := r.crash(c); err != nil {
		return err
	}
	if ok, err := r.checkAtRest(); !ok || err != nil {
		return err
	}
	return r.Finish(ctx)
}

// expect sends a message and checks the status and, if given, the code of the error. A 503 must have
// Retry-After.
func (r *Run) expect(ctx context.Context, c *client, m message, status int, code string) {
	answer, header, err := c.send(ctx, m)
	if err != nil || answer.Status != status || answer.Code() != code {
		r.find(ledger.Violation{Fault: ledger.Wrong, Text: fmt.Sprintf("%v: %v, %d %s, and not %d %s", m, err, answer.Status, answer.Body, status, code)})
	}
	if code != "" && header.Get("Retry-After") == "" {
		r.find(ledger.Violation{Fault: ledger.Wrong, Text: fmt.Sprintf("%v: %d without Retry-After", m, answer.Status)})
	}
}

// space is the free space of a disk, which can be taken away and given back.
type space interface {
	fill() error
	free() error
}

// diskSpace is the free space of a simulated disk.
type diskSpace struct{ *disk.Disk }

func (s diskSpace) fill() error {
	s.Resize(s.Used())
	return nil
}

func (s diskSpace) free() error {
	s.Resize(0)
	return nil
}

// tmpfs is a file system of the kernel in memory. Mounting one needs root.
type tmpfs struct{ dir string }

// newSQLiteOnTmpfs prepares a server whose database is on a small file system.
func newSQLiteOnTmpfs(binary string) (*SQLite, space, error) {
	s, err := NewSQLite(binary)
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.Mount("tmpfs", s.data, "tmpfs", 0, "size=64m"); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("a tmpfs cannot be mounted: %w", err), s.Close())
	}
	s.unmount = func() error { return syscall.Unmount(s.data, 0) }
	return s, tmpfs{s.data}, nil
}

// fill writes a file until the disk is full.
func (t tmpfs) fill() error {
	file, err := os.Create(t.filler())
	if err != nil {
		return err
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 1<<20))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return nil
}

func (t tmpfs) free() error { return syscall.Unlink(t.filler()) }

func (t tmpfs) filler() string { return filepath.Join(t.dir, "filler") }
