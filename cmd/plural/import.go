package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/move"
	"github.com/plural-go/plural/problem"
)

// importFlags are the flags of an import.
type importFlags struct {
	format         move.Format
	onError        move.OnError
	onConflict     move.OnConflict
	by             string
	delimiter      string
	dryRun         bool
	fromRow        int64
	mapping        move.Mapping
	keepTimestamps bool
	forceStates    bool
}

func newImportCommand() *cobra.Command {
	f := importFlags{onError: move.StopOnError, onConflict: move.FailOnConflict, delimiter: ",", fromRow: 1}
	command := &cobra.Command{
		Use:   "import COLLECTION [FILE]",
		Short: "Create resources from a file: NDJSON, JSON or CSV",
		Long: `Create resources from a file, or from the standard input: NDJSON, JSON or CSV.

  plural import users users.csv
  plural import users users.ndjson.gz --server https://api.example.com
  plural import users users.csv --on-conflict update --by email
  plural import users users.csv --map "name=Full Name" --ignore Age --parse active=boolean
  plural import issues issues.csv --map project_id=@key:Project --set state=open
  plural export users --server https://old.example.com | plural import users

The format is that of the ending of the file, or of --format; it is ndjson if there
is neither. Rows go into the database, or to a server, in arrays of up to 1,000, each as a whole
or not at all, in the order of the file. Ids of the file are kept; created_at and
updated_at are set anew, unless --keep-timestamps is given. Computed attributes of the file are
ignored. --keep-timestamps keeps those that depend on the write: on auth, now or previous.

--map name="Full Name" reads the attribute name from the column "Full Name". For a
reference, --map project_id=@key:Project finds the project whose unique attribute key has
the value of the column Project. --set gives all rows the same value: --set state=open, or
--set project_id=@key:WEB. Columns are members of the objects in NDJSON and JSON.

--parse price=number converts the values of an attribute, and --parse "*=null:NA" reads NA as
null everywhere. The forms:

` + formsHelp() + `
A bad row is reported with its line and the reason. Then the import ends: the rows before
it are stored, and those after it are not. With --on-error skip it continues without that row.

The exit status is 0 if all rows are stored, 1 if the import ended early or could not
begin, and 3 if it reached the end and bad rows were skipped.`,
		Args: collectionArgument(2),
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.Var(oneOf(&f.format, move.Formats...), "format", "ndjson, json or csv")
	flags.Var(oneOf(&f.delimiter, ",", ";", "|", "tab"), "delimiter", "what separates the columns of CSV: , ; | or tab")
	flags.Var(oneOf(&f.onError, move.StopOnError, move.SkipOnError), "on-error", "what to do at a bad row: stop or skip")
	flags.Var(oneOf(&f.onConflict, move.FailOnConflict, move.SkipOnConflict, move.ReplaceOnConflict, move.UpdateOnConflict), "on-conflict", "what to do with a row that exists: fail (it is bad), skip, replace or update")
	flags.StringVar(&f.by, "by", "", "unique attribute, or several with commas between them, by which --on-conflict update finds a row (default id)")
	flags.StringArrayVar(&f.mapping.Columns, "map", nil, "`ATTRIBUTE=COLUMN`, or ATTRIBUTE=@KEY:COLUMN for a reference by a unique attribute; may be repeated")
	flags.StringArrayVar(&f.mapping.Constants, "set", nil, "`ATTRIBUTE=VALUE` of all rows, or ATTRIBUTE=@KEY:VALUE; may be repeated")
	flags.StringArrayVar(&f.mapping.Ignored, "ignore", nil, "`COLUMN` that is not imported; may be repeated")
	flags.StringArrayVar(&f.mapping.Parsed, "parse", nil, "`ATTRIBUTE=FORM` in which its values are written, see above; may be repeated")
	flags.BoolVar(&f.keepTimestamps, "keep-timestamps", false, "keep created_at and updated_at of the rows, and what earlier writes computed; only into a database")
	flags.BoolVar(&f.forceStates, "force-state", false, "accept any state of a lifecycle, whatever its transitions allow; only into a database")
	flags.BoolVar(&f.dryRun, "dry-run", false, "check all rows, report all that are bad, and write nothing")
	flags.Var(count(&f.fromRow, 1), "from-row", "first row to import, to continue an import that ended early")
	target := registerTarget(command, "migrate")
	command.RunE = func(command *cobra.Command, args []string) error {
		return runImport(command, target, f, args)
	}
	return command
}

// formsHelp lists the forms of --parse.
func formsHelp() string {
	var b strings.Builder
	for _, form := range move.Forms {
		fmt.Fprintf(&b, "  %-20s  %s: %s\n", form.Usage(), form.Fits, form.Reads)
	}
	return b.String()
}

// maxReported bounds how many bad rows of the last array are printed.
const maxReported = 20

// check refuses flags that exclude each other.
func (f *importFlags) check() error {
	if f.by != "" && f.onConflict != move.UpdateOnConflict {
		return errors.New("--by is for --on-conflict update: give both, or neither")
	}
	if f.keepTimestamps && (f.onConflict == move.UpdateOnConflict || f.onConflict == move.ReplaceOnConflict) {
		return fmt.Errorf("--keep-timestamps is for rows that are created: it cannot be combined with --on-conflict %s", f.onConflict)
	}
	return nil
}

func runImport(command *cobra.Command, t *target, f importFlags, args []string) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if f.keepTimestamps && t.version != 0 {
		return errors.New("--keep-timestamps also keeps what earlier writes computed, and is for the newest version: leave out --api-version")
	}
	t.acceptTimestamps, t.forceStates = f.keepTimestamps, f.forceStates
	in, err := openInput(command.Context(), command.InOrStdin(), args[1:], f.format)
	if err != nil {
		return err
	}
	defer in.Close()
	what := toWrite
	if f.dryRun {
		what = toTry
	}
	if len(args) > 1 {
		t.file = args[1]
	}
	c, collection, closing, err := t.open(command, what, args[0])
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, closing()) }()
	columns, err := columnsOf(command.Context(), c, collection, in.format, f, t.unrepeatable)
	if err != nil {
		return err
	}
	rows, err := openRows(in, columns, f.delimiter)
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	if err != nil {
		return in.named(err)
	}
	out := command.ErrOrStderr()
	meter := newMeter(out)
	var reported int64
	stops := f.onError == move.StopOnError && !f.dryRun
	run := &move.Import{
		Client: c, Collection: collection, Rows: rows, Columns: columns,
		OnError: f.onError, OnConflict: f.onConflict, Key: f.by, DryRun: f.dryRun, FromRow: f.fromRow,
		Bad: func(row move.Row, reason string) {
			if reported++; stops && reported > maxReported {
				return
			}
			meter.end()
			place := fmt.Sprintf("line %d", row.Line)
			if in.format == move.JSON { // where all rows may be on one line
				place = fmt.Sprintf("row %d (%s)", row.Number, place)
			}
			fmt.Fprintf(out, "%s: %s\n", place, strings.ReplaceAll(reason, "\n", `\n`)) // a line of its own would seem to be another row's
		},
		Progress: func(done move.Imported) { meter.show(done.Next-f.fromRow, in.part()) },
	}
	started := time.Now()
	done, err := run.Run(command.Context())
	meter.end()
	if stops && reported > maxReported {
		fmt.Fprintf(out, "and %s more in the same array\n", rowsOf(reported-maxReported))
	}
	fmt.Fprintln(out, importSummary(done, t.name, f.dryRun, time.Since(started), done.Next-f.fromRow))
	if done.Timed {
		fmt.Fprintln(out, "created_at and updated_at of the file were ignored: the server sets them.")
	}
	if len(done.Computed) > 0 {
		fmt.Fprintf(out, "Computed attributes of the file were ignored: %s.\n", strings.Join(done.Computed, ", "))
	}
	if err != nil {
		return in.named(resumeHint(err, done, args[0], f))
	}
	return badRows(in, done, f)
}

// badRows is the error of an import that reached the end in spite of bad rows, nil if there were none.
func badRows(in *input, done move.Imported, f importFlags) error {
	switch {
	case done.Bad == 0:
		return nil
	case f.dryRun && f.onError == move.StopOnError:
		return in.named(errors.New("the import would stop at the first bad row: correct the rows above, or skip bad rows with --on-error skip"))
	}
	return &exitError{status: 3, err: fmt.Errorf("%s skipped, as reported above", rowsOf(done.Bad))}
}

// columnsOf says what the columns of a file mean. With --keep-timestamps, attributes that only a write can compute are imported too.
func columnsOf(ctx context.Context, c *client.Client, collection client.Description, format move.Format, f importFlags, unrepeatable []string) (*move.Columns, error) {
	attributes := collection.Attributes
	if !f.mapping.IsEmpty() || format == move.CSV {
		var err error
		if attributes, err = move.Writable(ctx, c, collection); err != nil {
			return nil, err
		}
	}
	columns := move.ColumnsOf(attributes)
	if f.keepTimestamps {
		columns.KeepTimestamps(unrepeatable)
	}
	return columns, columns.Map(ctx, c, collection, f.mapping)
}

// openRows opens the rows of a file.
func openRows(in *input, columns *move.Columns, delimiter string) (move.Reader, error) {
	if in.format != move.CSV {
		return move.NewReader(in, in.format, columns)
	}
	if delimiter == "tab" {
		delimiter = "\t"
	}
	return move.NewCSVReader(in, columns, delimiter[0])
}

// importSummary describes the result for each kind of row.
func importSummary(done move.Imported, where string, dryRun bool, took time.Duration, passed int64) string {
	summary := fmt.Sprintf("Imported %s into %s", rowsOf(done.Created), where)
	if dryRun {
		summary = fmt.Sprintf("Dry run, nothing was written: could import %s", rowsOf(done.Created))
	}
	if done.Upserted > 0 {
		summary += fmt.Sprintf(", created or updated %s", grouped(done.Upserted))
	}
	if done.Replaced > 0 {
		summary += fmt.Sprintf(", replaced %s", grouped(done.Replaced))
	}
	if done.Accepted > 0 {
		summary += fmt.Sprintf(", had %s accepted, which a server will replace", grouped(done.Accepted))
	}
	if done.Skipped > 0 {
		summary += fmt.Sprintf(", skipped %s that exist", grouped(done.Skipped))
	}
	return summary + pace(passed, took) + "."
}

// resumeHint adds to an error how to continue an import that ended early.
func resumeHint(err error, done move.Imported, collection string, f importFlags) error {
	var unknown *move.UnknownError
	next := done.Next
	switch {
	case f.dryRun && errors.Is(err, context.Canceled):
		return errInterrupted
	case f.dryRun || errors.Is(err, move.ErrNoSuchRow):
		return err
	case errors.Is(err, move.ErrStopped):
		return fmt.Errorf("stopped at row %d; all rows before it are imported: correct it and continue with --from-row %d, or skip bad rows with --on-error skip", next, next)
	case errors.As(err, &unknown) && unknown.First != "":
		return fmt.Errorf("%w\nIf /%s/%s exists, all of them are imported: continue with --from-row %d, otherwise with --from-row %d", err, collection, unknown.First, unknown.To+1, next)
	case client.HasCode(err, problem.CodeStorageFull):
		return fmt.Errorf("the disk of the database is full: free some space, and continue with --from-row %d", next)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted: continue with --from-row %d", next)
	case next == 1:
		return err // nothing was imported
	case done.Bad > 0:
		return fmt.Errorf("%w\nThe rows before row %d are imported, except skipped ones: continue with --from-row %d", err, next, next)
	}
	return fmt.Errorf("%w\nThe rows before row %d are imported: continue with --from-row %d", err, next, next)
}
