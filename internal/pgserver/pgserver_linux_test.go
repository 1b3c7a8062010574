package pgserver

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestRunWhileThreadsEnd: programs run to their end, also if Go ends threads meanwhile. That of a program would end the program.
func TestRunWhileThreadsEnd(t *testing.T) {
	dir := t.TempDir()
	// It answers by one pipe when it has begun, and waits until somebody opens the other.
	if err := os.WriteFile(filepath.Join(dir, "wait"), []byte("#!/bin/sh\n: >\"$1\"; : <\"$2\"\n"), 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	// Goroutines that keep all processors busy: one that starts a program soon runs on another thread.
	var busy atomic.Bool
	busy.Store(true)
	defer busy.Store(false)
	for range 2 * runtime.GOMAXPROCS(0) {
		go func() {
			for busy.Load() {
			}
		}()
	}
	s := &Server{programs: dir, dir: dir, attributes: &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}}
	var running sync.WaitGroup
	var ends []string
	for i := range 4 {
		begun, end := filepath.Join(dir, fmt.Sprint("begun", i)), filepath.Join(dir, fmt.Sprint("end", i))
		for _, pipe := range []string{begun, end} {
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ends = append(ends, end)
		running.Go(func() {
			if err := s.Run("wait", begun, end); err != nil {
				t.Error(err)
			}
		})
		if _, err := os.ReadFile(begun); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		var ending sync.WaitGroup
		ending.Go(runtime.LockOSThread) // its thread ends with it
		ending.Wait()
	}
	for _, end := range ends {
		pipe, err := os.OpenFile(end, os.O_RDWR, 0) // waits for nobody, should the program have ended
		if err != nil {
			t.Fatal(err)
		}
		defer pipe.Close()
	}
	running.Wait()
}
