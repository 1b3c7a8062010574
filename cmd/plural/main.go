// Command plural turns a schema of collections into a JSON HTTP API.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// version and commit are set by the linker when a release is built.
var version, commit = unstamped, ""

const unstamped = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := newRootCommand().ExecuteContext(ctx)
	if err == nil {
		return
	}
	if err.Error() != "" {
		fmt.Fprintln(os.Stderr, "plural:", err)
	}
	status := 1
	if exit := (*exitError)(nil); errors.As(err, &exit) {
		status = exit.status
	}
	os.Exit(status)
}
