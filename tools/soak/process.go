//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/loopback"
	"github.com/plural-go/plural/internal/process"
)

// Linked are variables that are set when the server is built: no user can set them. They make a
// server unsafe, for controls, or faster to test.
type Linked struct {
	Synchronous string        // of SQLite
	Lease       time.Duration // of operations
}

// Build builds the server of the module in a directory, as it is released, with linked variables.
func Build(ctx context.Context, module, binary string, linked Linked) error {
	flags := []string{"-s"} // no debugger reads it
	if linked.Synchronous != "" {
		flags = append(flags, "-X github.com/plural-go/plural/internal/db/sqlite.synchronous="+linked.Synchronous)
	}
	if linked.Lease != 0 {
		flags = append(flags, "-X github.com/plural-go/plural/internal/operation.lease="+linked.Lease.String())
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "-ldflags", strings.Join(flags, " "), "./cmd/plural")
	build.Dir = module
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(build.Args, " "), err, out)
	}
	return nil
}

// launch starts a server at an address that no other server has: clients keep calling it after a crash until they are told
// the new one.
func launch(log, binary, schema, database string, flags ...string) (*process.Process, error) {
	return process.Launch(log, exec.Command(binary, append([]string{"serve", "--addr=" + loopback.Address(), "--log-level=warn", "--idempotency-quota=4GiB",
		"--schema=" + schema, "--database=" + database}, flags...)...), nil)
}

// maxStart is how long a server may take to become ready, and to stop.
const maxStart = 5 * time.Minute

// baseOf returns the base URL of a server when it is ready.
func baseOf(ctx context.Context, p *process.Process) (string, error) {
	address, err := p.Wait(ctx, maxStart)
	if err != nil {
		return "", err
	}
	return "http://" + address, nil
}

// stop stops a server gracefully, which must succeed.
func stop(p *process.Process) error { return errors.Join(p.Stop(maxStart), p.ExitError()) }
