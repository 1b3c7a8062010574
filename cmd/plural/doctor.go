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
		Short: "Compare totals and positions with the resources",
		Long: `Compare what is derived from the resources of a database with them: the totals
of collections and sub-collections, and the positions that make offsets fast. They
are kept by every write, so nothing should ever be wrong. A server may be using
the database. The exit status is 1 if something is wrong and was not repaired.`,
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
			fmt.Fprintln(out, "All totals and positions are correct.")
		case repair:
			fmt.Fprintln(out, "Repaired.")
		default:
			return errors.New("some totals or positions are wrong: run plural doctor --repair")
		}
		return nil
	}
	return command
}
