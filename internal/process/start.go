package process

import (
	"os/exec"
	"runtime"
)

// Start starts a command on an operating system thread of its own: the kernel sends the parent death signal of a
// process when the thread that forked it ends. Prepare, if not nil, is called on that thread first; what it does to the
// thread, such as setting its CPU affinity, is inherited by the process. Wait waits for the process to exit; then the
// channel is closed.
func Start(command *exec.Cmd, prepare func() error, wait func()) (<-chan struct{}, error) {
	started, exited := make(chan error), make(chan struct{})
	go func() {
		// Never unlocked: the thread lives as long as this goroutine, and no other goroutine gets what prepare did to it.
		runtime.LockOSThread()
		var err error
		if prepare != nil {
			err = prepare()
		}
		if err == nil {
			err = command.Start()
		}
		started <- err
		if err == nil {
			wait()
			close(exited)
		}
	}()
	return exited, <-started
}
