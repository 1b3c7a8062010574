package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/schema"
)

func newVersionsCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "versions",
		Short: "Show the versions of the interface, and who uses them",
		Long: `Show the versions of the interface that a database remembers: since when, whether
they are served, deprecated or ended, who used them last, and which API keys are
pinned to them.

With --schema, show also which of them that schema would end, and why.`,
		Args: noArguments,
	}
	load := addSettings(command, "schema", "database")
	command.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	command.RunE = func(command *cobra.Command, _ []string) error {
		database, err := databaseOf(command, load)
		if err != nil {
			return err
		}
		var to *schema.Schema
		if command.Flags().Changed("schema") {
			s, err := load()
			if err != nil {
				return err
			}
			to = s.config.Schema
		}
		versions, err := admin.Versions(command.Context(), database, to)
		if err != nil {
			return err
		}
		if asJSON {
			encoder := json.NewEncoder(command.OutOrStdout())
			encoder.SetIndent("", "  ")
			encoder.SetEscapeHTML(false)
			return encoder.Encode(append([]admin.Version{}, versions...))
		}
		return printVersions(command.OutOrStdout(), versions)
	}
	return command
}

// printVersions prints a table, the newest version first, and below it why versions have ended, or would end.
func printVersions(out io.Writer, versions []admin.Version) error {
	if len(versions) == 0 {
		fmt.Fprintln(out, "The schema of the database has no versions.")
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VERSION\tSINCE\tSTATE\tLAST USED\tPINNED KEYS")
	var reasons []string
	for i := len(versions) - 1; i >= 0; i-- {
		v := versions[i]
		state := "served"
		switch {
		case len(v.Ended) > 0:
			state = "ended"
			reasons = append(reasons, fmt.Sprintf("Version %d has ended: %s.", v.Number, strings.Join(v.Ended, "; ")))
		case v.Newest:
			state = "newest"
		case v.Sunset != "":
			state = "deprecated, sunset " + v.Sunset
		}
		if len(v.Ends) > 0 {
			reasons = append(reasons, fmt.Sprintf("This schema would end version %d: %s.", v.Number, strings.Join(v.Ends, "; ")))
		}
		var keys []string
		for _, key := range v.Keys {
			keys = append(keys, fmt.Sprintf("%s (%s)", key.Prefix, key.Name))
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", v.Number, v.Since.Format(time.DateOnly), state, shownUse(v), cmp.Or(strings.Join(keys, ", "), "none"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, reason := range reasons {
		fmt.Fprintln(out, reason)
	}
	return nil
}

// shownUse says who used a version last. Uses of the newest are not recorded.
func shownUse(v admin.Version) string {
	switch {
	case len(v.Uses) == 0 && v.Newest:
		return "not recorded"
	case len(v.Uses) == 0:
		return "never"
	}
	use := v.Uses[0]
	who := use.Caller
	switch {
	case who == "":
		who = "a caller without credentials"
	case use.Key != "":
		who += " (" + use.Key + ")"
	}
	shown := use.At.UTC().Format("2006-01-02 15:04") + " by " + who
	if others := len(v.Uses) - 1; others > 0 {
		shown += ", and " + suggest.Counted(others, "other")
	}
	return shown
}
