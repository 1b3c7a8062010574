//go:build linux

package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clock tells how much time has passed since some moment.
type clock func() (time.Duration, error)

// wallClock is the time of everybody.
func wallClock() clock {
	started := time.Now()
	return func() (time.Duration, error) { return time.Since(started), nil }
}

// processorClock is the time for which the processor has worked for a server, and for
// the database behind it. It stands still while the machine does something else, and
// while a disk is waited for.
func processorClock(processes ...int) clock {
	return func() (total time.Duration, err error) {
		for _, p := range processes {
			spent, err := processorTime(p)
			if err != nil {
				return 0, err
			}
			total += spent
		}
		return total, nil
	}
}

// processorTime is what a process and its children have used.
func processorTime(pid int) (total time.Duration, err error) {
	parent := strconv.Itoa(pid)
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, file := range all {
		line, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended meanwhile
		}
		if err != nil {
			return 0, err
		}
		spent, err := spentBy(string(line), parent)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		total += spent
	}
	return total, nil
}

// tick is what the kernel counts in, whatever its own clock.
const tick = time.Second / 100

// spentBy reads the line of a process, and returns what it has used if it is the one
// that is meant, or a child of that.
func spentBy(line, pid string) (time.Duration, error) {
	own, _, _ := strings.Cut(line, " ")
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:]) // a name may have spaces
	const parent, user, system = 1, 11, 12
	if len(fields) <= system {
		return 0, fmt.Errorf("%q is no line of a process", line)
	}
	if own != pid && fields[parent] != pid {
		return 0, nil
	}
	inUser, err := strconv.ParseInt(fields[user], 10, 64)
	if err != nil {
		return 0, err
	}
	inSystem, err := strconv.ParseInt(fields[system], 10, 64)
	return time.Duration(inUser+inSystem) * tick, err
}
