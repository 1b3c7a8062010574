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

// TestSourcesExist: the sections that rules refer to are headings of docs/interface.md.
func TestSourcesExist(t *testing.T) {
	text, err := os.ReadFile("../docs/interface.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Checks() {
		if heading, ours := strings.CutPrefix(c.Source, "interface: "); ours && !strings.Contains(string(text), "# "+heading+"\n") {
			t.Errorf("%s refers to the section %q of docs/interface.md, which does not exist", c.ID, heading)
		}
	}
}

// tables lists the topics with the numbers of their checks.
func tables() string {
	type topic struct {
		name, source                string
		checks, writes, synchronous int
	}
	var topics []topic
	for _, c := range Checks() {
		at := slices.IndexFunc(topics, func(t topic) bool { return t.name == c.Topic() })
		if at < 0 {
			at, topics = len(topics), append(topics, topic{name: c.Topic()})
		}
		t := &topics[at]
		t.checks++
		if t.source == "" && !c.Convention {
			t.source = c.Source
		}
		if c.Writes {
			t.writes++
		}
		if c.Synchronous != "" {
			t.synchronous++
		}
	}
	var text strings.Builder
	text.WriteString("\n| Topic | Checks | that write | that need a synchronous response |\n|---|---|---|---|\n")
	for _, t := range topics {
		fmt.Fprintf(&text, "| [`%s`](%s) | %d | %d | %d |\n", t.name, section(t.source), t.checks, t.writes, t.synchronous)
	}
	return text.String() + "\n"
}

// section is the link to the section that a rule is written in.
func section(source string) string {
	where, heading, _ := strings.Cut(source, ": ")
	if where == "errors" {
		return "errors.md"
	}
	return "interface.md#" + strings.ReplaceAll(strings.ToLower(heading), " ", "-")
}
