package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
	"github.com/spf13/cobra"
)

// watchOptions are the flags of plural watch.
type watchOptions struct {
	server, key, since string
	filters            []string
	fromNow            bool
	version            int // of the interface; 0: that of the key, or the newest
}

func newWatchCommand() *cobra.Command {
	var options watchOptions
	command := &cobra.Command{
		Use:   "watch COLLECTION",
		Short: "Print the resources of a collection, and then every change, as NDJSON",
		Long: `Print the resources of a collection of a server, and then every change as it happens:
one JSON object per line.

  plural watch users
  plural watch users --filter active=true --filter 'created_at[gte]=2026-01-01T00:00:00Z'
  plural watch users/0193b0a6-7a2b-7c3d-8e4f-5a6b7c8d9e0f/posts --server https://api.example.com
  plural watch users --from-now | jq -c 'select(.kind == "created") | .data'

COLLECTION is a path: users, users/ID for one resource, users/ID/posts, changes for the change
log of all collections, or users/ID/changes for the history of one resource. A filter is an attribute and
a value, with an operator in brackets if it is not equality.

Each line has the kind of the event: listed and synced for the resources that exist; created, updated,
deleted, entered and left for changes; bookmark for a newer position; reset if you
must discard everything printed before, because all resources follow again. From
synced on each line has a position: with --since POSITION the command continues
after that line.

The command connects again when the connection is lost or the server restarts, and
continues after the last line. It reports on standard error when the connection is
lost, and when it is back. It ends with the exit status 0 on Ctrl-C and when its
output is closed, or with 1 and a message if the server refuses the request or was
never reached.`,
		Args: collectionArgument(1),
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&options.filters, "filter", nil, "only resources of which this holds: `ATTRIBUTE=VALUE`, ATTRIBUTE[OPERATOR]=VALUE or ATTRIBUTE; may be repeated")
	flags.StringVar(&options.since, "since", "", "continue after the line with this `POSITION`")
	flags.BoolVar(&options.fromNow, "from-now", false, "print only changes, not the resources that exist")
	flags.StringVar(&options.server, "server", "", "`URL` of the server (or PLURAL_SERVER; default "+defaultServer+")")
	flags.StringVar(&options.key, "key", "", keyUsage)
	addVersion(flags, &options.version)
	command.RunE = func(command *cobra.Command, args []string) error {
		err := options.run(command, args[0])
		if command.Context().Err() != nil {
			return nil // ended on purpose
		}
		return err
	}
	return command
}

const defaultServer = "http://127.0.0.1:8080"

func (o *watchOptions) run(command *cobra.Command, path string) error {
	ctx := command.Context()
	t := &target{name: cmp.Or(o.server, os.Getenv("PLURAL_SERVER"), defaultServer)}
	c, err := client.New(t.name, client.Options{Key: cmp.Or(o.key, os.Getenv("PLURAL_KEY")), APIVersion: o.version, Retries: 8})
	if err != nil {
		return err
	}
	wanted, err := o.params(command)
	if err != nil {
		return err
	}
	wanted = append(wanted, params.OnConnection(func(err error) {
		if err == nil {
			fmt.Fprintln(command.ErrOrStderr(), "plural: connected")
			return
		}
		fmt.Fprintf(command.ErrOrStderr(), "plural: not connected, trying again: %v\n", err)
	}))
	var events iter.Seq2[client.Event[json.RawMessage], error]
	segments := strings.Split(strings.Trim(path, "/"), "/")
	switch len(segments) {
	case 1:
		events = client.Of[json.RawMessage](c, segments[0]).Watch(ctx, wanted...)
	case 2:
		events = client.Of[json.RawMessage](c, segments[0]).WatchOne(ctx, segments[1], wanted...)
	case 3:
		events = client.Of[json.RawMessage](c, segments[2]).Under(segments[0], segments[1]).Watch(ctx, wanted...)
	default:
		return fmt.Errorf("watch a collection (users), a resource (users/ID) or a sub-collection (users/ID/posts), but not %q", path)
	}
	err = o.print(command, events)
	if len(segments) == 1 && client.IsNotFound(err) {
		if _, unknown := t.describe(ctx, c, path, toRead); unknown != nil {
			return unknown // with the collections that there are
		}
	}
	return err
}

func (o *watchOptions) params(command *cobra.Command) ([]params.Param, error) {
	var wanted []params.Param
	for _, filter := range o.filters {
		parameter, err := filterParameter(filter)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, params.Raw(parameter))
	}
	if command.Flags().Changed("since") {
		if o.since == "" || o.fromNow {
			return nil, fmt.Errorf("--since needs the position of a line, and no --from-now beside it")
		}
		wanted = append(wanted, params.Since(o.since))
	}
	if o.fromNow {
		wanted = append(wanted, params.FromNow())
	}
	return wanted, nil
}

var givenFilter = regexp.MustCompile(`(?s)^([a-z][a-z0-9_.]*)((?:\[[a-z_]+\])?)(?:=(.*))?$`)

// filterParameter is a filter of the command line as a parameter of a URL.
func filterParameter(given string) (string, error) {
	parts := givenFilter.FindStringSubmatch(given)
	if parts == nil {
		return "", fmt.Errorf("a --filter is like active=true, age[gte]=18 or email (which is not null), but this is %q", given)
	}
	parameter := "filter[" + parts[1] + "]" + parts[2]
	if strings.Contains(given, "=") {
		parameter += "=" + url.QueryEscape(parts[3])
	}
	return parameter, nil
}

// eventLine is an event as it is printed.
type eventLine struct {
	Kind     client.EventKind           `json:"kind"`
	Position string                     `json:"position,omitempty"`
	Data     json.RawMessage            `json:"data,omitempty"`
	Previous map[string]json.RawMessage `json:"previous,omitempty"`
	Change   *changeLine                `json:"change,omitempty"`
}

type changeLine struct {
	ID       string  `json:"id"`
	By       *string `json:"by"`
	At       string  `json:"at"`
	Revision int64   `json:"revision"`
}

// print prints each event with one write, so that readers see it at once. If the first event is a reset, it
// says that the position of --since is of no use.
func (o *watchOptions) print(command *cobra.Command, events iter.Seq2[client.Event[json.RawMessage], error]) error {
	encoder := json.NewEncoder(dataOut(command))
	encoder.SetEscapeHTML(false)
	begun := false
	for event, err := range events {
		if err != nil {
			return err
		}
		if o.since != "" && !begun && event.Kind == client.EventReset {
			fmt.Fprintln(command.ErrOrStderr(), "plural: the position of --since is gone: it is older than the server keeps changes, or of another path, filter or history. The resources are listed again.")
		}
		begun = true
		line := eventLine{Kind: event.Kind, Position: event.Position, Data: event.Resource, Previous: event.Previous}
		if change := event.Change; change != nil {
			line.Change = &changeLine{ID: change.ID, At: change.At.UTC().Format("2006-01-02T15:04:05.000Z"), Revision: change.Revision}
			if change.By != "" {
				line.Change.By = &change.By
			}
		}
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
