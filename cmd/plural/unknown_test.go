package main

import "testing"

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
		{[]string{"serve", "--listen", "x"}, `unknown flag: --listen; "plural serve --help" lists them`},
		{[]string{"keys", "create", "--rol", "x"}, `unknown flag: --rol (did you mean --role?); "plural keys create --help" lists them`},
		{[]string{"check", "http://127.0.0.1:1", "--readonly"}, `unknown flag: --readonly (did you mean --read-only?); "plural check --help" lists them`},
		{[]string{"--versoin"}, `unknown flag: --versoin (did you mean --version?); "plural --help" lists them`},
		{[]string{"serv"}, `unknown command: plural serv (did you mean serve?); "plural --help" lists them`},
		{[]string{"migrations"}, `unknown command: plural migrations (did you mean migrate?); "plural --help" lists them`},
		{[]string{"frobnicate"}, `unknown command: plural frobnicate; "plural --help" lists them`},
		{[]string{"keys", "lst"}, `unknown command: plural keys lst (did you mean list?); "plural keys --help" lists them`},
		{[]string{"client", "typescript"}, `unknown command: plural client typescript; "plural client --help" lists them`},
		{[]string{"serve", "plural.yaml"}, `plural serve takes no arguments, but was given "plural.yaml"`},
	} {
		runs(t, dir, "", true, "plural: "+c.want+"\n", c.args...)
	}
}
