package conform

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the topics of docs/conformance.md")

const (
	document = "../docs/conformance.md"
	begin    = "<!-- The topics are written by: go test ./conform -update -->\n"
	end      = "<!-- end of the topics -->\n"
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
		t.Fatalf("%s has no topics between their marks", document)
	}
	want := topics()
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

// topics lists the topics with the numbers of their checks.
func topics() string {
	var names []string
	checks := map[string]int{}
	for _, c := range Checks() {
		if checks[c.Topic()]++; checks[c.Topic()] == 1 {
			names = append(names, c.Topic())
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("`%s` %d", name, checks[name])
	}
	return "\n" + strings.Join(names, ", ") + ".\n\n"
}
