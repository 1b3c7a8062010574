package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural/client/ts"
)

func newClientCommand() *cobra.Command {
	command := &cobra.Command{Use: "client", Short: "Write a typed client for the collections of a schema"}
	return withCommands(command, "the language", newTypeScriptCommand())
}

func newTypeScriptCommand() *cobra.Command {
	var out, role string
	var version int
	var options ts.Options
	command := &cobra.Command{
		Use:        "ts",
		SuggestFor: []string{"typescript", "TypeScript", "js", "javascript"},
		Short:      "Write a TypeScript client, one file without dependencies",
		Long: `Write a TypeScript client for the collections of a schema: one file, without
dependencies, for browsers, Node 18 or newer, Deno and Bun.

  plural client ts --out src/api.ts

Write it again when the schema changes: what no longer fits does not compile then.
If the schema file states a version, the client asks for it. --api-version writes
the client of an earlier version, which the database of a server remembers.`,
		Args: noArguments,
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`FILE` to write (default standard output)")
	flags.StringVar(&role, "role", "", "leave out what this role cannot see, set or do (default nothing)")
	flags.BoolVar(&options.BigInt, "bigint", false, "make integers bigint, unless their minimum and maximum are within ±(2^53 − 1)")
	addVersion(flags, &version)
	return withSettings(command, []string{"schema", "database"}, func(command *cobra.Command, s *settings, _ []string) error {
		if role != "" {
			if s.config.Access == nil {
				return errors.New("the schema file has no access, and so no roles")
			}
			var err error
			if options.Role, err = roleOf(s.config.Access, role); err != nil {
				return err
			}
			options.Grants = s.config.Access.Keys[role]
		}
		of, err := s.inVersion(command.Context(), version)
		if err != nil {
			return err
		}
		text := []byte(ts.Generate(of, options))
		if out == "" {
			_, err := dataOut(command).Write(text)
			return err
		}
		return os.WriteFile(out, text, 0o644) // #nosec G306 -- code to be read by others, without secrets
	})
}
