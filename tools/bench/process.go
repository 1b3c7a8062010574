//go:build linux

package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server that was started.
type process struct {
	command *exec.Cmd
	log     string // the file of what it says
	ready   chan string
	exited  chan struct{}
	err     error // how it exited
}

// maxStart is how long a server may take until it answers, and to stop.
const maxStart = time.Minute

var apiLine = regexp.MustCompile(`API   http://(\S+)/\n`)

// launch starts a program on a core, and does not wait for it.
func launch(log string, on core, command *exec.Cmd) (*process, error) {
	p := &process{command: command, log: log, ready: make(chan string, 1), exited: make(chan struct{})}
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL // it must not outlive a harness that is killed
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// Appended to, so that it can be emptied while the program writes.
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	command.Stderr = file
	started := make(chan error)
	go func() {
		// A program inherits the core of the thread that starts it, and gets the
		// signal when that ends. So the thread stays, and is nobody else's.
		runtime.LockOSThread()
		err := on.pinThread(0)
		if err == nil {
			err = command.Start()
		}
		started <- err
		if err == nil {
			p.greeting(out)
			p.err = command.Wait()
			close(p.exited)
		}
	}()
	return p, <-started
}

// greeting reads what the server prints until it exits.
func (p *process) greeting(out io.Reader) {
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if found := apiLine.FindStringSubmatch(line); found != nil {
			p.ready <- found[1]
		}
	}
}

// wait returns the address of the server when it takes requests.
func (p *process) wait(ctx context.Context) (address string, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxStart)
	defer cancel()
	select {
	case address = <-p.ready:
		return address, nil
	case <-p.exited:
		return "", fmt.Errorf("the server did not start: %w\n%s", p.err, p.said())
	case <-ctx.Done():
		return "", fmt.Errorf("the server does not get ready: %w", ctx.Err())
	}
}

func (p *process) pid() int { return p.command.Process.Pid }

// said is the end of its log.
func (p *process) said() []byte {
	log, _ := os.ReadFile(p.log)
	return log[max(0, len(log)-4096):]
}

// stop asks the server to end, and makes sure that it does.
func (p *process) stop(signal syscall.Signal) error {
	_ = p.command.Process.Signal(signal) // it may be gone already
	select {
	case <-p.exited:
		return nil
	case <-time.After(maxStart):
		_ = p.command.Process.Kill()
		<-p.exited
		return errors.New("a server did not stop when it was told to")
	}
}

// memory reads one of the sizes that the kernel keeps of a process, in MiB.
func (p *process) memory(name string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, behind, _ := strings.Cut(string(status), "\n"+name+":")
	line, _, _ := strings.Cut(behind, " kB\n")
	kilobytes, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	return kilobytes / 1024, err
}
