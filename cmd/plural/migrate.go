package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/spf13/cobra"
)

// migrateFlags are the flags of the command besides the settings.
type migrateFlags struct {
	plan, allowLoss, noBackup bool
	expand, contract          bool
	backup                    string
}

func newMigrateCommand() *cobra.Command {
	var f migrateFlags
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Change a database to fit a changed schema",
		Long: `Change a database to fit a changed schema, in one transaction.

With --expand, make only the steps that servers with the old schema can obey.
Then start servers with the new schema, stop those with the old one, and make
the rest with --contract.

With --plan, show every step and what it costs, and change nothing.

Steps that lose something are refused unless --allow-loss is given, with
--backup (SQLite) or --no-backup. A step that stored resources make impossible is
refused in any case.`,
		Args: noArguments,
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.plan, "plan", false, "show the steps, and change nothing")
	flags.BoolVar(&f.expand, "expand", false, "make the first part, while servers with the old schema are running")
	flags.BoolVar(&f.contract, "contract", false, "make the second part, when no server with the old schema is running")
	flags.BoolVar(&f.allowLoss, "allow-loss", false, "lose what the plan says: attributes, collections, values that the new schema does not allow, versions of the interface")
	flags.StringVar(&f.backup, "backup", "", "write a backup to this `FILE` first (SQLite)")
	flags.BoolVar(&f.noBackup, "no-backup", false, "lose values without a backup")
	command.MarkFlagsMutuallyExclusive("backup", "no-backup")
	command.MarkFlagsMutuallyExclusive("expand", "contract")
	return withSettings(command, []string{"schema", "database"}, func(command *cobra.Command, s *settings, _ []string) error {
		return migrate(command.Context(), s.config, f, command.InOrStdin(), command.OutOrStdout())
	})
}

func migrate(ctx context.Context, config plural.Config, f migrateFlags, in io.Reader, out io.Writer) error {
	part := admin.WholeMigration
	switch {
	case f.expand:
		part = admin.Expand
	case f.contract:
		part = admin.Contract
	}
	steps, later, err := admin.PlanMigrationPart(ctx, config.Database, config.Schema, part)
	if err != nil {
		return err
	}
	if len(steps) == 0 {
		if f.expand {
			fmt.Fprintln(out, "Servers with this schema can use the database. There is nothing to expand.")
		} else {
			fmt.Fprintln(out, "The database has this schema. There is nothing to do.")
		}
		return nil
	}
	fmt.Fprint(out, shownPlan(steps, "to fit the schema"))
	if len(later) > 0 {
		fmt.Fprint(out, shownPlan(later, "left for --contract"))
	}
	if f.plan {
		return nil
	}
	loses := slices.ContainsFunc(steps, func(s admin.MigrationStep) bool { return s.Loses })
	blocked := slices.ContainsFunc(steps, func(s admin.MigrationStep) bool { return s.Blocked })
	decided := f.noBackup || f.backup != ""
	if loses && f.allowLoss && !blocked && !decided {
		if f.backup, err = askForBackup(config.Database, in, out); err != nil {
			return err
		}
		decided = true
	}
	// A concurrent write may cause losses that the plan did not show, and the user has not decided
	// whether these need a backup.
	steps, err = admin.Migrate(ctx, config.Database, config.Schema, admin.MigrateOptions{Part: part, AllowLoss: f.allowLoss && decided, Backup: f.backup})
	if err != nil {
		return err
	}
	if f.backup != "" && len(steps) > 0 {
		fmt.Fprintf(out, "Wrote the backup %s.\n", f.backup)
	}
	next := "Restart the servers that use the database."
	switch {
	case len(later) > 0:
		next = "Start servers with the new schema, stop those with the old one, and then run \"plural migrate --contract\"."
	case f.contract:
		next = "Servers with the new schema continue."
	case f.expand:
		next = "Servers with the old schema continue."
	}
	fmt.Fprintf(out, "Done: %s. %s\n", suggest.Counted(len(steps), "step"), next)
	return nil
}

// shownPlan prints the steps.
func shownPlan(steps []admin.MigrationStep, what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:\n\n", suggest.Counted(len(steps), "step"), what)
	for _, step := range steps {
		fmt.Fprintf(&b, "  %-9s  %s\n             %s\n", step.Class, step.Text, step.Cost)
		if step.Complaint != "" {
			fmt.Fprintf(&b, "             %s\n", step.Complaint)
		}
		if step.Warning != "" {
			fmt.Fprintf(&b, "             Warning: %s\n", step.Warning)
		}
		for _, sample := range step.Samples {
			fmt.Fprintf(&b, "             %s\n", sample)
		}
	}
	return b.String() + "\n"
}

// askForBackup offers a backup before values are lost. No input is no permission.
func askForBackup(database string, in io.Reader, out io.Writer) (file string, err error) {
	name, ok := strings.CutPrefix(database, "sqlite:")
	if !ok {
		return "", errors.New("some of this cannot be undone: make a backup with pg_dump, then give --no-backup")
	}
	proposal := name + "." + time.Now().UTC().Format("20060102T150405Z") + ".backup"
	fmt.Fprintf(out, "Some of this cannot be undone. Write a backup to which file? [%s, or \"none\"] ", proposal)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		fmt.Fprintln(out)
		return "", errors.New("some of this cannot be undone: give --backup FILE, or --no-backup")
	}
	answer = strings.TrimSpace(answer)
	if answer == "none" {
		return "", nil
	}
	return cmp.Or(answer, proposal), nil
}
