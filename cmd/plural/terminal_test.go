package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// hostile has what a terminal would execute, or show in another order: C0, DEL, C1 as UTF-8 and as a byte, and a character
// that turns text around.
const hostile = "a\x1b]0;x\x07\r\x7f\u009b2J\u202eb\u2066"

// shownHostile is hostile as it is printed.
const shownHostile = `a\u001b]0;x\u0007\u000d\u007f\u009b2J\u202eb\u2066`

// inJSON is hostile as it is printed where it is a string in JSON already.
const inJSON = `a\u001b]0;x\u0007\r\u007f\u009b2J\u202eb\u2066`

// TestControlCharactersAreShown: whatever files, databases and servers contain, the terminal gets no control characters.
func TestControlCharactersAreShown(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, "collections: {things: {attributes: {name: {type: string, maxLength: 30}, count: {type: integer}}}}\n")
	answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json;charset=utf-8")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"errors":[{"status":403,"code":"x","title":"T","detail":"` + strings.NewReplacer("\x1b", `\u001b`, "\x07", `\u0007`, "\r", `\r`).Replace(hostile) + `"}]}`)) // the client ends
	})
	server := httptest.NewServer(answers)
	defer server.Close()
	run := func(stdin string, args ...string) string {
		t.Helper()
		command := program(t, dir, args...)
		command.Stdin = strings.NewReader(stdin)
		out, _ := command.CombinedOutput() // most of them fail, as they shall
		for _, part := range []string{"\x1b", "\x07", "\r", "\x7f", "\u009b", "\u202e", "\u2066", "\x9b2J"} {
			if bytes.Contains(out, []byte(part)) {
				t.Errorf("plural %q prints %q: %q", args, part, out)
			}
		}
		return string(out)
	}
	for _, c := range []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"a value", "count\n\"" + hostile + "\"\n", []string{"import", "things", "--format", "csv"}, `line 2: count "` + inJSON + `": Must be an integer, but is a string.` + "\n"},
		{"a column", "\"" + hostile + "\"\n", []string{"import", "things", "--format", "csv"}, `there is no attribute "a\x1b]0;x\a\r\x7f\u009b2J\u202eb\u2066"`},
		{"a column twice", "name,name\u009b,name\u009b\n", []string{"import", "things", "--format", "csv"}, "line 1: the column name\\u009b appears twice\n"},
		{"a line of another row", "\"a\nline 9\"\nx\n", []string{"import", "things", "--format", "csv", "--map", "count=a\nline 9"}, `line 3: count (column a\nline 9) "x": Must be an integer, but is a string.` + "\n"},
		{"a byte", "name\n\x9b2J\n", []string{"import", "things", "--format", "csv", "--map", "count=\x9b2J"}, `\x9b2J`},
		{"an argument", "", []string{"export", "things" + hostile}, `plural: there is no collection "thingsa\x1b]0;x\a\r\x7f\u009b2J\u202eb\u2066": there are things, operations` + "\n"},
		{"an error of a server", "", []string{"export", "things", "--server", server.URL}, shownHostile},
		{"an import to a server", "", []string{"import", "things", "--server", server.URL}, shownHostile},
		{"checks", "", []string{"check", server.URL}, `"detail":"` + inJSON + `"`},
		{"a watch", "", []string{"watch", "things", "--server", server.URL}, shownHostile},
		{"a log", "level=WARN msg=\"slow list\" collection=x plan=\"\u009b\" ms=5\n", []string{"doctor", "--slow"}, "  plan: \\u009b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(c.stdin, c.args...); !strings.Contains(got, c.want) {
				t.Errorf("plural %q prints\n%s\nwithout %s", c.args, got, c.want)
			}
		})
	}

	// Data is not changed on its way to a file or a program.
	row := "name,count\r\n\"" + hostile + "\",\r\n"
	if got := run(row, "import", "things", "--format", "csv"); got != "Imported 1 row into plural.db.\n" {
		t.Fatal(got)
	}
	command := program(t, dir, "export", "things", "--format", "csv")
	if out, err := command.Output(); err != nil || !bytes.Contains(out, []byte(",\""+hostile+"\",")) {
		t.Errorf("the export is %q, %v", out, err)
	}
}
