package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/move"
)

func newExportCommand() *cobra.Command {
	var format move.Format
	var output, parameters string
	command := &cobra.Command{
		Use:   "export COLLECTION",
		Short: "Write the resources of a collection to a file: NDJSON, JSON or CSV",
		Long: `Write the resources of a collection to a file, or to the standard output: NDJSON, JSON
or CSV.

  plural export users --output users.csv
  plural export users --query 'filter[active]&sort=-created_at&limit=100'
  plural export users --server https://api.example.com | gzip > users.ndjson.gz

--format gives the format; without it, the ending of the output does, and otherwise it
is ndjson. Filters, sort and range are written as in a URL. A database is read as it is
at one moment, even if others write to it meanwhile.

In CSV an empty cell is null, and "" is the empty string. Texts that a spreadsheet would
take for a formula get an apostrophe in front, which an import removes.

The exit status is 0 if everything was written, and 1 if not. The output file appears
only when it is complete.`,
		Args: collectionArgument(1),
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.Var(oneOf(&format, move.Formats...), "format", "ndjson, json or csv")
	flags.StringVar(&output, "output", "", "`FILE` to write; one that ends with .gz is compressed (default the standard output)")
	flags.StringVar(&parameters, "query", "", "filters, sort and range, as in a URL")
	target := registerTarget(command)
	command.RunE = func(command *cobra.Command, args []string) (err error) {
		target.file = output
		c, collection, closing, err := target.open(command, toRead, args[0])
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, closing()) }()
		out, err := openOutput(dataOut(command), output, format)
		if err != nil {
			return err
		}
		started := time.Now()
		rows, err := export(command, c, collection, out, parameters)
		if err := out.finish(err); err != nil {
			return err
		}
		fmt.Fprintf(command.ErrOrStderr(), "Exported %s%s.\n", rowsOf(rows), pace(rows, time.Since(started)))
		return nil
	}
	return command
}

func export(command *cobra.Command, c *client.Client, collection client.Description, out *destination, parameters string) (int64, error) {
	rows, err := move.NewWriter(out, out.format, collection.Attributes)
	if err != nil {
		return 0, err
	}
	of := totalOf(collection, parameters)
	meter := newMeter(command.ErrOrStderr())
	run := &move.Export{Client: c, Collection: collection, Rows: rows, Parameters: parameters, Progress: func(rows int64) {
		if rows%256 == 0 {
			meter.show(rows, float64(rows)/float64(of)) // negative if unknown
		}
	}}
	written, err := run.Run(command.Context())
	meter.end()
	if command.Context().Err() != nil {
		return written, errInterrupted
	}
	if errors.Is(err, client.ErrNegativeLimit) {
		err = errors.New("the limit of an export must not be negative: for the last rows, reverse the sort, for example sort=-id")
	}
	return written, err
}

// totalOf is the number of rows, or -1 if it is not known.
func totalOf(collection client.Description, parameters string) int64 {
	if parameters == "" && collection.Total != nil {
		return *collection.Total
	}
	return -1
}
