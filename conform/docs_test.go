package conform

import (
	"flag"
	"fmt"
	"os"
	"slices"
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

// tables lists the topics with the number of their checks, and the checks that an
// asynchronous run leaves out.
func tables() string {
	type topic struct {
		name           string
		checks, writes int
		sources        []string
	}
	var topics []topic
	var reasons []string
	exempt := map[string][]string{}
	for _, c := range Checks() {
		at := slices.IndexFunc(topics, func(t topic) bool { return t.name == c.Topic() })
		if at < 0 {
			at, topics = len(topics), append(topics, topic{name: c.Topic()})
		}
		t := &topics[at]
		t.checks++
		if c.Writes {
			t.writes++
		}
		if s := source(c.Source); !slices.Contains(t.sources, s) {
			t.sources = append(t.sources, s)
		}
		if c.Synchronous != "" {
			if exempt[c.Synchronous] == nil {
				reasons = append(reasons, c.Synchronous)
			}
			exempt[c.Synchronous] = append(exempt[c.Synchronous], "`"+c.ID+"`")
		}
	}
	var text strings.Builder
	text.WriteString("\n| Topic | Checks | that write | Rules |\n|---|---|---|---|\n")
	for _, t := range topics {
		fmt.Fprintf(&text, "| `%s` | %d | %d | %s |\n", t.name, t.checks, t.writes, strings.Join(t.sources, ", "))
	}
	text.WriteString("\n### Not run asynchronously\n\n| These checks are about | |\n|---|---|\n")
	for _, reason := range reasons {
		fmt.Fprintf(&text, "| %s | %s |\n", cell(reason), strings.Join(exempt[reason], ", "))
	}
	return text.String() + "\n"
}

// source links to the section that a rule is written in.
func source(given string) string {
	where, section, _ := strings.Cut(given, ": ")
	anchor := strings.ReplaceAll(strings.ToLower(section), " ", "-")
	switch where {
	case "interface":
		return "[" + section + "](interface.md#" + anchor + ")"
	case "errors":
		return "[" + section + "](errors.md)"
	}
	return "convention"
}

// cell escapes what would be read as Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "_", `\_`, "*", `\*`, "[", `\[`).Replace(text)
}
