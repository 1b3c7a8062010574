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
	err := newRootCommand().ExecuteContext(untilSignal())
	if err == nil {
		return
	}
	if err.Error() != "" {
		fmt.Fprintln(stderr, "plural:", plain(err))
	}
	status := 1
	if exit := (*exitError)(nil); errors.As(err, &exit) {
		status = exit.status
	}
	os.Exit(status)
}

// untilSignal returns a context that ends with the first signal to stop. The second one ends
// the program at once, even if the shell that started it in the background ignores signals.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(130)
	}()
	return ctx
}
