package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pipes"
	"github.com/plural-go/plural/internal/rules"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// target is where data is imported to or exported from: a server, or a database that is opened
// here.
type target struct {
	server, key string
	version     int // of the interface; 0: that of the key, or the newest
	load        func() (*settings, error)
	name        string // once it is open, for messages
	file        string // that is imported or exported to; empty or - for none

	acceptTimestamps bool     // rows bring created_at and updated_at
	forceStates      bool     // rows may have any state of a lifecycle
	unrepeatable     []string // computed attributes of rows for a database that is opened here, which only their write could compute
}

const keyUsage = "API key or token for the server (PLURAL_KEY is safer: the process list does not show it)"

// registerTarget declares the flags of the target, and other flags of plural serve that a
// command needs.
func registerTarget(command *cobra.Command, others ...string) *target {
	t := &target{}
	flags := command.Flags()
	flags.StringVar(&t.server, "server", "", "`URL` of a server, in place of a database (or PLURAL_SERVER)")
	flags.StringVar(&t.key, "key", "", keyUsage)
	addVersion(flags, &t.version)
	t.load = addSettings(command, append([]string{"schema", "database"}, others...)...)
	return t
}

// purpose is what a database is opened for.
type purpose int

const (
	toRead purpose = iota
	toWrite
	toTry // as if it were written to
)

// open connects to the server or opens the database, and finds a collection. The caller closes
// the client.
func (t *target) open(command *cobra.Command, what purpose, collection string) (*client.Client, client.Description, func() error, error) {
	if what != toRead && collection == "operations" {
		return nil, client.Description{}, nil, errors.New("operations are read-only: the server writes them")
	}
	c, closing, err := t.connect(command, what, collection)
	if err != nil {
		return nil, client.Description{}, nil, err
	}
	description, err := t.describe(command.Context(), c, collection, what)
	if err != nil {
		return nil, client.Description{}, nil, cmp.Or(err, closing())
	}
	return c, description, closing, nil
}

func (t *target) connect(command *cobra.Command, what purpose, collection string) (*client.Client, func() error, error) {
	flags := command.Flags()
	given := flags.Changed("database") || flags.Changed("schema") || flags.Changed("migrate")
	server := t.server
	if server == "" && !given {
		server = os.Getenv("PLURAL_SERVER")
	}
	if server == "" {
		if t.key != "" {
			return nil, nil, errors.New("--key needs --server: a database that is opened directly needs no API key")
		}
		return t.openDatabase(command.Context(), what, collection)
	}
	if t.acceptTimestamps {
		return nil, nil, errors.New("--keep-timestamps is for a --database that is opened here: a server sets created_at and updated_at itself")
	}
	if t.forceStates {
		return nil, nil, errors.New("--force-state is for a --database that is opened here: on a server, the transitions of lifecycles hold")
	}
	if given {
		return nil, nil, errors.New("give --server or --database, not both")
	}
	t.name = server
	c, err := client.New(server, client.Options{Key: cmp.Or(t.key, os.Getenv("PLURAL_KEY")), APIVersion: t.version, Retries: 8})
	return c, func() error { return nil }, err
}

// openDatabase serves a database to this process alone. So data passes the same validation,
// change log and totals as requests.
func (t *target) openDatabase(ctx context.Context, what purpose, collection string) (*client.Client, func() error, error) {
	s, err := t.load()
	if err != nil {
		return nil, nil, err
	}
	t.name = shown(s.config.Database)
	if declared := (*model.Schema)(s.config.Schema); t.version == 0 || t.version == declared.Versions().Newest {
		if t.unrepeatable, err = unrepeatable(declared, collection, what); err != nil {
			return nil, nil, err
		}
	}
	if err := refuseOwnFile(s.config.Database, t.file); err != nil {
		return nil, nil, err
	}
	database, remove, err := databaseFor(s.config.Database, what)
	if err != nil {
		return nil, nil, err
	}
	if what != toWrite {
		s.config.Migrate = plural.MigrateOff
	}
	const forever = -1
	server, err := plural.Open(ctx, plural.Config{
		Schema: s.config.Schema, Database: database, Migrate: s.config.Migrate, AcceptTimestamps: t.acceptTimestamps, ForceStates: t.forceStates,
		Logger: slog.New(causes{slog.NewTextHandler(stderr, nil)}),
		// No timeouts, and no background work.
		QueryTimeout: forever, SlowQuery: forever, MinThroughput: forever, Workers: forever,
		ReadTimeout: day, WriteTimeout: day,
		ChangeRetention: forever, IdempotencyRetention: forever, OperationRetention: forever,
		MaxBody: 128 << 20,
	})
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	connections := pipes.Listen()
	within := &http.Server{Handler: server, ReadHeaderTimeout: day}
	go within.Serve(connections) // until it is closed
	transport := &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return connections.Dial(ctx) },
		DisableCompression: true, ReadBufferSize: 64 << 10, WriteBufferSize: 64 << 10, MaxIdleConnsPerHost: 64,
	}
	closing := func() error {
		transport.CloseIdleConnections()
		return errors.Join(within.Close(), server.Stop(context.WithoutCancel(ctx)), remove())
	}
	c, err := client.New("http://database", client.Options{APIVersion: t.version, HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return nil, nil, errors.Join(err, closing())
	}
	return c, closing, nil
}

// unrepeatable lists the attributes of a collection that only a write can compute. It finds before a database is created that
// there is no such collection.
func unrepeatable(declared *model.Schema, collection string, what purpose) ([]string, error) {
	if found := declared.Collection(collection); found != nil {
		return rules.Of(found).Unrepeatable(), nil
	}
	var names []string
	for _, each := range declared.All() {
		names = append(names, each.Name)
	}
	return nil, noCollection(collection, names, what)
}

// refuseOwnFile refuses to import from a file of the database itself, or to export to one:
// that would release SQLite's locks, or replace the database.
func refuseOwnFile(database, name string) error {
	file, ok := strings.CutPrefix(database, "sqlite:")
	if !ok || name == "" || name == "-" {
		return nil
	}
	main := resolved(file) // SQLite names the others after it
	for _, own := range []string{main, main + "-wal", main + "-shm", main + "-journal"} {
		if isSameFile(name, own) {
			return fmt.Errorf("%s is a file of the database %s itself: give another one", name, file)
		}
	}
	return nil
}

// resolved is the absolute path of a file without symbolic links, also if the file is not there yet.
func resolved(name string) string {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	} else if directory, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		name = filepath.Join(directory, filepath.Base(name))
	}
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// isSameFile compares names, and files that are there.
func isSameFile(a, b string) bool {
	if resolved(a) == resolved(b) {
		return true
	}
	one, err := os.Stat(a)
	two, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(one, two)
}

// causes is a log of what no answer tells: why something failed within, and which steps a
// migration took. Failed requests, and a full disk, are reported by the code that sent the requests.
type causes struct{ slog.Handler }

// Handle is that of a slog.Handler.
func (c causes) Handle(ctx context.Context, record slog.Record) error {
	if record.Message == "database migrated" {
		record.Attrs(func(a slog.Attr) bool {
			if a.Key == "step" {
				fmt.Fprintf(stderr, "Changed the database: %s.\n", a.Value)
			}
			return true
		})
		return nil
	}
	if record.Level < slog.LevelError {
		return nil
	}
	reported := record.Message == "request"
	record.Attrs(func(a slog.Attr) bool {
		reported = reported || a.Key == "error" && strings.HasPrefix(a.Value.String(), string(problem.CodeStorageFull))
		return true
	})
	if reported {
		return nil
	}
	return c.Handler.Handle(ctx, record)
}

// databaseFor creates no file where nothing is written: an export fails, and a dry run uses a
// temporary database.
func databaseFor(database string, what purpose) (url string, remove func() error, err error) {
	remove = func() error { return nil }
	file, ok := strings.CutPrefix(database, "sqlite:")
	if !ok || what == toWrite {
		return database, remove, nil
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return database, remove, nil // errors are found on opening
	}
	if what == toRead {
		return "", nil, fmt.Errorf("there is no database %s", file)
	}
	dir, err := os.MkdirTemp("", "plural-dry-run-")
	if err != nil {
		return "", nil, err
	}
	return "sqlite:" + filepath.Join(dir, "plural.db"), func() error { return os.RemoveAll(dir) }, nil
}

// describe finds a collection by its name.
func (t *target) describe(ctx context.Context, c *client.Client, name string, what purpose) (client.Description, error) {
	all, err := c.Collections(ctx)
	if client.IsNotFound(err) {
		return client.Description{}, fmt.Errorf("%s does not describe its collections: is it the URL of a server, without a collection at its end? (%w)", t.name, err)
	}
	if err != nil {
		return client.Description{}, err
	}
	var names []string
	for _, each := range all {
		if each.Name == name {
			return each, nil
		}
		names = append(names, each.Name)
	}
	if len(names) == 0 {
		return client.Description{}, fmt.Errorf("%s shows no collections: it may need an API key (PLURAL_KEY), or another URL without a collection at its end", t.name)
	}
	return client.Description{}, noCollection(name, names, what)
}

// noCollection says which collections there are, without operations if they are to be
// written to.
func noCollection(name string, names []string, what purpose) error {
	if what != toRead {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "operations" })
	}
	return fmt.Errorf("there is no collection %q%s: there are %s", name, suggest.DidYouMean(name, names), strings.Join(names, ", "))
}

// collectionArgument checks the number of arguments of a command whose first is a collection.
func collectionArgument(most int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) < 1 || len(args) > most {
			return fmt.Errorf("name what to %s: plural %s", command.Name(), command.Use)
		}
		return nil
	}
}
