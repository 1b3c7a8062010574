package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/pgtest"
)

// earlier and later are two versions of the schema file of a library.
const (
	earlier = `version: 1
collections:
  writers:
    attributes: {name: {type: string, maxLength: 20}, mood: {type: string, enum: [good, bad]}}
    required: [name]
  books:
    parent: {collection: writers, attribute: writer_id, on_delete: cascade}
    attributes: {writer_id: {}, title: {type: string}, pages: {type: integer}}
`
	later = `version: 2
deprecated: {1: 2099-01-31}
collections:
  authors:
    renamed_from: writers
    attributes:
      full_name: {type: string, maxLength: 40, renamed_from: name}
      mood: {type: string, enum: [good, bad, none]}
      city: {type: string, default: Paris}
    required: [full_name]
  books:
    parent: {collection: authors, attribute: author_id, on_delete: cascade}
    attributes: {author_id: {renamed_from: writer_id}, title: {type: string}, pages: {type: integer}}
access:
  roles:
    reader:
      authors: {list: true, read: true, visible: [full_name]}
    librarian:
      authors: [list, read, create, update, delete, changes]
      books: [list, read, create, update, delete, changes]
    public:
      authors: [list, read, create, update, delete, changes]
      books: [list, read, create, update, delete, changes]
`
)

// upgraded makes a database that had the earlier schema, with the later one in the directory, and returns its arguments.
func upgraded(t *testing.T, dir, database string) []string {
	t.Helper()
	arguments := []string{"--schema", "plural.yaml", "--database", database}
	writeSchema(t, dir, earlier)
	run := func(stdin string, args ...string) {
		t.Helper()
		command := program(t, dir, append(args, arguments...)...)
		command.Stdin = strings.NewReader(stdin)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	run(`{"id":"00000000-0000-7000-8000-000000000001","name":"Ada","mood":"good"}`, "import", "writers")
	writeSchema(t, dir, later)
	run("", "migrate", "--no-backup")
	return arguments
}

// TestCommandsInAnEarlierVersion: what a command reads, writes and generates has the names of the version.
func TestCommandsInAnEarlierVersion(t *testing.T) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			schema := upgraded(t, dir, database(t))
			server := serveIn(t, dir, schema...)
			const ada = `{"id":"00000000-0000-7000-8000-000000000001","name":"Ada","mood":"good"}` + "\n"
			const bob = `{"id":"00000000-0000-7000-8000-000000000002","name":"Bob","mood":null}` + "\n"
			old := func(args ...string) []string { return append(args, "--api-version", "1") }
			to := []string{"--server", server.base}
			exported := func(where []string) string {
				t.Helper()
				out, err := program(t, dir, append(old("export", "writers", "--query", "fields=name,mood"), where...)...).Output()
				if err != nil {
					t.Fatal(err)
				}
				return strings.ReplaceAll(string(out), `"type":"writers",`, "")
			}
			if got := exported(schema); got != ada {
				t.Errorf("the database has %s", got)
			}
			runs(t, dir, bob, false, "Imported 1 row into "+server.base+".\n", append(old("import", "writers"), to...)...)
			if got := exported(to); got != ada+bob {
				t.Errorf("the server has %s", got)
			}
			runs(t, dir, bob, true, "plural: there is no collection \"authors\": there are writers, books, changes\n", append(old("import", "authors"), to...)...)
			runs(t, dir, bob, true, "plural: --keep-timestamps also keeps what earlier writes computed, and is for the newest version: leave out --api-version\n", append(old("import", "writers", "--keep-timestamps"), schema...)...)

			document, err := program(t, dir, append(old("openapi", "--role", "reader"), schema...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			var described struct {
				Info       map[string]any
				Components struct {
					Schemas map[string]struct{ Properties map[string]any }
				}
			}
			if err := json.Unmarshal(document, &described); err != nil {
				t.Fatal(err)
			}
			writer := described.Components.Schemas["Writer"].Properties
			if described.Info["x-plural-version"] != 1.0 || writer["name"] == nil || writer["mood"] != nil || writer["city"] != nil {
				t.Errorf("the document of a role in version 1 has %v", writer)
			}

			// The client of the earlier version compiles, and works with the server.
			if out, err := program(t, dir, append(old("client", "ts", "--out", "api.ts"), schema...)...).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			runVersioned(t, dir, server.base)

			key, err := program(t, dir, append([]string{"keys", "create", "--name", "checks", "--role", "librarian"}, schema...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			if out, err := program(t, dir, old("check", server.base, "--key", strings.TrimSpace(string(key)))...).CombinedOutput(); err != nil {
				t.Errorf("the checks of version 1: %v\n%s", err, out)
			}
		})
	}
}

// useVersion is a program that uses the client of the earlier version.
const useVersion = `import { createClient, type Writer, type WriterCreate } from "./api.ts";
const sent = new Set<string>();
const api = createClient({
  baseURL: "BASE",
  fetch: (url, init) => {
    sent.add(String(new Headers(init.headers).get("API-Version")));
    return fetch(url, init);
  },
});
const given: WriterCreate = { name: "Eve", mood: "bad" };
// @ts-expect-error only newer clients can write this
const wider: WriterCreate = { name: "Eve", mood: "none" };
// @ts-expect-error the version does not have it
const city: keyof Writer = "city";
const { data: eve } = await api.writers.create(given);
const mood: "good" | "bad" | "none" | null = eve.mood; // of which newer clients may write the last
await api.writers.of(eve.id).books.create({ title: "Notes" });
const { data } = await api.writers.list({ filter: { name: "Eve" }, include: { books: true } });
console.log(mood, data.map((each) => [each.name, each.books.map(({ title, writer_id }) => [title, writer_id === eve.id])]), [...sent], [wider.name, city]);
`

// runVersioned compiles and runs useVersion.
func runVersioned(t *testing.T, dir, base string) {
	t.Helper()
	project, err := filepath.Abs("../../client/ts")
	if err != nil {
		t.Fatal(err)
	}
	config := `{"extends": "` + project + `/tsconfig.json", "compilerOptions": {"rootDir": ".", "outDir": "out"}, "include": ["."]}`
	for name, content := range map[string]string{"package.json": `{"type":"module"}`, "tsconfig.json": config, "main.ts": strings.ReplaceAll(useVersion, "BASE", base)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compile(t, "--project", dir)
	out, err := exec.Command("node", filepath.Join(dir, "out", "main.js")).CombinedOutput()
	if want := "bad [ [ 'Eve', [ [Array] ] ] ] [ '1' ] [ 'Eve', 'city' ]\n"; err != nil || string(out) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, out, want)
	}
}

// TestVersionsThatASchemaFileDoesNotKnow: only the database remembers earlier versions.
func TestVersionsThatASchemaFileDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	schema := upgraded(t, dir, "sqlite:"+filepath.Join(dir, "library.db"))
	const only = "plural: the schema file knows only version 2, and the --database is asked for others: "
	generate := []string{"client", "ts", "--schema", "plural.yaml", "--api-version"}
	runs(t, dir, "", true, only+"there is no database plural.db\n", append(generate, "1")...)
	runs(t, dir, "", true, only+"the database has no version 7: it has 1, 2\n", append([]string{"openapi", "--api-version", "7"}, schema...)...)
	runs(t, dir, "", true, "plural: invalid argument \"0\" for \"--api-version\" flag: must be a whole number of at least 1\n", append(generate, "0")...)
	own, err := program(t, dir, append(generate, "2")...).Output()
	if err != nil || !strings.Contains(string(own), "new HttpTransport(options, 2)") {
		t.Errorf("the client of the schema file does not ask for its version: %v", err)
	}
	server := serveIn(t, dir, schema...)
	status, _, log := run(t, "check", server.base, "--api-version", "7")
	if first, _, _ := strings.Cut(log, "\n"); status != 2 || first != "plural: the server does not serve this version of the interface: give another one (--api-version)" {
		t.Errorf("%d %s", status, log)
	}
	writeSchema(t, dir, "collections: {things: {attributes: {name: {type: string}}}}\n")
	runs(t, dir, "", true, "plural: the schema file states no version: leave out --api-version\n", append(generate, "1")...)
}
