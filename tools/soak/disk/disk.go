//go:build linux

// Package disk is a file system in memory that simulates faults of disks, for the
// crash harness. It has two versions of each file: the one that programs see, and
// the one that is durable, which gets a write when it is synced. A power cut keeps
// the durable version, and a random part of the writes that were not synced. The
// disk can also be full, return errors, and report a sync that it has not done.
//
// The file system has one directory. It is mounted by FUSE, so that a real process
// uses it by real system calls.
package disk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Disk is the state of a disk. It outlives its mounts, as platters do.
type Disk struct {
	mutex   sync.Mutex
	rng     *rand.Rand
	names   map[string]*file // the directory as programs see it
	platter map[string]*file // the directory as it would be after a power cut
	pending []renaming       // what the former has and the latter does not, in order
	lastIno uint64

	off      bool  // the power is cut
	trap     *trap // cuts it at a certain moment
	lies     bool  // a sync is acknowledged and not done
	capacity int64 // in bytes, 0 for no end
	faults   map[Op]*fault
	opened   []Opening
}

// Opening is one successful call of open(2), by any program.
type Opening struct {
	Name    string
	Flags   int  // those that the kernel passes on: without O_CREAT and O_EXCL for a file that exists
	Created bool // there was no such file
}

// Opened lists how files were opened, in order. No opening is missing, however soon the file was closed.
func (d *Disk) Opened() []Opening {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Clone(d.opened)
}

// file is a file, whatever its name is.
type file struct {
	ino     uint64
	data    []byte   // as programs see it
	platter []byte   // as it would be after a power cut
	pending []change // what the former has and the latter may not, in order
}

// renaming is a change of the directory: each name gets a file, or none. All
// of them are changed together or not at all.
type renaming map[string]*file

// Op is an operation that can be made to fail.
type Op string

// The operations that can fail.
const (
	Write Op = "write"
	Short Op = "short write" // which is no error: only some of the bytes are written, and the program is told how many
	Sync  Op = "sync"
)

// fault lets an operation on some files fail.
type fault struct {
	suffix string
	passes int // how many operations succeed first
	left   int // how often yet; negative for ever
	struck int
}

// New makes an empty disk. What its power cuts keep depends on the seed alone,
// and on what programs do.
func New(seed uint64) *Disk {
	return &Disk{
		rng:     rand.New(rand.NewPCG(seed, 0)),
		names:   map[string]*file{},
		platter: map[string]*file{},
		faults:  map[Op]*fault{},
	}
}

// Lie lets the disk acknowledge every sync from now on, and do none.
func (d *Disk) Lie() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.lies = true
}

// Resize sets how many bytes the files can have together; 0 is no bound. What
// is there stays, however small the disk becomes.
func (d *Disk) Resize(capacity int64) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.capacity = capacity
}

// Used is how many bytes the files have together.
func (d *Disk) Used() int64 {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.used()
}

func (d *Disk) used() (n int64) {
	for _, f := range d.names {
		n += int64(len(f.data))
	}
	return n
}

// Fail lets the next operations of a kind on files whose names end in suffix
// fail with EIO, times of them, or all if times is negative. A failed write has
// written some of its bytes. A failed sync has synced some of the writes; the
// others are lost for good, as the next sync does not try them again.
func (d *Disk) Fail(op Op, suffix string, times int) { d.FailAfter(op, suffix, 0, times) }

// FailAfter is Fail, once some of these operations have succeeded.
func (d *Disk) FailAfter(op Op, suffix string, passes, times int) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.faults[op] = &fault{suffix: suffix, passes: passes, left: times}
}

// Failed counts the operations that have failed since Fail was called for them.
func (d *Disk) Failed(op Op) int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.faults[op] == nil {
		return 0
	}
	return d.faults[op].struck
}

// nameOf is the name of a file, or empty if it has none any more.
func (d *Disk) nameOf(f *file) string {
	for name, named := range d.names {
		if named == f {
			return name
		}
	}
	return ""
}

// fails says whether an operation on a file fails now.
func (d *Disk) fails(op Op, f *file) bool {
	fault := d.faults[op]
	if fault == nil || fault.left == 0 {
		return false
	}
	if name := d.nameOf(f); name == "" || !strings.HasSuffix(name, fault.suffix) {
		return false
	}
	if fault.passes > 0 {
		fault.passes--
		return false
	}
	fault.left--
	fault.struck++
	return true
}

// trap cuts the power in the middle of an operation.
type trap struct {
	op   Op
	left int // operations until then
	told chan string
}

// Cut cuts the power. What was synced stays; of everything else some parts may
// have arrived, and others not. Programs get errors until the disk is mounted
// again. It tells what was lost, for people.
func (d *Disk) Cut() string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.cut()
}

// CutSoon cuts the power at one of the next writes or syncs, which is when it does
// most harm, or after a moment if there are none.
func (d *Disk) CutSoon() string {
	d.mutex.Lock()
	t := &trap{op: Sync, left: d.rng.IntN(4), told: make(chan string, 1)}
	if d.rng.IntN(2) == 0 {
		t.op, t.left = Write, d.rng.IntN(40)
	}
	d.trap = t
	d.mutex.Unlock()
	select {
	case told := <-t.told:
		return told
	case <-time.After(300 * time.Millisecond):
		return d.Cut()
	}
}

// spring cuts the power if it is to be cut at this operation.
func (d *Disk) spring(op Op) {
	if t := d.trap; t != nil && t.op == op {
		if t.left--; t.left < 0 {
			t.told <- fmt.Sprintf("during a %s, %s", op, d.cut())
		}
	}
}

func (d *Disk) cut() string {
	d.off, d.trap = true, nil
	names := maps.Clone(d.platter)
	for _, renaming := range d.pending {
		if d.rng.IntN(2) == 0 {
			renaming.apply(names)
		}
	}
	var told []string
	for name, f := range names {
		told = append(told, fmt.Sprintf("%s: %s", name, f.settle(d.rng)))
	}
	d.names, d.platter, d.pending = names, maps.Clone(names), nil
	return strings.Join(told, "; ")
}

// Content copies the files, as programs see them.
func (d *Disk) Content() map[string][]byte {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	content := map[string][]byte{}
	for name, f := range d.names {
		content[name] = append([]byte{}, f.data...)
	}
	return content
}

func (d *Disk) rename(r renaming) syscall.Errno {
	if d.off {
		return syscall.EIO
	}
	r.apply(d.names)
	d.pending = append(d.pending, r)
	return 0
}

func (r renaming) apply(names map[string]*file) {
	for name, f := range r {
		if f == nil {
			delete(names, name)
		} else {
			names[name] = f
		}
	}
}

func (d *Disk) syncNames() syscall.Errno {
	if d.off {
		return syscall.EIO
	}
	if !d.lies {
		d.platter, d.pending = maps.Clone(d.names), nil
	}
	return 0
}

// write returns how many bytes it has written.
func (d *Disk) write(f *file, data []byte, offset int64) (int, syscall.Errno) {
	d.spring(Write)
	if !d.off && len(data) > 1 && d.fails(Short, f) {
		data = data[:len(data)/2]
		d.put(f, change{offset: offset, data: data})
		return len(data), 0
	}
	grows := offset + int64(len(data)) - int64(len(f.data))
	switch {
	case d.off:
		return 0, syscall.EIO
	case d.fails(Write, f):
		d.put(f, change{offset: offset, data: data[:d.rng.IntN(len(data)+1)]})
		return 0, syscall.EIO
	case grows > 0 && d.capacity > 0 && d.used()+grows > d.capacity:
		return 0, syscall.ENOSPC
	}
	d.put(f, change{offset: offset, data: data})
	return len(data), 0
}

func (d *Disk) truncate(f *file, size int64) syscall.Errno {
	if d.off {
		return syscall.EIO
	}
	d.put(f, change{offset: size, truncates: true})
	return 0
}

// put makes a change, of which it keeps a copy.
func (*Disk) put(f *file, c change) {
	c.data = append([]byte{}, c.data...)
	f.data = c.apply(f.data)
	f.pending = append(f.pending, c)
}

func (d *Disk) sync(f *file) syscall.Errno {
	d.spring(Sync)
	switch {
	case d.off:
		return syscall.EIO
	case d.fails(Sync, f):
		seen := f.data
		f.settle(d.rng)
		f.data = seen
		return syscall.EIO
	case d.lies:
		return 0
	}
	for _, c := range f.pending {
		f.platter = c.apply(f.platter)
	}
	f.pending = nil
	return 0
}
