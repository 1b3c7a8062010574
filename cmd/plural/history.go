package main

import (
	"fmt"

	"github.com/plural-go/plural/admin"
	"github.com/spf13/cobra"
)

func newHistoryCommand() *cobra.Command {
	command := &cobra.Command{Use: "history", Short: "Begin a new history of the change log"}
	return withCommands(command, "a command", newRenewHistoryCommand())
}

func newRenewHistoryCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "renew",
		Short: "Give the database another history id",
		Long: `Give the database another history id. ETags and positions in the change log that
were given before are refused from then on; streams begin again with a snapshot.

Run it when the database was put back by other means than "plural restore" and
"plural copy", which do it by themselves: after pg_restore, or after a failover to an
asynchronous standby. Such a database gives the same revisions again for something
else. Servers that use the database notice it with the next request.`,
		Args: noArguments,
	}
	return onDatabase(command, func(command *cobra.Command, database string, _ []string) error {
		if err := admin.RenewHistory(command.Context(), database); err != nil {
			return err
		}
		fmt.Fprintln(command.OutOrStdout(), "The database has a new history.")
		return nil
	})
}
