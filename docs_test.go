package plural_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// TestErrorsAreDocumented holds docs/errors.md to the table of codes: every code
// with its status and title, an example of each, and no code that is none.
func TestErrorsAreDocumented(t *testing.T) {
	text := readDocument(t, "docs/errors.md")
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (\\d+) \\| ([^|]+) \\|")
	documented := map[string]string{}
	for _, cells := range row.FindAllStringSubmatch(text, -1) {
		documented[cells[1]] = cells[2] + " " + cells[3]
	}
	for _, code := range problem.Codes() {
		name := string(code)
		if got, want := documented[name], strconv.Itoa(code.Status())+" "+code.Title(); got != want {
			t.Errorf("%s is documented as %q, and is %q", name, got, want)
		}
		if !strings.Contains(text, `"code": "`+name+`"`) && !strings.Contains(text, `"code":"`+name+`"`) {
			t.Errorf("%s has no example", name)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("%s is documented, and there is no such code", name)
	}
	// Not every example can be run; all of them can be compared with the table.
	example := regexp.MustCompile(`"status": ?(\d+), ?"code": ?"([^"]*)", ?"title": ?"([^"]*)"`)
	for _, parts := range example.FindAllStringSubmatch(text, -1) {
		code := problem.Code(parts[2])
		if parts[1] != strconv.Itoa(code.Status()) || parts[3] != code.Title() {
			t.Errorf("an example of %s has the status %s and the title %q", code, parts[1], parts[3])
		}
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
	onlyInGo := []string{"Info", "Access", "AcceptTimestamps", "Prefix", "Logger", "Hooks", "MaxHookTime"}
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
		t.Error("no document mentions a test: has docs/seed.md another form now?")
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
	for _, module := range []string{"soak", "bench", "lint"} {
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

// TestProgramOfTheLibraryDocument: the functions that docs/library.md shows first are those of a program that is tested.
func TestProgramOfTheLibraryDocument(t *testing.T) {
	_, block, found := strings.Cut(readDocument(t, "docs/library.md"), "\n```go\n")
	block, _, _ = strings.Cut(block, "```\n")
	if !found || block == "" || !strings.HasSuffix(readDocument(t, "examples/guestbook/main.go"), block) {
		t.Error("the first code of docs/library.md is not the end of examples/guestbook/main.go")
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
