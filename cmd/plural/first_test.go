package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFirstSchema: whoever tries the example and then writes a first schema, and changes it as long as it has no data, needs no
// other command than serve.
func TestFirstSchema(t *testing.T) {
	dir := t.TempDir()
	p := serveIn(t, dir)
	example := post(t, p.base+"/users", `{"name":"Ada","email":"ada@example.com"}`)
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}
	migrated := regexp.MustCompile(`msg="database migrated" step="(.*?)" `)
	for _, step := range []struct {
		yaml  string
		steps []string
	}{
		{"collections: {books: {attributes: {title: {type: string}, pages: {type: string}}}, shelves: {singular: shelf}}", nil},
		{"collections: {books: {attributes: {title: {type: string}, pages: {type: integer, minimum: 1}}, required: [title]}, authors: {}}", []string{
			"books: title becomes required", "books: pages is converted from string to integer", "new collection authors", "collection shelves is removed",
		}},
		{"collections: {novels: {renamed_from: books, attributes: {name: {type: string, renamed_from: title, maxLength: 99}}, unique: [name]}, authors: {}}", []string{
			"collection books is renamed to novels", "novels: the singular becomes novel", "novels: attribute title is renamed to name", "novels: name is restricted by maxLength",
			"novels: name becomes optional", "novels: attribute pages is removed", "novels: values of name must be unique",
		}},
	} {
		writeSchema(t, dir, step.yaml)
		p := serveIn(t, dir)
		if err := p.stop(t, syscall.SIGTERM); err != nil {
			t.Fatalf("%v\n%s", err, p.log)
		}
		var steps []string
		for _, match := range migrated.FindAllStringSubmatch(p.log.String(), -1) {
			steps = append(steps, match[1])
		}
		slices.Sort(steps)
		slices.Sort(step.steps)
		if !slices.Equal(steps, step.steps) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(steps, "\n"), strings.Join(step.steps, "\n"))
		}
	}
	if err := os.Remove(filepath.Join(dir, "plural.yaml")); err != nil {
		t.Fatal(err)
	}
	p = serveIn(t, dir)
	if got, want := get(t, p.base+"/users"), "200 "+strings.NewReplacer(`{"data":`, `{"data":[`, `"}}`, `"}]}`).Replace(example); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestGreetingInJSON: with --log-format json, everything that a server writes is JSON lines.
func TestGreetingInJSON(t *testing.T) {
	p := serveIn(t, t.TempDir(), "--log-format=json")
	var got map[string]string
	if err := json.Unmarshal([]byte(p.greeting), &got); err != nil {
		t.Fatalf("%v\n%s", err, p.greeting)
	}
	if _, err := time.Parse(time.RFC3339Nano, got["time"]); err != nil {
		t.Error(err)
	}
	delete(got, "time")
	want := map[string]string{
		"level": "INFO", "msg": "serving", "version": "dev", "serves": `the built-in example ("plural init" writes a schema file of your own)`,
		"api": p.base + "/", "explorer": p.base + "/-/explorer", "docs": p.base + "/-/docs", "openapi": p.base + "/-/openapi.json",
		"try":  "curl " + p.base + `/users -H 'Content-Type: application/json' -d '{"name":"Ada","email":"ada@example.com"}'`,
		"data": "plural-example.db", "open": "anybody who can reach " + strings.TrimPrefix(p.base, "http://") + " may do everything: see docs/security.md",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestSavedSchemaIsNotInUse: each saved version is logged once, as soon as it stays the same for two looks.
func TestSavedSchemaIsNotInUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plural.yaml")
	const inUse = "collections: {things: {}}\n"
	var log bytes.Buffer
	w := newSchemaWatch(&settings{schemaFile: file, schemaText: []byte(inUse)}, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "file" {
				return slog.Attr{}
			}
			return a
		},
	})))
	saved := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	save := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		saved = saved.Add(time.Second)
		if err := os.Chtimes(file, saved, saved); err != nil {
			t.Fatal(err)
		}
	}
	const (
		notInUse = `level=WARN msg="the schema file was saved, but is not in use: restart the server to use it"` + "\n"
		mistakes = `level=ERROR msg="the schema file was saved with mistakes: the server continues with the earlier one, and would not start with this one" error=`
	)
	for _, step := range []struct {
		text string // empty: the file is removed
		want string
	}{
		{inUse, ""},
		{"collections: {things: {}, others: {}}\n", notInUse},
		{"collections: {things: {}, others: {}}\n", ""}, // saved again without a change
		{"", ""},
		{"collections: {things: {attributes: {a: {type: text}}}}\n", mistakes + `"FILE:1:47: type must be string, integer, number, boolean, object or array, but is \"text\": write type: string"` + "\n"},
		{inUse + "server: {addr: 1, nonsense: 2}\n", mistakes + `"FILE:2:19: there is no setting nonsense: use `},
		{inUse + "access: {roles: {reader: {things: {list: resource.nonsense == 1}}}}\n", mistakes},
		{inUse, `level=INFO msg="the schema file is the one in use again"` + "\n"},
		{inUse + "\n", notInUse},
	} {
		log.Reset()
		if step.text == "" {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		} else {
			save(step.text[:len(step.text)/2])
			w.look()
			save(step.text)
		}
		for range 4 {
			w.look()
		}
		got := strings.ReplaceAll(log.String(), file, "FILE")
		if got != step.want && (strings.HasSuffix(step.want, "\n") || step.want == "" || !strings.HasPrefix(got, step.want) || strings.Count(got, "\n") != 1) {
			t.Errorf("%q: got\n%s\nwant\n%s", step.text, got, step.want)
		}
	}
}

// TestServeWatchesItsSchema: a real server does.
func TestServeWatchesItsSchema(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, oneCollection)
	command := program(t, dir, "serve", "--addr=127.0.0.1:0")
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Wait()
	defer command.Process.Kill()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it has read the file
		t.Fatal(err)
	}
	writeSchema(t, dir, oneCollection+"\n")
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if strings.Contains(line, `msg="the schema file was saved, but is not in use: restart the server to use it" file=plural.yaml`) {
			return
		}
		if err != nil {
			t.Fatal("it did not say that the file is not in use")
		}
	}
}
