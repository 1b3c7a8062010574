package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural/conform"
)

func newCheckCommand() *cobra.Command {
	var options conform.Options
	var format, key string
	var headers, samples []string
	var list bool
	var version int
	command := &cobra.Command{
		Use:   "check URL",
		Short: "Check whether a server follows the convention",
		Long: `Check over HTTP whether a server follows the convention, whatever it is written in:

  plural check http://127.0.0.1:8080
  plural check https://example.com/api --collection users \
    --sample '{"name":"Ada","email":"ada@example.com"}' --key "$KEY"

The checks create over a hundred resources in one collection, change them, and
remove them again; use a server whose data may be touched, or --read-only. The
collection is the first that GET / lists, unless one is given. A server that does
not describe its collections there needs a sample: one valid body for POST. What
it refers to may need one too:

  plural check https://example.com/api --collection posts --sample posts.json \
    --sample users='{"name":"Ada","email":"ada@example.com"}'

The exit status is 0 if no check failed, 1 if some did, and 2 if the checks could
not be run.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case list && len(args) > 0:
				return notRun(errors.New("--list prints every check and runs none, so it takes no URL"))
			case !list && len(args) != 1:
				return notRun(errors.New("give the URL of the server to check, and nothing else"))
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			if list {
				return listChecks(command.OutOrStdout())
			}
			options.BaseURL = args[0]
			failed, err := runChecks(command, options, format, key, version, headers, samples)
			switch {
			case err != nil:
				return notRun(err)
			case failed > 0:
				return &exitError{status: 1}
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&options.Collection, "collection", "", "collection to work with (default the first that GET / lists)")
	flags.StringArrayVar(&samples, "sample", nil, "one valid body for POST: a `FILE`, or the JSON itself; for another collection NAME=FILE; may be repeated")
	flags.StringArrayVar(&headers, "header", nil, "header for every request, as `'Name: value'`; may be repeated")
	flags.StringVar(&key, "key", "", keyUsage)
	addVersion(flags, &version)
	flags.DurationVar(&options.Timeout, "timeout", 30*time.Second, "how long to wait for each response")
	flags.BoolVar(&options.ReadOnly, "read-only", false, "create, change and delete nothing")
	flags.BoolVar(&options.ConventionOnly, "convention-only", false, "check only the original rules of the convention (docs/convention.md), not those that fill its gaps")
	flags.BoolVar(&options.Async, "async", false, "have the writes done asynchronously, and check what comes of them")
	flags.StringSliceVar(&options.Only, "only", nil, "run these checks alone: `ids` or topics, separated by commas")
	flags.StringSliceVar(&options.Skip, "skip", nil, "leave these checks out: `ids` or topics, separated by commas")
	flags.StringVar(&format, "format", "table", "table, json or junit")
	flags.BoolVar(&list, "list", false, "list the checks without running them")
	command.SetFlagErrorFunc(func(command *cobra.Command, err error) error { return notRun(unknownFlag(command, err)) })
	return command
}

// runChecks reads the flags, runs the checks and writes the report. It returns how many checks failed.
func runChecks(command *cobra.Command, options conform.Options, format, key string, version int, headers, samples []string) (failed int, err error) {
	write, known := map[string]func(*conform.Report, io.Writer) error{
		"table": (*conform.Report).WriteTable, "json": (*conform.Report).WriteJSON, "junit": (*conform.Report).WriteJUnit,
	}[format]
	if !known {
		return 0, fmt.Errorf("the format must be table, json or junit, but is %q", format)
	}
	if err := readSamples(samples, &options); err != nil {
		return 0, err
	}
	if options.Timeout <= 0 {
		return 0, fmt.Errorf("the timeout must be more than zero, but is %s", options.Timeout)
	}
	if options.Headers, err = parseHeaders(headers); err != nil {
		return 0, err
	}
	if err := addKey(options.Headers, key); err != nil {
		return 0, err
	}
	if version != 0 {
		options.Headers.Set("API-Version", strconv.Itoa(version))
	}
	report, err := conform.Run(command.Context(), options)
	if err != nil {
		return 0, err
	}
	out := dataOut(command)
	if format == "table" {
		out = command.OutOrStdout()
	}
	return report.Count(conform.Failed), write(report, out)
}

// notRun is the error of checks that could not be run.
func notRun(err error) error { return &exitError{status: 2, err: err} }

// collectionSample matches a sample with the name of its collection before it.
var collectionSample = regexp.MustCompile(`(?s)^([A-Za-z0-9_-]+)=(.*)$`)

// readSamples takes samples from the command line, or from files.
func readSamples(given []string, options *conform.Options) error {
	samples := map[string]json.RawMessage{}
	for _, each := range given {
		parts := collectionSample.FindStringSubmatch(each)
		if parts == nil {
			parts = []string{each, "", each}
		}
		name := parts[1]
		text, err := readSample(parts[2])
		if err != nil {
			return err
		}
		if _, twice := samples[name]; twice {
			return fmt.Errorf("there are two samples for %s", cmp.Or(name, "the collection"))
		}
		samples[name] = text
	}
	options.Sample = samples[""]
	delete(samples, "")
	options.Samples = samples
	return nil
}

func readSample(given string) (json.RawMessage, error) {
	text := json.RawMessage(given)
	if strings.HasPrefix(strings.TrimSpace(given), "{") || json.Valid(text) {
		return text, nil // invalid JSON is reported later
	}
	return os.ReadFile(given) // #nosec G304 -- the user names the file
}

func parseHeaders(lines []string) (http.Header, error) {
	headers := http.Header{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if !found || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("a header must be given as 'Name: value', but is %q", line)
		}
		headers.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return headers, nil
}

// addKey adds the credentials of the flag or of PLURAL_KEY. A given header overrides the
// environment.
func addKey(headers http.Header, key string) error {
	if headers.Get("Authorization") != "" {
		if key != "" {
			return errors.New("give a --key, or a --header Authorization, and not both")
		}
		return nil
	}
	if key = cmp.Or(key, os.Getenv("PLURAL_KEY")); key != "" {
		headers.Set("Authorization", "Bearer "+key)
	}
	return nil
}

func listChecks(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, check := range conform.Checks() {
		fmt.Fprintf(table, "%s\t%s (%s)\n", check.ID, check.Rule, check.Source)
	}
	return table.Flush()
}
