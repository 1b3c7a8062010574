//go:build linux

package bench

import (
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// core is a core of the machine, or none of them.
type core int

const anyCore core = -1

// coreSet is a set of cores as the kernel writes it.
type coreSet [1024 / bits.UintSize]uint

// cores chooses the core of the servers and that of the load. With one core
// there is no choice.
func cores() (servers, load core, err error) {
	var allowed coreSet
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(allowed), uintptr(unsafe.Pointer(&allowed))); errno != 0 {
		return anyCore, anyCore, fmt.Errorf("sched_getaffinity: %w", errno)
	}
	var found []core
	for i := range core(len(allowed) * bits.UintSize) {
		if allowed[i/bits.UintSize]&(1<<(i%bits.UintSize)) != 0 {
			found = append(found, i)
		}
	}
	if len(found) < 2 {
		return anyCore, anyCore, nil
	}
	return found[0], found[1], nil
}

// pinThread keeps a thread on the core, 0 for the one that calls. Threads and
// programs that it starts stay there too.
func (c core) pinThread(thread int) error {
	if c == anyCore {
		return nil
	}
	var set coreSet
	set[c/bits.UintSize] = 1 << (c % bits.UintSize)
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(thread), unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return fmt.Errorf("sched_setaffinity: %w", errno)
	}
	return nil
}

// pinProcess keeps the whole of this program on the core.
func (c core) pinProcess() error {
	if c == anyCore {
		return nil
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err == nil {
			err = c.pinThread(id)
		}
		if err != nil {
			return err
		}
	}
	runtime.GOMAXPROCS(1)
	return nil
}
