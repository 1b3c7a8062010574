//go:build linux

package soak

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
	"strings"
	"syscall"
	"time"
)

// Linked are variables of the server that no user can set, for servers that are
// less careful than they should be, or quicker to be tested.
type Linked struct {
	Synchronous string        // of SQLite
	Lease       time.Duration // of operations
}

// Build builds the server of the module in a directory, as a user would, but for
// what is linked.
func Build(ctx context.Context, module, binary string, linked Linked) error {
	var flags []string
	if linked.Synchronous != "" {
		flags = append(flags, "-X github.com/plural-go/plural/internal/db/sqlite.synchronous="+linked.Synchronous)
	}
	if linked.Lease != 0 {
		flags = append(flags, "-X github.com/plural-go/plural/internal/operation.lease="+linked.Lease.String())
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "-ldflags", strings.Join(flags, " "), "./cmd/plural")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(build.Args, " "), err, out)
	}
	return nil
}

// process is a running "plural serve".
type process struct {
	command *exec.Cmd
	log     string // the file of what it says
	ready   chan string
	exited  chan struct{}
	err     error // how it exited
}

// maxStart is how long a server may take until it answers.
const maxStart = 5 * time.Minute

var apiLine = regexp.MustCompile(`API   (http://\S+)/\n`)

// launch starts a server and does not wait for it.
func launch(log string, command *exec.Cmd) (*process, error) {
	p := &process{command: command, log: log, ready: make(chan string, 1), exited: make(chan struct{})}
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	// It must not outlive a harness that is killed.
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p.command.Stderr = file
	started := make(chan error)
	go func() {
		// The kernel ties the signal to the thread that forked, so that thread
		// has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		started <- err
		if err == nil {
			p.greeting(out)
			p.err = p.command.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
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

// wait returns the base URL when the server takes requests.
func (p *process) wait(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxStart)
	defer cancel()
	select {
	case base := <-p.ready:
		return base, nil
	case <-p.exited:
		log, _ := os.ReadFile(p.log)
		return "", fmt.Errorf("the server did not start: %w\n%s", p.err, log[max(0, len(log)-4096):])
	case <-ctx.Done():
		return "", fmt.Errorf("the server does not get ready: %w", ctx.Err())
	}
}

// kill ends the server at once, and returns when it is gone.
func (p *process) kill() {
	_ = p.command.Process.Signal(syscall.SIGKILL) // it may be gone already
	<-p.exited
}

// stop lets the server finish.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
		return p.err
	case <-time.After(maxStart):
		p.kill()
		return errors.New("the server did not stop when it was told to")
	}
}
