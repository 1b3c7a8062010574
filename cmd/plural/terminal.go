package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural/internal/terminal"
)

// The standard output and error of all commands. What is printed has parts of files, databases and responses, which must
// not control the terminal.
var stdout, stderr = terminal.Visibly{Out: os.Stdout}, terminal.Visibly{Out: os.Stderr}

// direct is a writer that changes nothing, for progress bars.
func direct(out io.Writer) io.Writer {
	if v, ok := out.(terminal.Visibly); ok {
		return v.Out
	}
	return out
}

// dataOut is the standard output of a command for data that a program may read: not a byte is changed, unless it goes to a
// terminal.
func dataOut(command *cobra.Command) io.Writer {
	if out := direct(command.OutOrStdout()); !terminal.Is(out) {
		return out
	}
	return command.OutOrStdout()
}
