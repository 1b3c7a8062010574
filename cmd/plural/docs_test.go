package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/plural-go/plural/internal/move"
)

var updateDocuments = flag.Bool("update-documents", false, "write the table of settings into docs/schema.md")

// TestSettingsTable: docs/schema.md has a row for every setting, in the order of the flags, and explains it.
// go test ./cmd/plural -run TestSettingsTable -update-documents writes flags and defaults.
func TestSettingsTable(t *testing.T) {
	const file, head = "../../docs/schema.md", "| Flag | Default | |\n|---|---|---|\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	table, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatalf("%s has no table of settings", file)
	}
	meaning := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\|[^|]*\\| (.*) \\|$").FindAllStringSubmatch(table, -1) {
		meaning[row[1]] = row[2]
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(settings).register(flags)
	var rows []string
	flags.VisitAll(func(f *pflag.Flag) {
		fallback := "none"
		if f.DefValue != "" && f.DefValue != fallback {
			fallback = "`" + f.DefValue + "`"
		}
		rows = append(rows, fmt.Sprintf("| `--%s` | %s | %s |", f.Name, fallback, meaning[f.Name]))
		if meaning[f.Name] == "" {
			t.Errorf("--%s is not explained", f.Name)
		}
	})
	want := strings.Join(rows, "\n")
	if table == want {
		return
	}
	if !*updateDocuments {
		t.Fatalf("the table is\n%s\nwant\n%s", table, want)
	}
	if err := os.WriteFile(file, []byte(before+head+want+"\n\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMessagesOfTheDocument: docs/schema.md shows messages as they are printed.
func TestMessagesOfTheDocument(t *testing.T) {
	const shown = `collections:
  users:
    attributes:
      name:
        type: strin
    unique: [nmae]
  posts:
    parent: user
`
	text, err := os.ReadFile("../../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```text\n(.*?)```\n").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 1 {
		t.Fatalf("there are %d text blocks: each needs the schema that makes the server print it", len(blocks))
	}
	dir := t.TempDir()
	writeSchema(t, dir, shown)
	out, err := program(t, dir, "serve", "--addr=127.0.0.1:0").CombinedOutput()
	if err == nil || string(out) != blocks[0][1] {
		t.Errorf("the document shows\n%s\nand printed is\n%s", blocks[0][1], strings.TrimSpace(string(out)))
	}
}

// TestFormsTable: the document and --help have the forms of --parse as the code does.
func TestFormsTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/moving-data.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, form := range move.Forms {
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", form.Usage(), form.Fits, form.Reads)
		if help := newImportCommand().Long; !strings.Contains(help, form.Usage()+" ") || !strings.Contains(help, form.Fits+": "+form.Reads+"\n") {
			t.Errorf("plural import --help does not have the form %s", form.Name)
		}
	}
	if !strings.Contains(string(text), "| Form | For | Reads |\n|---|---|---|\n"+want.String()+"\n") {
		t.Errorf("docs/moving-data.md must have these forms:\n%s", want.String())
	}
}
