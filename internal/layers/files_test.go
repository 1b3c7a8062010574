package layers

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// opens are the functions that open, make or rename a file by its name.
var opens = map[string][]string{
	"os": {"CopyFS", "Create", "CreateTemp", "DirFS", "Link", "NewFile", "Open", "OpenFile", "OpenInRoot", "OpenRoot", "ReadFile", "Rename", "Symlink",
		"Truncate", "WriteFile"},
	"syscall":                 {"Creat", "Link", "Mmap", "Open", "Openat", "Rename", "Truncate"},
	"golang.org/x/sys/unix":   {"Creat", "Link", "Mmap", "Open", "Openat", "Openat2", "Rename", "Renameat", "Truncate"},
	"io/ioutil":               {"ReadFile", "TempFile", "WriteFile"},
	"net/http":                {"Dir", "ServeFile"},
	"crypto/tls":              {"LoadX509KeyPair"},
	"zombiezen.com/go/sqlite": {"OpenConn"},
	"database/sql":            {"Open"},
}

// mayOpen is every place of the program and the library that does so, and why it is no file of an
// SQLite database, or harmless. Whoever closes a file takes from the process all its locks on it, also
// those of SQLite, so that two processes can write at once and destroy the database. See
// docs/decisions/0022-sqlite-files.md.
var mayOpen = map[string]string{
	". (*certificates).load: crypto/tls.LoadX509KeyPair":            "a certificate and its key",
	"cmd/plural (*input).open: os.Open":                             "the file that is imported; one of the database is refused ahead of SQLite",
	"cmd/plural (*destination).open: os.OpenFile":                   "a new file beside the export with O_EXCL, a pipe or a device",
	"cmd/plural (*destination).finish: os.Rename":                   "the export gets its name; files of the database are refused",
	"cmd/plural newTypeScriptCommand: os.WriteFile":                 "the TypeScript client",
	"cmd/plural newInitCommand: os.OpenFile":                        "a new schema file, with O_EXCL",
	"cmd/plural (*settings).readSchema: os.ReadFile":                "the schema file, ahead of any database",
	"cmd/plural (*schemaWatch).look: os.ReadFile":                   "the schema file",
	"cmd/plural readSample: os.ReadFile":                            "a sample for the checks",
	"internal/auth readPublicKey: os.ReadFile":                      "public keys of tokens",
	"internal/db/sqlite createPrivate: os.OpenFile":                 "a new database, with O_EXCL, while no connection can be opened",
	"internal/db/sqlite partialFile: os.CreateTemp":                 "a new database, with O_EXCL and a name that nobody else knows",
	"internal/db/sqlite publish: os.Link":                           "a database that no connection has open",
	"internal/db/sqlite publish: os.Rename":                         "a database that no connection has open",
	"internal/db/sqlite syncDirectory: os.Open":                     "a directory",
	"internal/db/sqlite openFile: zombiezen.com/go/sqlite.OpenConn": "SQLite itself",
}

// TestFilesAreOpenedInKnownPlaces: a place that is not in the table must be thought about first.
func TestFilesAreOpenedInKnownPlaces(t *testing.T) {
	found := map[string]bool{}
	for directory, files := range linked(t) {
		for _, file := range files {
			for _, place := range openings(t, directory, filepath.Join(root, directory, file)) {
				found[place] = true
			}
		}
	}
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if mayOpen[place] == "" {
			t.Errorf("%s is not in the table mayOpen of internal/layers: say there why it can be no file of an SQLite database", place)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(mayOpen)) {
		if !found[place] {
			t.Errorf("%s is in the table mayOpen of internal/layers, and not in the code", place)
		}
	}
}

// linked are the directories of ours that the program is made of, and their files for any system.
func linked(t *testing.T) map[string][]string {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,GoFiles,IgnoredGoFiles", "./cmd/plural")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	directories := map[string][]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p struct {
			ImportPath              string
			GoFiles, IgnoredGoFiles []string
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.ImportPath != module && !strings.HasPrefix(p.ImportPath, module+"/") {
			continue
		}
		directory := "." + strings.TrimPrefix(p.ImportPath, module)
		for _, file := range append(p.GoFiles, p.IgnoredGoFiles...) {
			if !strings.HasSuffix(file, "_test.go") {
				directories[path.Clean(directory)] = append(directories[path.Clean(directory)], file)
			}
		}
	}
	if len(directories) < 10 {
		t.Fatalf("only %d packages were found", len(directories))
	}
	return directories
}

// openings lists where a file uses one of the functions, be it called or passed on.
func openings(t *testing.T, directory, name string) (places []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	imported := map[string]string{} // by the name that the file uses
	for _, spec := range file.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		local := path.Base(full)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if opens[full] != nil && local == "." {
			t.Errorf("%s imports %s with a dot, so that its functions cannot be seen", name, full)
		}
		imported[local] = full
	}
	for _, declaration := range file.Decls {
		ast.Inspect(declaration, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := selector.X.(*ast.Ident); ok && slices.Contains(opens[imported[from.Name]], selector.Sel.Name) {
				places = append(places, directory+" "+nameOf(declaration)+": "+imported[from.Name]+"."+selector.Sel.Name)
			}
			return true
		})
	}
	return places
}

// nameOf is the name of a function, with its receiver.
func nameOf(declaration ast.Decl) string {
	function, ok := declaration.(*ast.FuncDecl)
	if !ok {
		return "(outside of functions)"
	}
	if function.Recv == nil {
		return function.Name.Name
	}
	switch receiver := function.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		if name, ok := receiver.X.(*ast.Ident); ok {
			return "(*" + name.Name + ")." + function.Name.Name
		}
	case *ast.Ident:
		return receiver.Name + "." + function.Name.Name
	}
	return function.Name.Name
}

// TestFileOpeningCallsAreFound checks the search itself.
func TestFileOpeningCallsAreFound(t *testing.T) {
	got := openings(t, "internal/layers", "testdata/opens.go.txt")
	want := []string{
		"internal/layers (outside of functions): os.ReadFile",
		"internal/layers direct: os.Open",
		"internal/layers (*thing).renamed: os.OpenFile",
		"internal/layers thing.mapped: syscall.Mmap",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
