package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural"
)

func newDoctorCommand() *cobra.Command {
	var repair bool
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Compare totals, offset indexes, words for search, indexed items and the change log with the resources",
		Long: `Compare what is derived from the resources of a database with them: the totals
of collections and sub-collections, the indexes that make offsets fast, the words
for search, the items of indexed arrays, and the change log. Every write maintains them, so nothing should ever be wrong. A server
may be using the database. The exit status is 1 if something is wrong and was not
repaired. The repair of a change log removes it and begins a new history.`,
		Args: noArguments,
	}
	command.Flags().BoolVar(&repair, "repair", false, "rebuild what is wrong")
	load := addSettings(command, "schema", "database")
	command.RunE = func(command *cobra.Command, _ []string) error {
		database, err := databaseOf(command, load)
		if err != nil {
			return err
		}
		findings, err := plural.Examine(command.Context(), database, plural.ExamineOptions{Repair: repair})
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
