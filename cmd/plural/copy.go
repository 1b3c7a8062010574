package main

import (
	"fmt"
	"io"
	"time"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/internal/terminal"
	"github.com/spf13/cobra"
)

func newCopyCommand() *cobra.Command {
	var from, to string
	command := &cobra.Command{
		Use:   "copy --from URL --to URL",
		Short: "Copy everything from one database to another, of either kind",
		Long: `Copy everything from one database to another: from SQLite to PostgreSQL, back, or
within one of them.

  plural copy --from sqlite:plural.db --to postgres://plural@localhost/plural

Ids, times, revisions, operations, idempotency records, the change log and the
earlier schemas are kept. The copy begins a new history: it refuses ETags and
positions in the change log that the source gave.

Stop the servers of the source first. A source that is in use is copied as it was
at one moment, and the command reports whether something was written meanwhile.

The target must have no tables. It is filled in one transaction, and every row is
read back and compared before that is committed: if anything fails, the target is as
empty as before. The source is not changed.

The exit status is 0 if everything was copied, and 1 if not, or if the source was
written to meanwhile.`,
		Args: noArguments,
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&from, "from", "", "`URL` of the database to copy")
	flags.StringVar(&to, "to", "", "`URL` of an empty database, or of a file that does not exist yet")
	for _, name := range []string{"from", "to"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err) // there is no such flag
		}
	}
	command.RunE = func(command *cobra.Command, _ []string) error {
		out := command.OutOrStdout()
		show, end := lines(out), ""
		if plain := direct(out); terminal.Is(plain) {
			show, end = bar(plain), wholeLine
		}
		copied, err := admin.Copy(command.Context(), from, to, show)
		fmt.Fprint(direct(out), end)
		if err != nil {
			return err
		}
		var rows int64
		for _, table := range copied.Tables {
			rows += table.Rows
		}
		fmt.Fprintf(out, "Copied %s of %s. Counts and checksums are the same on both sides.\n", suggest.Counted(rows, "row"), suggest.Counted(len(copied.Tables), "table"))
		if copied.Newer > 0 {
			return fmt.Errorf("the source was changed during the copy, and %s may be missing: stop its servers, and copy it again into another database",
				suggest.Counted(copied.Newer, "change"))
		}
		return nil
	}
	return command
}

// lines prints one line for each finished stage.
func lines(out io.Writer) func(admin.CopyProgress) {
	return func(p admin.CopyProgress) {
		if p.Finished {
			fmt.Fprintln(out, stage(p))
		}
	}
}

func stage(p admin.CopyProgress) string {
	if p.Table == "" {
		return p.Stage
	}
	return fmt.Sprintf("%s %s: %s", p.Stage, p.Table, suggest.Counted(p.Rows, "row"))
}

// barOfTable is how long the text behind a bar may be: longer ones would need two lines.
const barOfTable = 32

// bar shows a progress bar in one line.
func bar(out io.Writer) func(admin.CopyProgress) {
	var shown time.Time
	return func(p admin.CopyProgress) {
		if now := time.Now(); now.Sub(shown) >= barPause || p.Stage == "indexing" {
			shown = now
			fmt.Fprint(out, wholeLine+barLine(p))
		}
	}
}

func barLine(p admin.CopyProgress) string {
	text := []rune(stage(p))
	if len(text) > barOfTable {
		text = append(text[:barOfTable], '…')
	}
	return barOf(float64(p.Done)/float64(max(1, p.Of)), string(text))
}
