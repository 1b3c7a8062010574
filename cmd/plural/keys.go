package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/schema"
	"github.com/spf13/cobra"
)

func newKeysCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Long: `Create, list and revoke API keys. They are in the database, as hashes; a server may
be using it, and sees the change with the next request.`,
	}
	return withCommands(command, "a command", newCreateKeyCommand(), newListKeysCommand(), newRevokeKeyCommand())
}

func newCreateKeyCommand() *cobra.Command {
	var key admin.Key
	var expires time.Duration
	command := &cobra.Command{
		Use:   "create --name NAME --role ROLE",
		Short: "Create an API key, and show it once",
		Args:  noArguments,
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&key.Name, "name", "", "what the key is for")
	flags.StringVar(&key.Role, "role", "", "role of its holder")
	flags.StringVar(&key.Subject, "sub", "", "what auth.sub is in rules (default the prefix of the key)")
	flags.Var(count(&key.APIVersion, 1), "api-version", "version of the interface that its holder uses without the header API-Version (default the newest)")
	flags.BoolVar(&key.AgentWrites, "agent-writes", false, "agents with the key may write what the role may write, see plural mcp (default: they only read)")
	flags.Var(span(&expires), "expires", "how long it is valid, for example 90d (default forever)")
	flags.Lookup("expires").DefValue = "" // the usage says it
	return withSettings(command, []string{"schema", "database"}, func(command *cobra.Command, s *settings, _ []string) error {
		if key.Name == "" || key.Role == "" {
			return errors.New("give --name and --role")
		}
		if _, err := roleOf(s.config.Access, key.Role); err != nil {
			return err
		}
		if expires > 0 {
			key.Expires = time.Now().Add(expires)
		}
		secret, err := admin.CreateKey(command.Context(), s.config.Database, key)
		if err != nil {
			return err
		}
		fmt.Fprintln(command.OutOrStdout(), secret)
		fmt.Fprintln(command.ErrOrStderr(), "This is the only time that the key is shown. Send it as Authorization: Bearer and the key.")
		return nil
	})
}

// roleOf finds a role that the schema file declares.
func roleOf(access *schema.Access, name string) (*schema.Role, error) {
	if access == nil {
		return nil, errors.New("the schema file has no access, so an API key has no effect: declare access first")
	}
	var names []string
	for i := range access.Roles {
		if access.Roles[i].Name == name {
			return &access.Roles[i], nil
		}
		names = append(names, access.Roles[i].Name)
	}
	return nil, fmt.Errorf("there is no role %q: there are %s", name, strings.Join(names, ", "))
}

func newListKeysCommand() *cobra.Command {
	command := &cobra.Command{Use: "list", Short: "List the API keys", Args: noArguments}
	return onDatabase(command, func(command *cobra.Command, database string, _ []string) error {
		keys, err := admin.Keys(command.Context(), database)
		if err != nil {
			return err
		}
		return printKeys(command.OutOrStdout(), keys, time.Now())
	})
}

func printKeys(out io.Writer, keys []admin.Key, now time.Time) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PREFIX\tNAME\tROLE\tSUB\tVERSION\tAGENTS\tCREATED\tSTATE")
	for _, key := range keys {
		state := "valid"
		switch {
		case !key.Revoked.IsZero():
			state = "revoked " + key.Revoked.Format(time.DateOnly)
		case !key.Expires.IsZero() && !key.Expires.After(now):
			state = "expired " + key.Expires.Format(time.DateOnly)
		case !key.Expires.IsZero():
			state = "valid until " + key.Expires.Format(time.DateOnly)
		}
		version := ""
		if key.APIVersion != 0 {
			version = strconv.Itoa(key.APIVersion)
		}
		agents := "read"
		if key.AgentWrites {
			agents = "write"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", key.Prefix, key.Name, key.Role, key.Subject, version, agents, key.Created.Format(time.DateOnly), state)
	}
	return table.Flush()
}

func newRevokeKeyCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "revoke PREFIX",
		Short: "Revoke an API key, at once and on every server",
		Args:  arguments(1, 1, "give the prefix of the key, which \"plural keys list\" shows"),
	}
	return onDatabase(command, func(command *cobra.Command, database string, args []string) error {
		prefix, err := admin.RevokeKey(command.Context(), database, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Revoked %s.\n", prefix)
		return nil
	})
}
