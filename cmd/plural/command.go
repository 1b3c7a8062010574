package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plural-go/plural/internal/suggest"
)

// addSettings adds some flags of serve to a command. Values that are not given come from the
// environment and the schema file, as for serve.
func addSettings(command *cobra.Command, names ...string) (load func() (*settings, error)) {
	var s settings
	all := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	s.register(all)
	for _, name := range names {
		command.Flags().AddFlag(all.Lookup(name))
	}
	return func() (*settings, error) { return &s, s.load(all) }
}

// withSettings makes a command run with some of the settings of serve.
func withSettings(command *cobra.Command, names []string, run func(command *cobra.Command, s *settings, args []string) error) *cobra.Command {
	load := addSettings(command, names...)
	command.RunE = func(command *cobra.Command, args []string) error {
		s, err := load()
		if err != nil {
			return err
		}
		return run(command, s, args)
	}
	return command
}

// onDatabase makes a command run with the URL of a database.
func onDatabase(command *cobra.Command, run func(command *cobra.Command, database string, args []string) error) *cobra.Command {
	load := addSettings(command, "schema", "database")
	command.RunE = func(command *cobra.Command, args []string) error {
		database, err := databaseOf(command, load)
		if err != nil {
			return err
		}
		return run(command, database, args)
	}
	return command
}

// databaseOf returns the database URL. If a flag or the environment gives it, the schema file
// is not read: a schema file with mistakes must not prevent a backup.
func databaseOf(command *cobra.Command, load func() (*settings, error)) (string, error) {
	flag := command.Flags().Lookup("database")
	if flag.Changed {
		return flag.Value.String(), nil
	}
	if value := os.Getenv(variable(flag.Name)); value != "" {
		return value, nil
	}
	s, err := load()
	if err != nil {
		return "", err
	}
	return s.config.Database, nil
}

// withCommands gives a command its subcommands. Alone it does nothing but say what to name.
func withCommands(command *cobra.Command, what string, commands ...*cobra.Command) *cobra.Command {
	var names []string
	for _, each := range commands {
		names = append(names, each.Name())
	}
	command.AddCommand(commands...)
	command.Args = noArguments
	command.RunE = func(*cobra.Command, []string) error { return fmt.Errorf("name %s: %s", what, suggest.OneOf(names)) }
	return command
}

// arguments checks the number of arguments of a command. Missing says in a sentence what it
// needs.
func arguments(least, most int, missing string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) < least {
			return fmt.Errorf("%s: %s", missing, command.UseLine())
		}
		if len(args) > most {
			return fmt.Errorf("%q is one argument too many: %s", args[most], command.UseLine())
		}
		return nil
	}
}

// exitError ends the program with its own exit status.
type exitError struct {
	status int
	err    error // nil: already reported
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }
