package plural_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// TestErrorsAreDocumented: docs/errors.md has a row for every code, by status, and explains it.
// go test . -run TestErrorsAreDocumented -update-documents writes all but the explanations.
func TestErrorsAreDocumented(t *testing.T) {
	const file, head = "docs/errors.md", "| Code | Status | When |\n|---|---|---|\n"
	before, table, found := strings.Cut(readDocument(t, file), head)
	if !found {
		t.Fatalf("%s has no table of codes", file)
	}
	when := map[problem.Code]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|.*\\| (.*) \\|$").FindAllStringSubmatch(table, -1) {
		when[problem.Code(row[1])] = row[2]
	}
	codes := problem.Codes()
	slices.SortStableFunc(codes, func(a, b problem.Code) int { return a.Status() - b.Status() })
	var want strings.Builder
	for _, code := range codes {
		fmt.Fprintf(&want, "| `%s` | %d | %s |\n", code, code.Status(), when[code])
		if when[code] == "" {
			t.Errorf("%s is not explained", code)
		}
	}
	if table == want.String() {
		return
	}
	if !*updateDocuments {
		t.Fatalf("the table is\n%s\nwant\n%s", table, want.String())
	}
	if err := os.WriteFile(file, []byte(before+head+want.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSchemaKeysAreDocumented: docs/schema.md is a reference, so it names every
// key that a schema file can have.
func TestSchemaKeysAreDocumented(t *testing.T) {
	text := readDocument(t, "docs/schema.md")
	type object struct{ Properties map[string]json.RawMessage }
	var file struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(schema.FileSchema(nil), &file); err != nil {
		t.Fatal(err)
	}
	for _, keys := range []object{file.object, file.Defs["collection"], file.Defs["attribute"]} {
		if len(keys.Properties) == 0 {
			t.Fatal("no keys found: has the JSON Schema of the file another form now?")
		}
		for key := range keys.Properties {
			if !strings.Contains(text, "| `"+key+"` |") {
				t.Errorf("there is no row for the key %s", key)
			}
		}
	}
}

// TestSettingsAreDocumented: every field of the configuration is named, by its
// flag where it has one.
func TestSettingsAreDocumented(t *testing.T) {
	text := readDocument(t, "docs/schema.md")
	onlyInGo := []string{"Info", "Access", "AcceptTimestamps", "ForceStates", "Prefix", "Logger", "Hooks", "MaxHookTime", "Tracer", "Agents"}
	upper := regexp.MustCompile("[A-Z]")
	for _, field := range reflect.VisibleFields(reflect.TypeFor[plural.Config]()) {
		want := "`" + field.Name + "`"
		if !slices.Contains(onlyInGo, field.Name) {
			want = "`-" + strings.ToLower(upper.ReplaceAllString(field.Name, "-$0")) + "`"
		}
		if !strings.Contains(text, "| "+want) {
			t.Errorf("there is no row for %s", want)
		}
	}
}

// TestNamesOfTestsExist: a document that says which test holds a rule must not
// outlive the test.
func TestNamesOfTestsExist(t *testing.T) {
	exists := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	for name, text := range filesOf(t, "_test.go") {
		for _, match := range function.FindAllStringSubmatch(text, -1) {
			exists[match[1]] = true
		}
		if name == "docs_test.go" && !exists["TestNamesOfTestsExist"] {
			t.Fatal("this test is not found: the search for tests is broken")
		}
	}
	mention := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)")
	count := 0
	for name, text := range filesOf(t, ".md") {
		for _, match := range mention.FindAllStringSubmatch(text, -1) {
			count++
			if !exists[match[1]] {
				t.Errorf("%s mentions %s, which is no test", name, match[1])
			}
		}
	}
	if count == 0 {
		t.Error("no document mentions a test: has docs/convention.md another form now?")
	}
}

// TestDependenciesAreDocumented: every module that is required directly has its
// reason, and no reason outlives its module.
func TestDependenciesAreDocumented(t *testing.T) {
	text := readDocument(t, "docs/decisions/0002-dependencies.md")
	documented, modules := map[string]bool{}, map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(text, -1) {
		documented[match[1]] = true
	}
	required := readDocument(t, "go.mod")
	for _, module := range []string{"soak", "bench", "lint", "monitoring"} {
		required += readDocument(t, "tools/"+module+"/go.mod")
	}
	for _, match := range regexp.MustCompile(`(?m)^(?:\t|require )(\S+) v\S+( // indirect)?$`).FindAllStringSubmatch(required, -1) {
		module, indirect := match[1], match[2] != ""
		if !indirect && !documented[module] && module != "github.com/plural-go/plural" {
			t.Errorf("%s is not documented", module)
		}
		modules[module] = true
	}
	for module := range documented {
		if !modules[module] {
			t.Errorf("%s is documented, and is no dependency", module)
		}
	}
}

// TestSchemasInDocumentsAreValid parses every schema file that a document shows.
func TestSchemasInDocumentsAreValid(t *testing.T) {
	count := 0
	for name, text := range filesOf(t, ".md") {
		for _, block := range yamlBlock.FindAllStringSubmatch(text, -1) {
			count++
			if _, err := schema.Parse([]byte(block[1])); err != nil {
				t.Errorf("%s:\n%v", name, err)
			}
		}
	}
	if count < 3 {
		t.Errorf("only %d schemas found: are they still written in yaml blocks?", count)
	}
}

// TestProgramOfTheLibraryDocument: the function that docs/library.md shows first, and the beginning of a test, are those of a program that is tested.
func TestProgramOfTheLibraryDocument(t *testing.T) {
	for heading, file := range map[string]string{"## An example": "examples/guestbook/main.go", "## Testing": "examples/guestbook/main_test.go"} {
		_, section, _ := strings.Cut(readDocument(t, "docs/library.md"), "\n"+heading+"\n")
		_, block, found := strings.Cut(section, "\n```go\n")
		block, _, _ = strings.Cut(block, "```\n")
		if !found || block == "" || !strings.Contains(readDocument(t, file), "\n"+block) {
			t.Errorf("the first code under %q in docs/library.md is not in %s", heading, file)
		}
	}
}

// goBlock is code, in which f[T](x) is no link.
var goBlock = regexp.MustCompile("(?s)```go\n.*?```")

// TestLinkTargetsExist follows the links between documents.
func TestLinkTargetsExist(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	documents := filesOf(t, ".md")
	for name, text := range documents {
		for _, match := range link.FindAllStringSubmatch(goBlock.ReplaceAllString(text, ""), -1) {
			target, anchor := match[1], match[2]
			if strings.Contains(target, "://") {
				continue
			}
			path := filepath.Join(filepath.Dir(name), target)
			if target == "" {
				path = name
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, target)
			}
			if anchor != "" && !slices.Contains(anchors(documents[path]), anchor) {
				t.Errorf("%s links to #%s of %s, which has no such heading", name, anchor, path)
			}
		}
	}
}

// anchors are the names that a heading gets when it is rendered.
func anchors(text string) []string {
	var names []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// filesOf reads the files of the project whose names end so.
func filesOf(t *testing.T, suffix string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (d.Name()[0] == '.' || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, suffix) {
			return nil
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
