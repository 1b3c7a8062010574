package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/loopback"
	"github.com/plural-go/plural/internal/pgtest"
)

// TestTypeScriptClient compiles the TypeScript client and its tests, wrong uses
// included, and lets Node run them against real servers. It needs Node and what
// npm ci brings: make setup.
func TestTypeScriptClient(t *testing.T) {
	project, err := filepath.Abs("../../client/ts")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--schema", "test/shop.yaml", "--out", "test/shop.ts"},
		{"--schema", "test/shop.yaml", "--role", "kiosk", "--out", "test/kiosk.ts"},
		{"--schema", "test/shop.yaml", "--role", "auditor", "--out", "test/auditor.ts"},
		{"--schema", "test/awkward.yaml", "--bigint", "--out", "test/awkward.ts"},
	} {
		if out, err := program(t, project, append([]string{"client", "ts"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	compile(t, "--project", project, "--outDir", dir)
	compile(t, "--project", filepath.Join(project, "tsconfig.plain.json")) // of users who are less strict

	tests, err := filepath.Glob(filepath.Join(dir, "test/*.test.js"))
	if err != nil || len(tests) != 10 {
		t.Fatalf("%v, %v", tests, err)
	}
	shopFile := filepath.Join(project, "test/shop.yaml")
	awkwardFile := filepath.Join(project, "test/awkward.yaml")
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			shopped := database(t)
			shop := serveIn(t, t.TempDir(), "--schema", shopFile, "--database", shopped)
			awkward := serveIn(t, t.TempDir(), "--schema", awkwardFile, "--database", database(t), "--max-limit", "300")
			key := func(role string) string {
				command := program(t, shop.Dir, "keys", "create", "--schema", shopFile, "--database", shopped, "--name", role, "--role", role)
				out, err := command.Output()
				if err != nil {
					t.Fatal(err)
				}
				return strings.TrimSpace(string(out))
			}
			runNodeTests(t, tests, "SHOP="+shop.base, "AWKWARD="+awkward.base, "PROXY="+troublesome(t, shop.base), "NOBODY="+nobody(t),
				"CLERK="+key("clerk"), "GUEST="+key("guest"))
		})
	}
}

// runNodeTests runs files of tests in Node, with more variables in their environment.
func runNodeTests(t *testing.T, files []string, environment ...string) {
	t.Helper()
	node := exec.Command("node", append([]string{"--test"}, files...)...)
	node.Env = append(os.Environ(), environment...)
	if out, err := node.CombinedOutput(); err != nil || !strings.Contains(string(out), "# fail 0") && !strings.Contains(string(out), "ℹ fail 0") {
		t.Errorf("%v\n%s", err, out)
	}
}

func compile(t *testing.T, args ...string) {
	t.Helper()
	compiler := exec.Command("node", append([]string{"../../client/ts/node_modules/typescript/bin/tsc"}, args...)...)
	if out, err := compiler.CombinedOutput(); err != nil {
		t.Fatalf("%v: is it there? make setup installs it\n%s", err, out)
	}
}

// nobody is a URL at which nobody listens.
func nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", loopback.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return "http://" + listener.Addr().String()
}

// troublesome is a proxy in front of a server. When a request comes for the first
// time, it makes the trouble that X-Trouble asks for: it breaks the connection
// before the server gets the request, when the server has carried it out, or in the
// middle of the answer; or answers with a status of its own.
func troublesome(t *testing.T, base string) string {
	t.Helper()
	var mutex sync.Mutex
	known := map[string]bool{}
	isKnown := func(r *http.Request) bool {
		mutex.Lock()
		defer mutex.Unlock()
		name := r.Method + r.URL.String() + r.Header.Get("Idempotency-Key") + r.Header.Get("X-Trouble")
		defer func() { known[name] = true }()
		return known[name]
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		trouble := r.Header.Get("X-Trouble")
		if isKnown(r) {
			trouble = ""
		}
		switch trouble {
		case "cut-before":
			panic(http.ErrAbortHandler)
		case "429", "503":
			w.Header().Set("Retry-After", "0")
			http.Error(w, "", map[string]int{"429": 429, "503": 503}[trouble])
			return
		case "502":
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, "<html>Bad Gateway</html>")
			return
		}
		request, err := http.NewRequestWithContext(r.Context(), r.Method, base+r.URL.String(), r.Body)
		if err != nil {
			panic(err)
		}
		request.Header = r.Header.Clone()
		request.Header.Set("Accept-Encoding", "identity")
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || trouble == "cut-after" {
			panic(http.ErrAbortHandler)
		}
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.StatusCode)
		if trouble == "cut-body" {
			w.Write(body[:len(body)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Write(body)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func TestClientCommand(t *testing.T) {
	dir := t.TempDir()
	want, err := os.ReadFile("../../client/ts/example/client.ts")
	if err != nil {
		t.Fatal(err)
	}
	out, err := program(t, dir, "client", "ts").Output()
	if err != nil || string(out) != string(want) {
		t.Errorf("the client of the built-in example is not that of client/ts/example: %v", err)
	}
	if out, err := program(t, dir, "client", "ts", "--out", "api.ts").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v %s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "api.ts")); err != nil || string(got) != string(want) {
		t.Errorf("--out wrote something else: %v", err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"client"}, "plural: name the language: ts\n"},
		{[]string{"client", "ts", "--role", "editor"}, "plural: the schema file has no access, and so no roles\n"},
		{[]string{"client", "ts", "--schema", "none.yaml"}, "plural: there is no file none.yaml\n"},
		{[]string{"client", "ts", "--out", "none/api.ts"}, "plural: there is no directory none for none/api.ts\n"},
	} {
		if out, err := program(t, dir, c.args...).CombinedOutput(); err == nil || string(out) != c.want {
			t.Errorf("%v: got %s", c.args, out)
		}
	}
}

// TestTypeScriptDocument compiles and runs the code of docs/typescript.md, all
// blocks of it one after another, as a reader would.
func TestTypeScriptDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/typescript.md")
	if err != nil {
		t.Fatal(err)
	}
	base := serveIn(t, t.TempDir()).base
	dir := t.TempDir()
	var code strings.Builder
	for _, block := range regexp.MustCompile("(?s)\n```ts\n(.*?)```\n").FindAllStringSubmatch(string(text), -1) {
		code.WriteString(strings.ReplaceAll(block[1], "http://127.0.0.1:8080", base))
	}
	project, err := filepath.Abs("../../client/ts")
	if err != nil {
		t.Fatal(err)
	}
	config := `{"extends": "` + project + `/tsconfig.json", "compilerOptions": {"rootDir": ".", "outDir": "out"}, "include": ["."]}`
	for name, content := range map[string]string{"package.json": `{"type":"module"}`, "tsconfig.json": config, "document.ts": code.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := program(t, dir, "client", "ts", "--out", "api.ts").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	compile(t, "--project", dir)
	out, err := exec.Command("node", filepath.Join(dir, "out", "document.js")).CombinedOutput()
	want := `3 1 3
Ada Lovelace
Grace
Alan
Alan
Grace
Ada Lovelace
Ada Lovelace
Alan
Grace
listed Ada Lovelace
listed Alan
updated Ada Ada Lovelace
updated users true users
updated users true users
updated users true users
Ada Ada Lovelace string
2 0
1 1
1 2 1
Ada
Ada Plan 1
true 1 1 Ada
1 { posts: 1 }
1 true
Together Barbara Liskov
null yes
/email format Must be an email address such as ada@example.com.
1
Edsger succeeded
`
	if err != nil || string(out) != want {
		t.Errorf("%v\ngot\n%swant\n%s", err, out, want)
	}
}

// TestTypeScriptBuild runs the commands that docs/typescript.md has for Node and for browsers, and what they make.
func TestTypeScriptBuild(t *testing.T) {
	text, err := os.ReadFile("../../docs/typescript.md")
	if err != nil {
		t.Fatal(err)
	}
	server := serveIn(t, t.TempDir())
	post(t, server.base+"/users", `{"name":"Ada","email":"ada@example.com"}`)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\n```typescript\n(.*?)```\n").FindSubmatch(text)
	if block == nil {
		t.Fatal("the document has no src/main.ts")
	}
	main := strings.ReplaceAll(string(block[1]), "http://127.0.0.1:8080", server.base)
	for name, content := range map[string]string{"package.json": `{"type":"module"}`, "src/main.ts": main} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := program(t, dir, "client", "ts", "--out", "src/api.ts").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	packages, err := filepath.Abs("../../client/ts/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^npx tsc (.* --outDir (\S+) .*)$`).FindAllSubmatch(text, -1)
	if len(commands) != 2 {
		t.Fatalf("the document has %d commands", len(commands))
	}
	run := func(compiler string, command [][]byte) {
		build := exec.Command("node", append([]string{filepath.Join(packages, compiler, "bin/tsc")}, strings.Fields(string(command[1]))...)...)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", compiler, err, out)
		}
		// A browser loads modules by the same names. Node has what they use of a browser: fetch.
		made := filepath.Join(dir, string(command[2]), "main.js")
		if out, err := exec.Command("node", made).CombinedOutput(); err != nil || string(out) != "Ada\n" {
			t.Errorf("%s: %s: %v %s", compiler, made, err, out)
		}
	}
	run("typescript-oldest", commands[0]) // the oldest version of which the document says that it works
	for _, command := range commands {
		run("typescript", command)
	}
}
