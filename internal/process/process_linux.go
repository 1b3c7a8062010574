package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

// Process is a server that was started.
type Process struct {
	command *exec.Cmd
	log     string // file of its standard error
	ready   chan string
	exited  <-chan struct{}
	err     error // exit status
}

var apiLine = regexp.MustCompile(`API   http://(\S+)/\n`)

// Launch starts a server and does not wait until it is ready. Its standard error is appended to
// the log, so that the log can be truncated while the server runs. Prepare is that of Start.
func Launch(log string, command *exec.Cmd, prepare func() error) (*Process, error) {
	p := &Process{command: command, log: log, ready: make(chan string, 1)}
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL // it must not outlive a tool that is killed
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // #nosec G304 -- a file of the tool
	if err != nil {
		return nil, err
	}
	defer file.Close()
	command.Stderr = file
	p.exited, err = Start(command, prepare, func() {
		p.readOutput(out)
		p.err = command.Wait()
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// readOutput reads the standard output until the server exits.
func (p *Process) readOutput(out io.Reader) {
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

// Wait waits until the server accepts requests, and returns its address: a host and a port.
func (p *Process) Wait(ctx context.Context, timeout time.Duration) (address string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	select {
	case address = <-p.ready:
		return address, nil
	case <-p.exited:
		return "", fmt.Errorf("the server did not start: %w\n%s", p.err, p.LogTail())
	case <-ctx.Done():
		return "", fmt.Errorf("the server is not ready: %w", ctx.Err())
	}
}

// Pid is the id of the process.
func (p *Process) Pid() int { return p.command.Process.Pid }

// Signal sends a signal.
func (p *Process) Signal(signal os.Signal) error { return p.command.Process.Signal(signal) }

// LogTail is the end of the log.
func (p *Process) LogTail() []byte {
	log, _ := os.ReadFile(p.log)
	return log[max(0, len(log)-4096):]
}

// TruncateLog empties the log.
func (p *Process) TruncateLog() error { return os.Truncate(p.log, 0) }

// Kill ends the server at once, and returns when it has exited.
func (p *Process) Kill() {
	_ = p.Signal(syscall.SIGKILL) // it may have exited already
	<-p.exited
}

// Stop lets the server finish, and kills it after the timeout. It returns nil if the server has
// exited in time, with any status: see ExitError.
func (p *Process) Stop(timeout time.Duration) error {
	_ = p.Signal(syscall.SIGTERM) // it may have exited already
	select {
	case <-p.exited:
		return nil
	case <-time.After(timeout):
		p.Kill()
		return errors.New("the server did not stop in time, and was killed")
	}
}

// ExitError returns the error of a server that has exited with a status other than 0, or nil. It is
// called after Kill or Stop.
func (p *Process) ExitError() error { return p.err }
