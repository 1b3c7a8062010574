package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plural-go/plural/internal/suggest"
)

// flagHints has the flags of other programs, by the flag that does the same here.
var flagHints = map[string]string{
	"addr":     "port p host listen bind address adress",
	"plan":     "dry-run n",
	"output":   "o out",
	"out":      "o output",
	"database": "db d",
	"schema":   "config c file f",
}

// unknownFlag says which flag was meant by one that there is none of. Other errors stay as
// they are.
func unknownFlag(command *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	written, dashes := unknown.GetSpecifiedName(), "--"
	if shorthands := unknown.GetSpecifiedShortnames(); shorthands != "" {
		written, dashes = shorthands, "-" // -addr
	}
	written, _, _ = strings.Cut(written, "=")
	var names []string
	hint := ""
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, "--"+flag.Name)
		}
		if slices.Contains(strings.Fields(flagHints[flag.Name]), written) {
			hint = " (use --" + flag.Name + ")"
		}
	})
	return fmt.Errorf("unknown flag: %s%s%s; \"%s --help\" lists them", dashes, written, cmp.Or(hint, suggest.DidYouMean(written, names)), command.CommandPath())
}

// noArguments refuses arguments of a command that has subcommands or none: the first may be a
// misspelt subcommand.
func noArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, each := range command.Commands() {
		if each.IsAvailableCommand() {
			names = append(names, each.Name())
		}
		if slices.Contains(each.SuggestFor, args[0]) {
			return fmt.Errorf("unknown command: %s %s (did you mean %s?)", command.CommandPath(), args[0], each.Name())
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s takes no arguments, but was given %q", command.CommandPath(), args[0])
	}
	return fmt.Errorf("unknown command: %s %s%s; \"%s --help\" lists them", command.CommandPath(), args[0], suggest.DidYouMean(args[0], names), command.CommandPath())
}
