//go:build unix

package store

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// sharedState is a view of the memory that SQLite shares between processes.
type sharedState struct {
	file   *os.File
	mutex  sync.RWMutex // held for reading while memory is read
	memory []byte
	header *[2]fileState // of which the second is written first; nil when it is closed
}

// openSharedState maps the memory of a database that is open, and stays so until it
// is closed. Nil means that there is no such memory here.
func openSharedState(file string) *sharedState {
	file, err := filepath.EvalSymlinks(file) // as SQLite does
	if err != nil {
		return nil
	}
	shared, err := os.Open(file + "-shm") // #nosec G304 -- beside the database that the operator names
	if err != nil {
		return nil
	}
	memory, err := syscall.Mmap(int(shared.Fd()), 0, int(unsafe.Sizeof([2]fileState{})), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil // and the file stays open: see close
	}
	return &sharedState{file: shared, memory: memory, header: (*[2]fileState)(unsafe.Pointer(&memory[0]))} // #nosec G103 -- both are as long, and aligned as pages are
}

// read is the state of the database now. False means that it is just changing, or closed.
func (s *sharedState) read() (state fileState, ok bool) {
	if s == nil {
		return state, false
	}
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.header == nil {
		return state, false
	}
	for i := range state {
		state[i] = atomic.LoadUint32(&s.header[0][i])
	}
	for i := range state {
		if atomic.LoadUint32(&s.header[1][i]) != state[i] {
			return state, false
		}
	}
	return state, true
}

// close is called when the database is closed. Whoever closes a file gives up all locks
// that the process has on it, also those of other connections to the same database;
// if there are any, the file still has its name, and is left open.
func (s *sharedState) close() {
	if s == nil {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.header = nil
	_ = syscall.Munmap(s.memory)
	if info, err := s.file.Stat(); err == nil && info.Sys().(*syscall.Stat_t).Nlink == 0 {
		_ = s.file.Close()
	}
}
