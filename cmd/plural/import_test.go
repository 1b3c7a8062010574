package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// exits runs the program and returns what it writes and its exit status.
func exits(t *testing.T, dir, input string, environment []string, args ...string) (out string, status int) {
	t.Helper()
	command := program(t, dir, args...)
	command.Stdin = strings.NewReader(input)
	command.Env = append(command.Env, environment...)
	text, err := command.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); ok {
		return string(text), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text), 0
}

func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func gzipped(text string) []byte {
	var zipped bytes.Buffer
	zipper := gzip.NewWriter(&zipped)
	zipper.Write([]byte(text)) // into memory, where nothing fails
	zipper.Close()
	return zipped.Bytes()
}

func TestImportAndExportRefuse(t *testing.T) {
	dir := t.TempDir()
	good, bad := `{"name":"Ada","email":"ada@example.com"}`, `{"name":"Ada"}`
	file := filepath.Join(dir, "users.txt")
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		input  string
		args   string
		status int
		want   string
	}{
		{"", "export users", 1, "plural: there is no database plural-example.db\n"},
		{bad, "import users --dry-run", 1, "line 1: email: The attribute email is required.\nDry run, nothing was written: could import 0 rows.\n" +
			"plural: the standard input: the import would stop at the first bad row: correct the rows above, or skip bad rows with --on-error skip\n"},
		{bad + "\n" + good + "\n" + bad, "import users --dry-run --on-error skip", 3, "line 1: email: The attribute email is required.\nline 3: email: The attribute email is required.\nDry run, nothing was written: could import 1 row.\n" +
			"plural: 2 rows skipped, as reported above\n"},
		{good, "import users --dry-run", 0, "Dry run, nothing was written: could import 1 row.\n"},
		{"", "import users users.txt", 1, "plural: the format of users.txt is not clear from its name: give --format ndjson, json or csv\n"},
		{"", "import users nothing.csv", 1, "plural: there is no file nothing.csv\n"},
		{"", "import", 1, "plural: name what to import: plural import COLLECTION [FILE]\n"},
		{"", "import users --server http://127.0.0.1:1 --database sqlite:x.db", 1, "plural: give --server or --database, not both\n"},
		{"", "import users --server 127.0.0.1", 1, "plural: the URL of a server must be like https://api.example.com, but is \"127.0.0.1\"\n"},
		{"", "import users --server 127.0.0.1:9801", 1, "plural: the URL of a server must be like https://api.example.com, but is \"127.0.0.1:9801\"\n"},
		{"", "export a b", 1, "plural: name what to export: plural export COLLECTION\n"},
		{"", "import nobody", 1, "plural: there is no collection \"nobody\": there are users, posts\n"},
		{"", "import operations", 1, "plural: operations are read-only: the server writes them\n"},
		{"", "export users --migrate auto", 1, "plural: unknown flag: --migrate; \"plural export --help\" lists them\n"},
		{"", "import users --key secret", 1, "plural: --key needs --server: a database that is opened directly needs no API key\n"},
		{"", "import users --on-error maybe", 1, "plural: invalid argument \"maybe\" for \"--on-error\" flag: must be stop or skip\n"},
		{"", "import users --keep-timestamps --server http://127.0.0.1:1", 1, "plural: --keep-timestamps is for a --database that is opened here: a server sets created_at and updated_at itself\n"},
		{"", "import users --keep-timestamps --on-conflict update", 1, "plural: --keep-timestamps is for rows that are created: it cannot be combined with --on-conflict update\n"},
		{"", "import users --force-state --server http://127.0.0.1:1", 1, "plural: --force-state is for a --database that is opened here: on a server, the transitions of lifecycles hold\n"},
		{"", "import users --map nme=Name --dry-run", 1, "plural: --map nme=Name: there is no attribute \"nme\": the attributes are id, type, name, email, active\n"},
		{"", "import posts --set user_id=@email:ada@example.com --dry-run", 1, "plural: --set user_id=@email:ada@example.com: there is no resource in users with the email \"ada@example.com\"\n"},
		{"", "import users --from-row 0", 1, "plural: invalid argument \"0\" for \"--from-row\" flag: must be a whole number of at least 1\n"},
	} {
		if out, status := exits(t, dir, test.input, nil, strings.Fields(test.args)...); out != test.want || status != test.status {
			t.Errorf("plural %s: %d\ngot\n%s\nwant\n%s", test.args, status, out, test.want)
		}
	}
	if got := files(t, dir); got != "users.txt" {
		t.Errorf("there are now %s", got)
	}
	wrong := gzipped(`[]`)
	wrong[len(wrong)-8] ^= 1
	for name, text := range map[string]string{"half.csv": "name,email\nA,no\nB,b@example.com\n\"C,\n", "wrong.json.gz": string(wrong), "cut.json.gz": string(gzipped(`[]`)[:12]), "zeros.csv.gz": "\x1f\x8b\x08" + strings.Repeat("\x00", 7) + "\xff"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ args, want string }{
		{"import users users.txt --format ndjson", "Imported 1 row into plural-example.db.\n"},
		{"import users users.txt --format ndjson --from-row 2", "Imported 0 rows into plural-example.db.\n"},
		{"import users users.txt --format ndjson --from-row 100", "Imported 0 rows into plural-example.db.\nplural: users.txt: there is no row 100 to begin with: the last one is row 1\n"},
		{"import users users.txt --format json", "Imported 0 rows into plural-example.db.\nplural: users.txt: the file must be a JSON array of objects (for one object per line, use the format ndjson)\n"},
		{"import users half.csv --on-error skip", "line 2: email \"no\": Must be an email address such as ada@example.com.\nImported 1 row into plural-example.db.\nplural: half.csv: line 4: the quote that begins here is never closed: close it, or write a quote within quotes twice\n" +
			"The rows before row 3 are imported, except skipped ones: continue with --from-row 3\n"},
		{"import users wrong.json.gz", "Imported 0 rows into plural-example.db.\nplural: wrong.json.gz: the compressed data is cut off or damaged (gzip: invalid checksum): copy the file again\n"},
		{"import users cut.json.gz", "Imported 0 rows into plural-example.db.\nplural: cut.json.gz: the compressed data is cut off or damaged (unexpected EOF): copy the file again\n"},
		{"import users zeros.csv.gz", "plural: zeros.csv.gz: line 1: the compressed data is cut off or damaged (flate: corrupt input before offset 1): copy the file again\n"},
		{"import nobody users.txt --format ndjson", "plural: there is no collection \"nobody\": there are users, posts\n"},
		{"export users --query page=2", "plural: there is no parameter \"page\": there are filter[…], search, sort, offset, limit, cursor, include and fields\n"},
		{"export users --query limit=-2", "plural: the limit of an export must not be negative: for the last rows, reverse the sort, for example sort=-id\n"},
		{"export users --query filter[nope]=1 --output x.csv", "plural: GET /users: 400 unknown_parameter at filter[nope]: The collection users has no field \"nope\" to filter by. Did you mean name?\n"},
		{"export users --output x.txt", "plural: the format of x.txt is not clear from its name: give --format ndjson, json or csv\n"},
	} {
		if out, _ := exits(t, dir, "", nil, strings.Fields(test.args)...); out != test.want {
			t.Errorf("plural %s\ngot\n%s\nwant\n%s", test.args, out, test.want)
		}
	}
	if got := files(t, dir); strings.Contains(got, "x.") {
		t.Errorf("there are now %s", got)
	}
}

// TestImportOfASchemaFile: the collections are those of the folder's schema, and access is
// for requests only.
func TestImportOfASchemaFile(t *testing.T) {
	dir := t.TempDir()
	thingsIn(t, dir)
	out, status := exits(t, dir, string(gzipped("name;size\nC;3\nD;4\n")), nil, "import", "things", "--format=csv", "--delimiter=;")
	if out != "Imported 2 rows into plural.db.\n" || status != 0 {
		t.Errorf("%d: %s", status, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "more.json.gz"), gzipped(`[{"name":"E","size":"5"},{"name":7}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, status = exits(t, dir, "", nil, "import", "things", "more.json.gz", "--on-error=skip")
	if out != "row 2 (line 1): name 7: Must be a string, but is a number. --parse name=text reads it.\nImported 1 row into plural.db.\nplural: 1 row skipped, as reported above\n" || status != 3 {
		t.Errorf("%d: %s", status, out)
	}
	out, _ = exits(t, dir, "", nil, "export", "things", "--format=csv", "--query=sort=-name&limit=3")
	lines := strings.Split(out, "\r\n")
	if len(lines) != 5 || !strings.Contains(lines[1], ",things,E,5") || !strings.Contains(lines[3], ",things,C,3") || lines[4] != "Exported 3 rows.\n" {
		t.Errorf("got\n%s", out)
	}
}

// TestImportIsInterrupted: what was begun is finished, also while rows are waited for, and the
// message says where to go on.
func TestImportIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	command := program(t, dir, "import", "users")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	command.Stderr = &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	rows := []byte(strings.Repeat("{\"name\":\"Ada\",\"email\":\"ada@example.com\"}\n", 1000))
	for range 5 {
		if _, err := in.Write(rows); err != nil {
			t.Fatal(err)
		}
	}
	command.Process.Signal(syscall.SIGINT) // and no more rows come, nor the end of them
	select {
	case <-ended:
	case <-time.After(5 * time.Minute):
		t.Fatal("it does not end")
	}
	in.Close()
	_, from, found := strings.Cut(out.String(), "plural: the standard input: interrupted: continue with --from-row ")
	if !found || command.ProcessState.ExitCode() != 1 {
		t.Fatalf("got %d\n%s", command.ProcessState.ExitCode(), out.String())
	}
	summary, status := exits(t, dir, "", nil, "export", "users", "--output=all.ndjson")
	all, err := os.ReadFile(filepath.Join(dir, "all.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if count := bytes.Count(all, []byte("\n")); status != 0 || strings.TrimSpace(from) != strings.ReplaceAll(grouped(int64(count+1)), ",", "") {
		t.Errorf("%s: there are %d, and it would go on with %s", summary, count, from)
	}
}

// TestImportIsInterruptedInItsHeader: also ahead of the first row, by whichever signal.
func TestImportIsInterruptedInItsHeader(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		command := program(t, t.TempDir(), "import", "users", "--format=csv")
		in, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		command.Stderr = &out
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }()
		if _, err := in.Write(bytes.Repeat([]byte("name,"), 64<<10)); err != nil { // more than a pipe holds, so it is being read
			t.Fatal(err)
		}
		command.Process.Signal(signal)
		select {
		case <-ended:
		case <-time.After(5 * time.Minute):
			command.Process.Kill()
			t.Fatal("it does not end")
		}
		in.Close()
		if got := out.String(); got != "plural: the standard input: interrupted\n" || command.ProcessState.ExitCode() != 1 {
			t.Errorf("%v: %d, and %s", signal, command.ProcessState.ExitCode(), got)
		}
	}
}

// TestServerOfTheEnvironment: a server and its key can be given without flags, which others
// could see.
func TestServerOfTheEnvironment(t *testing.T) {
	server := serveIn(t, t.TempDir())
	dir := t.TempDir()
	out, status := exits(t, dir, `{"name":"Ada","email":"ada@example.com"}`, []string{"PLURAL_SERVER=" + server.base, "PLURAL_KEY=none"}, "import", "users")
	if out != "Imported 1 row into "+server.base+".\n" || status != 0 || files(t, dir) != "" {
		t.Errorf("%d: %s, and there are %s", status, out, files(t, dir))
	}
	if got := get(t, server.base+"/users"); !strings.Contains(got, `"name":"Ada"`) {
		t.Errorf("got %s", got)
	}
	for path, want := range map[string]string{
		"/users": "plural: " + server.base + "/users is a list of users, and not of the collections of a server: its URL has none of them behind it\n",
		"/posts": "plural: " + server.base + "/posts shows no collections: it may need an API key (PLURAL_KEY), or another URL without a collection at its end\n",
	} {
		if out, _ := exits(t, dir, "", nil, "export", "users", "--server", server.base+path); out != want {
			t.Errorf("%s: got %s", path, out)
		}
	}
	if err := server.stop(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// TestImportDuringAServer: a server that is using the database serves what is imported, and
// is exported what it wrote.
func TestImportDuringAServer(t *testing.T) {
	dir := t.TempDir()
	server := serveIn(t, dir)
	if got := get(t, server.base+"/users?limit=0"); got != `200 {"data":[]}` {
		t.Errorf("got %s", got)
	}
	out, status := exits(t, dir, `{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","name":"Ada","email":"ada@example.com"}`, nil, "import", "users")
	if out != "Imported 1 row into plural-example.db.\n" || status != 0 {
		t.Errorf("%d: %s", status, out)
	}
	if got := get(t, server.base+"/users/01936f2e-7d3c-7a4b-9c5d-0123456789ab"); !strings.HasPrefix(got, `200 {"data":{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","type":"users","name":"Ada",`) {
		t.Errorf("got %s", got)
	}
	post(t, server.base+"/users", `{"name":"Grace","email":"grace@example.com"}`)
	out, _ = exits(t, dir, "", nil, "export", "users", "--query=filter[name]=Grace")
	if !strings.Contains(out, `"name":"Grace"`) || !strings.Contains(out, "Exported 1 row.\n") {
		t.Errorf("got %s", out)
	}
	if err := server.stop(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

func TestMeterLine(t *testing.T) {
	for want, got := range map[string]string{
		"rows 1,234,567  123,456/s": meterLine(1_234_567, -1, 10*time.Second),
		"[###############...............]  50 %  rows 1,000  100/s  10s left": meterLine(1000, 0.5, 10*time.Second),
		"[..............................]   0 %  rows 0  0/s":                 meterLine(0, 0, time.Second),
		"[##############################] 100 %  rows 3  3/s  0s left":        meterLine(3, 1.2, time.Second),
	} {
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// TestImportShowsMigration: an import prints the additive steps that it takes, and nothing of
// a database that it creates.
func TestImportShowsMigration(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, "collections: {things: {attributes: {name: {type: string}}}}")
	runs(t, dir, `{"name":"a"}`, false, "Imported 1 row into plural.db.\n", "import", "things")
	writeSchema(t, dir, "collections: {things: {attributes: {name: {type: string}, size: {type: integer}}}}")
	runs(t, dir, `{"size":1}`, false, "Changed the database: things: new attribute size (integer).\nImported 1 row into plural.db.\n", "import", "things")
}

// TestImportForcesStates: with --force-state, rows may have any state of a lifecycle, and the change log says so.
func TestImportForcesStates(t *testing.T) {
	dir := t.TempDir()
	const schema = `
collections:
  orders:
    timestamps: false
    attributes:
      number: {type: integer, unique: true}
      state: {type: string, enum: [draft, sent, paid], default: draft, transitions: {draft: [sent], sent: [paid]}}
      code: {type: string, write_once: true}
`
	if err := os.WriteFile(filepath.Join(dir, "plural.yaml"), []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := "number,state\n1,paid\n2,draft\n"
	for _, test := range []struct {
		input, args string
		status      int
		want        string
	}{
		{rows, "import orders --format csv", 1, "line 2: state \"paid\": A new resource cannot have the state paid. It can have draft.\nImported 0 rows into plural.db.\n" +
			"plural: the standard input: stopped at row 1; all rows before it are imported: correct it and continue with --from-row 1, or skip bad rows with --on-error skip\n"},
		{rows, "import orders --format csv --force-state", 0, "Imported 2 rows into plural.db.\n"},
		{"number,state\n1,sent\n", "import orders --format csv --on-conflict update --by number --on-error skip", 3, "line 2: state \"sent\": The state cannot change from paid to sent. No transition leads out of paid.\n" +
			"Imported 0 rows into plural.db.\nplural: 1 row skipped, as reported above\n"},
		{"number,state\n1,sent\n", "import orders --format csv --on-conflict update --by number --force-state", 0, "Imported 0 rows into plural.db, created or updated 1.\n"},
		{"number,state\n1,gone\n", "import orders --format csv --on-conflict update --by number --force-state --on-error skip", 3, "line 2: state \"gone\": Must be one of \"draft\", \"sent\", \"paid\".\n" +
			"Imported 0 rows into plural.db.\nplural: 1 row skipped, as reported above\n"},
		{"id,number,state\n01936f2e-7d3c-7a4b-9c5d-000000000001,3,draft\n", "import orders --format csv", 0, "Imported 1 row into plural.db.\n"},
		{"id,number,state\n01936f2e-7d3c-7a4b-9c5d-000000000001,3,sent\n", "import orders --format csv --on-conflict replace", 0, "Imported 0 rows into plural.db, replaced 1.\n"},
		{"id,number,state\n01936f2e-7d3c-7a4b-9c5d-000000000001,3,paid\n", "import orders --format csv --on-conflict skip", 0, "Imported 0 rows into plural.db, skipped 1 that exist.\n"},
		{"number,code\n2,a\n", "import orders --format csv --on-conflict update --by number --force-state --on-error skip", 3, "line 2: code \"a\": code is set when the resource is created, and does not change after that. Send the value that it has.\n" +
			"Imported 0 rows into plural.db.\nplural: 1 row skipped, as reported above\n"},
	} {
		if out, status := exits(t, dir, test.input, nil, strings.Fields(test.args)...); out != test.want || status != test.status {
			t.Errorf("plural %s: %d\ngot\n%s\nwant\n%s", test.args, status, out, test.want)
		}
	}
	server := serveIn(t, dir)
	var log struct {
		Data []struct {
			Kind string
			By   any
			Data struct{ State string }
		}
	}
	_, body, _ := strings.Cut(get(t, server.base+"/changes"), " ")
	if err := json.Unmarshal([]byte(body), &log); err != nil {
		t.Fatal(err)
	}
	const want = "[{created import:force-state {paid}} {created import:force-state {draft}} {updated import:force-state {sent}} {created <nil> {draft}} {updated <nil> {sent}}]"
	if got := fmt.Sprint(log.Data); got != want {
		t.Errorf("the change log has %s, want %s", got, want)
	}
	if err := server.stop(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}
