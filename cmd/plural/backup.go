package main

import (
	"fmt"

	"github.com/plural-go/plural/admin"
	"github.com/spf13/cobra"
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
		if err := admin.Backup(command.Context(), database, args[0]); err != nil {
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
		if err := admin.Restore(command.Context(), database, args[0], admin.RestoreOptions{Overwrite: force}); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Restored %s.\n", args[0])
		return nil
	})
}
