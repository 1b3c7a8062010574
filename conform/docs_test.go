package conform

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/conformance.md")

const (
	document = "../docs/conformance.md"
	begin    = "<!-- The tables are written by: go test ./conform -update -->\n"
	end      = "<!-- end of the tables -->\n"
)

// TestChecksAreDocumented holds docs/conformance.md to the list of checks.
func TestChecksAreDocumented(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no tables between their marks", document)
	}
	want := tables()
	if *update && got != want {
		if err := os.WriteFile(document, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("%s is not what the checks say: run go test ./conform -update", document)
	}
}

// tables lists the checks, a table for each topic, and then those that an
// asynchronous run leaves out.
func tables() string {
	var topics, exempt []string
	rows := map[string][]string{}
	for _, c := range Checks() {
		topic := c.Topic()
		if rows[topic] == nil {
			topics = append(topics, topic)
		}
		writes := ""
		if c.Writes {
			writes = "writes"
		}
		if c.Synchronous != "" {
			writes = "writes, synchronously"
			exempt = append(exempt, fmt.Sprintf("| `%s` | %s |\n", c.ID, cell(c.Synchronous)))
		}
		rows[topic] = append(rows[topic], fmt.Sprintf("| `%s` | %s | %s | %s |\n", c.ID, cell(c.Rule), source(c.Source), writes))
	}
	var text strings.Builder
	for _, topic := range topics {
		fmt.Fprintf(&text, "\n### %s\n\n| Check | Rule | Written in | |\n|---|---|---|---|\n%s", topic, strings.Join(rows[topic], ""))
	}
	fmt.Fprintf(&text, "\n### Not run asynchronously\n\n| Check | It is about |\n|---|---|\n%s\n", strings.Join(exempt, ""))
	return text.String()
}

// source links to the document that a rule is written in.
func source(given string) string {
	where, section, _ := strings.Cut(given, ": ")
	anchor := strings.ReplaceAll(strings.ToLower(section), " ", "-")
	switch where {
	case "interface":
		return "[" + section + "](interface.md#" + anchor + ")"
	case "errors":
		return "[" + section + "](errors.md)"
	}
	return "**seed**, " + section
}

// cell escapes what would be read as Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "_", `\_`, "*", `\*`, "[", `\[`).Replace(text)
}
