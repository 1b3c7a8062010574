package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/slowlog"
	"github.com/plural-go/plural/internal/terminal"
	"github.com/spf13/cobra"
)

func newDoctorCommand() *cobra.Command {
	var repair bool
	var slow bool
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Compare totals, offset indexes, words for search, indexed items and the change log with the resources",
		Long: `Check the data that Plural derives from the resources of a database: the totals of
collections and sub-collections, the indexes that make offsets fast, the words for
search, the items of indexed arrays, and the change log. Every write maintains them,
so nothing should ever be wrong. A server may be using the database. The exit status
is 1 if something is wrong and was not repaired. The repair of a change log removes
it and begins a new history.

With --repair, it also examines the lists of prefixes of search indexes on SQLite.
Nothing can be written until it is done.

With --slow it examines no database. It reads a log of a server from the standard
input, of several servers one after the other, and reports the lists that took longer
than slow_query, with the index that the schema needs:

  plural doctor --slow < server.log
  journalctl -u plural | plural doctor --slow`,
		Args: noArguments,
	}
	command.Flags().BoolVar(&repair, "repair", false, "rebuild what is wrong; writes wait meanwhile")
	command.Flags().BoolVar(&slow, "slow", false, "report the slow lists in a log, from the standard input, and suggest indexes")
	load := addSettings(command, "schema", "database")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if slow {
			return doctorSlow(command, load, repair)
		}
		database, err := databaseOf(command, load)
		if err != nil {
			return err
		}
		findings, err := admin.Examine(command.Context(), database, admin.ExamineOptions{Repair: repair})
		if err != nil {
			return err
		}
		out := command.OutOrStdout()
		for _, finding := range findings {
			fmt.Fprintln(out, finding)
		}
		switch {
		case len(findings) == 0:
			fmt.Fprintln(out, "All totals, offset indexes, words for search, indexed items and changes are correct.")
		case repair:
			fmt.Fprintln(out, "Repaired.")
		default:
			return errors.New("something is wrong: run plural doctor --repair")
		}
		return nil
	}
	return command
}

// doctorSlow reports the slow lists of a log.
func doctorSlow(command *cobra.Command, load func() (*settings, error), repair bool) error {
	if repair {
		return errors.New("--slow changes nothing: leave out --repair")
	}
	if in, ok := command.InOrStdin().(*os.File); ok && terminal.Is(in) {
		return errors.New("--slow reads a log from the standard input: plural doctor --slow < server.log")
	}
	s, err := load()
	if err != nil {
		return err
	}
	return slowlog.Report(command.InOrStdin(), command.OutOrStdout(), (*model.Schema)(s.config.Schema))
}
