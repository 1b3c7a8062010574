package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module   = "github.com/plural-go/plural"
	root     = "../.." // of the module, from here
	maxLines = 500     // of a file

	maxPackage = 4000 // lines of the files of a package, without its tests
)

// mayImport has each package, and the packages of ours that its code imports. "." is the package at
// the root of the module. In short:
//
//	problem <- fault <- model <- expression <- rules <- compile <- db <- lists, search <- migrate <- changelog <- statement <- store <- include <- resource <- operation <- api <- . <- cmd/plural
//
// with schema on compile, and query, auth, feed, maintain, openapi, observe and explorer beside this line. A
// new import belongs here and in docs/architecture.md, in one commit.
var mayImport = map[string][]string{
	"problem":             {},
	"params":              {},
	"internal/fault":      {"problem"},
	"internal/suggest":    {},
	"internal/format":     {},
	"internal/model":      {"problem", "internal/fault", "internal/suggest", "internal/format"},
	"internal/expression": {"internal/suggest", "internal/model"},
	"internal/rules":      {"problem", "internal/fault", "internal/suggest", "internal/model", "internal/expression"},
	"internal/compile":    {"problem", "internal/suggest", "internal/format", "internal/model", "internal/rules"},
	"schema":              {"internal/model", "internal/compile", "internal/suggest"},
	"internal/words":      {},
	"internal/sse":        {},
	"internal/tracing":    {},
	"internal/query":      {"problem", "internal/fault", "internal/suggest", "internal/model", "internal/words"},
	"internal/db":         {"problem", "internal/fault", "internal/model", "internal/tracing"},
	// A database knows nothing of what is stored in it, and nobody but databases knows which there are.
	"internal/db/sqlite":    {"problem", "internal/fault", "internal/model", "internal/db"},
	"internal/db/postgres":  {"problem", "internal/fault", "internal/model", "internal/db"},
	"internal/db/databases": {"internal/db", "internal/db/sqlite", "internal/db/postgres"},
	"internal/lists":        {"internal/model", "internal/db"},
	"internal/search":       {"problem", "internal/fault", "internal/model", "internal/db", "internal/words"},
	"internal/catalog":      {"internal/model", "internal/compile", "internal/db"},
	"internal/versions":     {"internal/model", "internal/compile", "internal/db", "internal/catalog"},
	"internal/migrate":      {"internal/compile", "problem", "internal/suggest", "internal/model", "internal/rules", "internal/db", "internal/db/databases", "internal/lists", "internal/search", "internal/catalog", "internal/versions"},

	"internal/changelog": {"internal/tracing", "internal/suggest", "internal/model", "internal/rules", "internal/query", "internal/db", "internal/catalog"},
	"internal/statement": {"problem", "internal/fault", "internal/model", "internal/query", "internal/db", "internal/search"},
	"internal/store":     {"internal/tracing", "problem", "internal/fault", "internal/model", "internal/query", "internal/limit", "internal/db", "internal/db/databases", "internal/lists", "internal/search", "internal/catalog", "internal/migrate", "internal/changelog", "internal/statement", "internal/versions", "internal/auth", "internal/keys"},
	"internal/keys":      {"internal/auth", "internal/db", "internal/model"},
	"internal/auth":      {"problem", "internal/fault", "internal/model", "internal/expression", "internal/rules", "schema", "internal/query"},
	"internal/headers":   {"problem", "internal/fault"},
	"internal/include":   {"problem", "internal/fault", "internal/model", "internal/query", "internal/store"},
	"internal/effect":    {"internal/model"},
	"internal/reads":     {"problem", "internal/fault", "internal/model", "schema", "internal/query", "internal/headers", "internal/changelog", "internal/store", "internal/auth", "internal/include"},
	"internal/resource":  {"internal/tracing", "problem", "internal/fault", "internal/model", "schema", "internal/query", "internal/headers", "internal/effect", "internal/store", "internal/auth", "internal/reads", "internal/limit", "internal/rules"},
	"internal/feed":      {"internal/tracing", "problem", "internal/fault", "internal/words", "internal/model", "schema", "internal/query", "internal/db", "internal/changelog", "internal/store", "internal/auth", "internal/limit", "internal/reads"},
	"internal/operation": {"internal/tracing", "problem", "internal/fault", "internal/model", "internal/store", "internal/resource"},
	"internal/observe":   {"problem", "internal/fault"},
	"internal/openapi":   {"problem", "internal/fault", "internal/suggest", "internal/model", "internal/rules", "schema", "internal/query", "internal/auth"},
	"internal/explorer":  {},
	"internal/limit":     {"problem", "internal/fault"},
	"internal/bodies":    {"problem", "internal/fault", "internal/limit"},
	"internal/rights":    {"problem", "internal/fault", "internal/model", "schema", "internal/auth", "internal/reads"},
	// Not the store: a handler that reads rows by itself goes past the verbs,
	// and with them past everything that holds for all of them.
	"internal/api": {"internal/bodies", "internal/tracing", "internal/versions", "problem", "internal/fault", "internal/suggest", "internal/model", "internal/rules", "schema", "internal/query", "internal/headers", "internal/auth", "internal/reads", "internal/resource", "internal/rights", "internal/operation", "internal/observe", "internal/openapi", "internal/feed", "internal/limit",
		"internal/explorer"},
	".": {"internal/tracing", "params", "problem", "internal/fault", "internal/model", "schema", "internal/query", "internal/migrate", "internal/store", "internal/auth", "internal/reads", "internal/resource", "internal/limit",
		"internal/operation", "internal/feed", "internal/observe", "internal/openapi", "internal/api"},
	// Works on databases without a server.
	"admin": {"internal/suggest", "internal/model", "schema", "internal/db", "internal/db/databases", "internal/lists", "internal/search", "internal/catalog", "internal/changelog", "internal/migrate", "internal/versions", "internal/auth", "internal/keys"},

	// OpenTelemetry: nothing imports it but programs.
	"otel": {"."},

	// Agents are clients: they know nothing of the server.
	"internal/mcp": {"client", "params", "problem", "internal/suggest"},
	"agents":       {"internal/mcp"},

	"cmd/plural": {".", "otel", "admin", "agents", "internal/mcp", "params", "problem", "schema", "internal/model", "internal/rules", "internal/suggest", "internal/pipes", "internal/terminal", "conform", "client", "client/ts", "internal/move", "internal/slowlog"},

	// Writes clients in TypeScript; what they send and read is in its runtime.
	"client/ts": {"schema", "internal/model", "internal/query"},

	// For servers in any language, so they know nothing of ours.
	"conform/internal/suite":  {"internal/sse"}, // a format of the web
	"conform/internal/checks": {"conform/internal/suite"},
	"conform":                 {"conform/internal/suite", "conform/internal/checks"},
	"client":                  {"params", "problem", "internal/sse"},

	// Reads logs of servers.
	"internal/slowlog": {"internal/model"},

	// Files to and from collections, as a client does it.
	"internal/move": {"client", "params", "problem", "internal/model", "internal/suggest"},

	// The interface as a client sees it: tests only, so it may import the top.
	"internal/interfacetest": {".", "admin", "agents", "params", "problem", "schema", "internal/model", "internal/resource", "conform", "client", "internal/move"},

	// The documents of whole configurations, with linters and generators of others: tests only as well.
	"internal/openapi/thirdparty": {".", "agents", "schema"},

	// Worked examples of the library: what an importer can use, and no more.
	"examples/bookings":  {".", "params", "schema"},
	"examples/guestbook": {".", "schema"},
	"examples/northwind": {},

	// A program with a server in it, for the tests of the explorer in a browser.
	"internal/explorer/web/e2e/mounted": {"."},
	// PostgreSQL for the same tests.
	"internal/explorer/web/e2e/postgres": {"internal/pgserver"},

	// The server from outside, as a process and a file: nothing of its code.
	"tools/soak/disk":     {},
	"tools/soak":          {"tools/soak/disk", "tools/soak/ledger", "tools/soak/stored", "internal/loopback", "internal/sse", "internal/pgserver", "internal/process"},
	"tools/soak/ledger":   {},
	"tools/soak/stored":   {"tools/soak/ledger"},
	"tools/soak/cmd/soak": {"tools/soak"},

	// Several processes, or several servers in one, on one database: tests only.
	"tools/soak/processtest": {".", "admin", "schema", "tools/soak/disk"},

	// The same, beside servers of its own to compare with.
	"tools/bench":           {"internal/pgserver", "internal/process"},
	"tools/bench/cmd/bench": {"tools/bench"},

	// Looks for insecure code.
	"tools/lint/gosec": {},

	// Builds what users download.
	"tools/make/release": {},

	// Checks what packaging has for Prometheus and Grafana.
	"tools/monitoring": {},

	// Finds the tests in which several things happen at once.
	"tools/make/concurrent": {},

	// Addresses of servers, for the tests and the tools.
	"internal/loopback": {},

	// Runs child processes: a server for the tools, and PostgreSQL.
	"internal/process": {},

	// Starts PostgreSQL, for the tests and the tools.
	"internal/pgserver": {"internal/process"},
	"internal/pgtest":   {"internal/db", "internal/pgserver"},

	// A collector of OpenTelemetry for the tests.
	"internal/otlptest": {},

	"internal/layers":   {},
	"internal/pipes":    {},
	"internal/terminal": {},
}

// testSupport may be imported by the tests of every package, and by no code.
var testSupport = []string{"internal/pgtest", "internal/otlptest"}

// testedAgainst is what the tests of a package import although it is not below the package: a client, for
// example, is tested with a server.
var testedAgainst = map[string][]string{
	"client": {".", "admin", "schema", "internal/loopback"},
	// A database that is migrated while servers use it.
	".":             {"admin", "agents", "internal/terminal"}, // its benchmarks log as the command does
	"internal/move": {".", "schema"},
	// Servers that stop and start again at their address.
	"cmd/plural":             {"internal/loopback"},
	"otel":                   {"schema", "problem"},
	"tools/soak/processtest": {"internal/loopback", "tools/soak"},
	// Its files are imported and asked about.
	"examples/guestbook": {"client"},
	"examples/northwind": {".", "schema", "client", "internal/move"},
	"internal/db":        {"schema", "internal/db/databases"},
	// A compiled schema.
	"internal/expression": {"internal/compile"},
	"internal/rules":      {"internal/compile"},
	"internal/statement":  {"internal/compile"},
	"internal/model":      {"internal/compile"},
	"internal/query":      {"internal/compile"},
	"internal/search":     {"internal/compile"},
	// A database to migrate, copy or back up is one that a store has filled.
	// The doctor judges the log that a property test has written.
	"internal/resource": {"admin"},
	"internal/store":    {"schema", "admin", "internal/db/sqlite", "internal/db/postgres", "internal/pgserver"},

	// A schema as it is written.
	"internal/include": {"schema"},

	// One test follows each keyword of a schema into the OpenAPI document.
	"schema": {"internal/openapi"},

	// Streams end when another program changes the schema or the history.
	"internal/feed": {"internal/resource", "internal/migrate", "admin"},

	// It gets a compiled schema, and its tests the example.
	"internal/operation":   {"schema"},
	"internal/db/postgres": {"schema"},
	"internal/migrate":     {"schema"},
}

// listed is what we read of the output of go list.
type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func TestImportsFollowTheHouse(t *testing.T) {
	tools, err := filepath.Glob(filepath.Join(root, "tools", "*", "go.mod"))
	if err != nil || len(tools) == 0 {
		t.Fatalf("no tools were found: %v", err)
	}
	found := map[string]bool{}
	for _, file := range append(tools, filepath.Join(root, "go.mod")) {
		for _, p := range list(t, filepath.Dir(file)) {
			name, _ := ours(p.ImportPath)
			found[name] = true
			for _, violation := range check(p) {
				t.Error(violation)
			}
		}
	}
	for name := range mayImport {
		if !found[name] {
			t.Errorf("%s is in the table mayImport of internal/layers, and not in the code", name)
		}
	}
}

// TestOnlyAgentsNeedTheirSDK: what users import does not need the SDK of the Model Context Protocol, other than package agents.
func TestOnlyAgentsNeedTheirSDK(t *testing.T) {
	for _, name := range public {
		command := exec.Command("go", "list", "-deps", "./"+name)
		command.Dir = root
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		if needs := strings.Contains(string(out), "github.com/modelcontextprotocol/go-sdk"); needs != (name == "agents") {
			t.Errorf("package %s needs the SDK: %t", name, needs)
		}
	}
}

// forTools is what the library's users must not have to download.
var forTools = []string{"github.com/hanwen/go-fuse", "github.com/anishathalye/porcupine", "github.com/securego/gosec", "honnef.co/go/tools"}

// TestToolsAreNotRequired: what only the tools need is in their modules.
func TestToolsAreNotRequired(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(forTools, module+"/tools") {
		if bytes.Contains(text, []byte(path)) {
			t.Errorf("go.mod mentions %s", path)
		}
	}
}

// TestLibraryHasNoOpenTelemetry: a program that does not import package otel compiles nothing of OpenTelemetry or gRPC, and so downloads
// nothing of them.
func TestLibraryHasNoOpenTelemetry(t *testing.T) {
	command := exec.Command("go", "list", "-deps", ".", "./admin", "./client", "./conform", "./params", "./problem", "./schema")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if strings.HasPrefix(path, "go.opentelemetry.io/") || strings.HasPrefix(path, "google.golang.org/grpc") {
			t.Errorf("the library needs %s", path)
		}
	}
}

// TestCheck checks the check itself.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		p    listed
		want []string
	}{
		{"downwards", listed{ImportPath: module + "/internal/store", Imports: paths("internal/model", "internal/query")}, nil},
		{"the root", listed{ImportPath: module, Imports: paths("internal/api", "internal/store")}, nil},
		{"others' packages", listed{ImportPath: module + "/internal/fault", Imports: []string{"errors", module + "ity/x"}}, nil},
		{"upwards", listed{ImportPath: module + "/schema", Imports: paths("internal/query")},
			[]string{"schema imports internal/query: not allowed by mayImport in internal/layers"}},
		{"past a package", listed{ImportPath: module + "/internal/api", Imports: paths("internal/store")},
			[]string{"internal/api imports internal/store: not allowed by mayImport in internal/layers"}},
		{"test support in code", listed{ImportPath: module, Imports: paths("internal/pgtest")},
			[]string{". imports internal/pgtest: it is for tests only"}},
		{"a package without a row", listed{ImportPath: module + "/internal/attic", Imports: paths("schema")},
			[]string{"internal/attic is not in the table mayImport of internal/layers: add it, with the packages it may import"}},
		{"tests further down, and support", listed{
			ImportPath:   module + "/internal/api",
			TestImports:  paths("internal/store", "internal/pgtest"),
			XTestImports: paths("internal/api"),
		}, nil},
		{"the tests of a client", listed{ImportPath: module + "/client", XTestImports: paths("."), TestImports: paths("internal/pgtest")}, nil},
		{"a client that knows the server", listed{ImportPath: module + "/client", Imports: paths("schema")},
			[]string{"client imports schema: not allowed by mayImport in internal/layers"}},
		{"tests upwards", listed{ImportPath: module + "/internal/store", XTestImports: paths("internal/resource")},
			[]string{"a test of internal/store imports internal/resource, which is not below it"}},
	} {
		if got := check(c.p); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// TestFilesAreShort: a file can be read in one sitting, and a package in a day.
func TestFilesAreShort(t *testing.T) {
	lines := map[string]int{} // of packages
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			// Others may write and remove files while we look.
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if d.IsDir() {
			if path != root && ignoredDir(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		n := bytes.Count(text, []byte("\n"))
		if n > maxLines {
			t.Errorf("%s has %d lines, and %d are allowed: split it", filepath.ToSlash(name), n, maxLines)
		}
		lines[filepath.ToSlash(filepath.Dir(name))] += n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range lines {
		if n > maxPackage {
			t.Errorf("%s has %d lines without its tests, and %d are allowed: split it", name, n, maxPackage)
		}
	}
}

// ignoredDir says whether the go command would not look into a directory.
func ignoredDir(name string) bool {
	return name[0] == '.' || name[0] == '_' || name == "testdata" || name == "node_modules"
}

// list asks the go command, which knows every package of a module. With -e
// it goes on past packages that cannot be built; the build says so better.
func list(t *testing.T, module string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = module
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// check returns what is wrong with the imports of one package.
func check(p listed) []string {
	name, _ := ours(p.ImportPath)
	allowed, known := mayImport[name]
	if !known {
		return []string{name + " is not in the table mayImport of internal/layers: add it, with the packages it may import"}
	}
	var violations []string
	for _, path := range p.Imports {
		to, ok := ours(path)
		switch {
		case !ok || slices.Contains(allowed, to):
		case slices.Contains(testSupport, to):
			violations = append(violations, fmt.Sprintf("%s imports %s: it is for tests only", name, to))
		default:
			violations = append(violations, fmt.Sprintf("%s imports %s: not allowed by mayImport in internal/layers", name, to))
		}
	}
	// A test may use every package below.
	below := slices.Concat(reach(name), testSupport, testedAgainst[name])
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		if to, ok := ours(path); ok && !slices.Contains(below, to) {
			violations = append(violations, fmt.Sprintf("a test of %s imports %s, which is not below it", name, to))
		}
	}
	return violations
}

// ours is the name in the table of an import path, if it is a package of ours.
func ours(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// reach is a package and all that it imports, also indirectly.
func reach(name string) []string {
	names := []string{name}
	for i := 0; i < len(names); i++ {
		for _, next := range mayImport[names[i]] {
			if !slices.Contains(names, next) {
				names = append(names, next)
			}
		}
	}
	return names
}

func paths(names ...string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = module + "/" + name
	}
	return paths
}
