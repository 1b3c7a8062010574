package main

import (
	"strings"
	"testing"
)

// TestCheckWithCredentials: a server that asks for credentials is checked with --key or
// PLURAL_KEY, and one that refuses them is not said to need a better sample.
func TestCheckWithCredentials(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, `
collections: {things: {attributes: {name: {type: string}}}}
access:
  roles:
    editor: {things: [list, read, create, update, delete]}
    reader: {things: [list, read]}
`)
	p := serveIn(t, dir)
	key := func(role string) string {
		t.Helper()
		command := program(t, dir, "keys", "create", "--name", role, "--role", role)
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	editor, reader := key("editor"), key("reader")
	passed := "BASE, collection things: 1 passed, 0 failed, 0 skipped"
	missing := "none were sent: give an API key or a token (--key or PLURAL_KEY)"
	wrong := "those that were sent are wrong, or do not suffice: give another key or token (--key or PLURAL_KEY)"
	for name, c := range map[string]struct {
		environment string
		args        []string
		status      int
		want        string // the last line of the output, or the first of the errors
	}{
		"by flag":              {"", []string{"--key", editor}, 0, passed},
		"by environment":       {editor, nil, 0, passed},
		"the flag wins":        {"nonsense", []string{"--key", editor}, 0, passed},
		"the header wins":      {"nonsense", []string{"--header", "Authorization: Bearer " + editor}, 0, passed},
		"both":                 {"", []string{"--key", "a", "--header", "Authorization: Bearer b"}, 2, "plural: give a --key, or a --header Authorization, and not both"},
		"none":                 {"", nil, 2, "plural: GET BASE/ lists nothing but operations: " + missing},
		"none, and read-only":  {"", []string{"--read-only"}, 2, "plural: GET BASE/ lists nothing but operations: " + missing},
		"none, but a name":     {"", []string{"--collection", "things"}, 2, "plural: the server asks for credentials: " + missing},
		"wrong":                {"nonsense", nil, 2, "plural: the server asks for credentials: " + wrong},
		"that may not write":   {reader, nil, 2, "plural: the server does not allow this to the caller: " + wrong},
		"that need not write":  {reader, []string{"--read-only"}, 0, "warning: things has no resources to look at, and a read-only run creates none: most checks are skipped"},
		"wrong, with a sample": {"nonsense", []string{"--collection", "things", "--sample", `{"name":"a"}`}, 2, "plural: the server asks for credentials: " + wrong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PLURAL_KEY", c.environment)
			status, out, log := run(t, append([]string{"check", p.base, "--only=path.root"}, c.args...)...)
			got := lastLine(out)
			if status == 2 {
				got, _, _ = strings.Cut(log, "\n")
			}
			if got = strings.ReplaceAll(got, p.base, "BASE"); status != c.status || got != c.want || strings.Contains(log, "sample") {
				t.Errorf("got  %d %s\nwant %d %s\n%s", status, got, c.status, c.want, log)
			}
		})
	}
}
