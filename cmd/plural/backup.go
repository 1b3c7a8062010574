package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural"
)

func newBackupCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy an SQLite database into a new file",
		Long: `Copy an SQLite database into a new file, and check the copy. A server may be
using the database: the copy is what it was at one moment. A file that exists is
never overwritten.`,
		Args: arguments(1, 1, "give the file to write the backup to"),
	}
	return onDatabase(command, func(command *cobra.Command, database string, args []string) error {
		if err := plural.Backup(command.Context(), database, args[0]); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Wrote %s, and checked it.\n", args[0])
		return nil
	})
}

func newRestoreCommand() *cobra.Command {
	var force bool
	command := &cobra.Command{
		Use:   "restore FILE",
		Short: "Replace an SQLite database by a backup",
		Long: `Replace an SQLite database by a backup, which is checked first. A server may be
using the database: it is replaced in one transaction. A database that has
resources is refused unless --force is given.`,
		Args: arguments(1, 1, "give the file of the backup"),
	}
	command.Flags().BoolVar(&force, "force", false, "replace what is in the database")
	return onDatabase(command, func(command *cobra.Command, database string, args []string) error {
		if err := plural.Restore(command.Context(), database, args[0], plural.RestoreOptions{Overwrite: force}); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Restored %s.\n", args[0])
		return nil
	})
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
