package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnknownFlagsAndCommands: what is nearly right says what would be.
func TestUnknownFlagsAndCommands(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--adr", "127.0.0.1:0"}, `unknown flag: --adr (did you mean --addr?); "plural serve --help" lists them`},
		{[]string{"serve", "--Max_Body=1MiB"}, `unknown flag: --Max_Body (did you mean --max-body?); "plural serve --help" lists them`},
		{[]string{"serve", "-addr=127.0.0.1:0"}, `unknown flag: -addr (did you mean --addr?); "plural serve --help" lists them`},
		{[]string{"serve", "--listen", "x"}, `unknown flag: --listen (use --addr); "plural serve --help" lists them`},
		{[]string{"keys", "create", "--rol", "x"}, `unknown flag: --rol (did you mean --role?); "plural keys create --help" lists them`},
		{[]string{"check", "http://127.0.0.1:1", "--readonly"}, `unknown flag: --readonly (did you mean --read-only?); "plural check --help" lists them`},
		{[]string{"--versoin"}, `unknown flag: --versoin (did you mean --version?); "plural --help" lists them`},
		{[]string{"serv"}, `unknown command: plural serv (did you mean serve?); "plural --help" lists them`},
		{[]string{"migrations"}, `unknown command: plural migrations (did you mean migrate?); "plural --help" lists them`},
		{[]string{"frobnicate"}, `unknown command: plural frobnicate; "plural --help" lists them`},
		{[]string{"keys", "lst"}, `unknown command: plural keys lst (did you mean list?); "plural keys --help" lists them`},
		{[]string{"client", "typescript"}, `unknown command: plural client typescript (did you mean ts?)`},
		{[]string{"serve", "--port", "9000"}, `unknown flag: --port (use --addr); "plural serve --help" lists them`},
		{[]string{"serve", "--addr", "9000"}, "the address 9000 has no host: write 127.0.0.1:9000 for this machine only, or :9000 for every address"},
		{[]string{"serve", "--addr", "localhost"}, `the address "localhost" must be a host and a port, such as 127.0.0.1:8080 or :8080`},
		{[]string{"migrate", "--dry-run"}, `unknown flag: --dry-run (use --plan); "plural migrate --help" lists them`},
		{[]string{"export", "users", "-o", "x.csv"}, `unknown flag: -o (use --output); "plural export --help" lists them`},
		{[]string{"can"}, "give a role, a verb and a collection: plural can ROLE VERB COLLECTION [ID] [flags]"},
		{[]string{"backup"}, "give the file to write the backup to: plural backup FILE [flags]"},
		{[]string{"backup", "a", "b"}, `"b" is one argument too many: plural backup FILE [flags]`},
		{[]string{"import", "user"}, `there is no collection "user" (did you mean users?): there are users, posts`},
		{[]string{"export", "user"}, `there is no collection "user" (did you mean users?): there are users, posts, operations`},
		{[]string{"serve", "--addr", "0.0.0.0:0"}, "without access, anybody who can reach this address could read and change everything: declare access in the schema file, listen on 127.0.0.1, or give --open to allow this"},
		{[]string{"serve", "plural.yaml"}, `plural serve takes no arguments, but was given "plural.yaml"`},
	} {
		runs(t, dir, "", true, "plural: "+c.want+"\n", c.args...)
	}
}

// TestUnknownSettings: a setting that there is none of is shown at its key, with the right one.
func TestUnknownSettings(t *testing.T) {
	dir := t.TempDir()
	text := "collections: {things: {}}\nserver: {port: 9000}\n"
	for _, c := range []struct{ settings, want string }{
		{"server: {port: 9000}", "plural: plural.yaml:2:10: there is no setting port (use addr): use addr, "},
		{"server:\n  adress: x", "plural: plural.yaml:3:3: there is no setting adress (use addr): use addr, "},
	} {
		if err := os.WriteFile(filepath.Join(dir, "plural.yaml"), []byte(strings.Replace(text, "server: {port: 9000}", c.settings, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, _ := program(t, dir, "serve").CombinedOutput(); !strings.HasPrefix(string(out), c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.settings, out, c.want)
		}
	}
}

// TestDefaultsAreShownOnce: the usage of a flag names one default.
func TestDefaultsAreShownOnce(t *testing.T) {
	out, err := program(t, t.TempDir(), "keys", "create", "--help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Count(line, "(default") > 1 {
			t.Error(line)
		}
	}
}
