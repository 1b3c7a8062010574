package move

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) {
	batchDelay = 24 * time.Hour // what a batch has must not depend on how busy the machine is
	os.Exit(pgtest.Run(m))
}

const people = `
collections:
  people:
    attributes:
      name: {type: string, minLength: 1, maxLength: 20}
      email: {type: string, maxLength: 100}
      age: {type: integer, minimum: 0}
      good: {type: boolean, default: true}
      tags: {type: array}
      boss: {type: string, format: uuid, references: people}
    required: [name]
    unique: [email]
`

// dataset is a server with a collection of people.
type dataset struct {
	t      *testing.T
	client *client.Client
	people client.Description
	cut    atomic.Int64 // how many of the next answers are lost
	posts  atomic.Int64 // how many requests wanted to create something
	gets   atomic.Int64 // how many requests wanted to read something
	full   atomic.Bool  // nothing can be stored any more
}

// eachStore runs a test against a fresh server on each database.
func eachStore(t *testing.T, test func(t *testing.T, w *dataset), change ...func(*plural.Config)) {
	t.Helper()
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) { test(t, newDataset(t, database(t), change...)) })
	}
}

func newDataset(t *testing.T, database string, change ...func(*plural.Config)) *dataset {
	t.Helper()
	file, err := schema.Parse([]byte(people))
	if err != nil {
		t.Fatal(err)
	}
	config := plural.Config{Schema: file.Schema, Database: database, Logger: slog.New(slog.DiscardHandler)}
	for _, apply := range change {
		apply(&config)
	}
	server, err := plural.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	w := &dataset{t: t}
	over := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.posts.Add(1)
		}
		if r.Method == http.MethodGet {
			w.gets.Add(1)
		}
		if r.Method != http.MethodGet && w.cut.Add(-1) >= 0 {
			server.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		if r.Method != http.MethodGet && w.full.Load() {
			out.Header().Set("Retry-After", "5")
			http.Error(out, `{"errors":[{"status":503,"code":"storage_full","title":"The storage is full","detail":"There is no room left."}]}`, http.StatusServiceUnavailable)
			return
		}
		server.ServeHTTP(out, r)
	}))
	t.Cleanup(func() {
		over.Close()
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if w.client, err = client.New(over.URL, client.Options{Retries: 3}); err != nil {
		t.Fatal(err)
	}
	all, err := w.client.Collections(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	w.people = all[0]
	return w
}

// take imports a text. It says what became of the rows, and what was wrong with which.
func (w *dataset) take(text string, format Format, change ...func(*Import)) (done Imported, bad []string, err error) {
	w.t.Helper()
	done, bad, err = w.takeColumns(text, format, ColumnsOf(w.people.Attributes), change...)
	if errors.Is(err, errReading) {
		w.t.Fatal(err)
	}
	return done, bad, err
}

var errReading = errors.New("reading")

// takeColumns imports a text with columns that mean something else. An error of the first line is
// errReading.
func (w *dataset) takeColumns(text string, format Format, columns *Columns, change ...func(*Import)) (done Imported, bad []string, err error) {
	w.t.Helper()
	rows, err := NewReader(strings.NewReader(text), format, columns)
	if err != nil {
		return done, nil, fmt.Errorf("%w: %w", errReading, err)
	}
	run := &Import{Client: w.client, Collection: w.people, Rows: rows, Columns: columns, OnError: StopOnError, OnConflict: FailOnConflict,
		Bad: func(row Row, reason string) { bad = append(bad, fmt.Sprintf("%d: %s", row.Line, reason)) }}
	for _, apply := range change {
		apply(run)
	}
	done, err = run.Run(context.Background())
	return done, bad, err
}

func skip(i *Import)   { i.OnError = SkipOnError }
func dryRun(i *Import) { i.DryRun = true }

var varying = regexp.MustCompile(`"(created_at|updated_at)":"[^"]*"`)

// export writes the collection to a text, without times.
func (w *dataset) export(format Format, parameters string) string {
	w.t.Helper()
	var file bytes.Buffer
	rows, err := NewWriter(&file, format, w.people.Attributes)
	if err != nil {
		w.t.Fatal(err)
	}
	run := &Export{Client: w.client, Collection: w.people, Rows: rows, Parameters: parameters}
	if _, err := run.Run(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	return varying.ReplaceAllString(file.String(), `"$1":"TIME"`)
}

// names are those of the people, in order.
func (w *dataset) names() string {
	w.t.Helper()
	var names []string
	for line := range strings.Lines(w.export(NDJSON, "")) {
		var person struct{ Name string }
		if err := json.Unmarshal([]byte(line), &person); err != nil {
			w.t.Fatal(err)
		}
		names = append(names, person.Name)
	}
	return strings.Join(names, " ")
}

func (w *dataset) expect(names string) {
	w.t.Helper()
	if got := w.names(); got != names {
		w.t.Errorf("there are %q, want %q", got, names)
	}
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
