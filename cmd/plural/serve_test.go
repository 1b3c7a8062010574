package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/loopback"
	"github.com/plural-go/plural/internal/pgtest"
)

// TestMain lets the test binary be the program, so that tests can run it as a
// real process and send it real signals.
func TestMain(m *testing.M) {
	if os.Getenv("PLURAL_TEST_AS_PROGRAM") == "1" {
		os.Unsetenv("PLURAL_TEST_AS_PROGRAM")
		main()
		return
	}
	os.Exit(pgtest.Run(m))
}

func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0], args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "PLURAL_TEST_AS_PROGRAM=1")
	return command
}

// process is a running "plural serve".
type process struct {
	*exec.Cmd
	base     string
	greeting string
	log      *bytes.Buffer
}

var apiLine = regexp.MustCompile(`(?:API   |"api":")(http://[^\s"]+)/`)

func serveIn(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: program(t, dir, append([]string{"serve", "--addr=" + loopback.Address()}, args...)...), log: &bytes.Buffer{}}
	p.Stderr = p.log
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait() // before its directory is removed
	})
	lines := bufio.NewReader(out)
	for !strings.Contains(p.greeting, "Data  ") && !strings.Contains(p.greeting, `"data":`) {
		line, err := lines.ReadString('\n')
		if err != nil {
			p.Wait()
			t.Fatalf("%v\n%s", err, p.log)
		}
		p.greeting += line
	}
	p.base = apiLine.FindStringSubmatch(p.greeting)[1]
	return p
}

// stop ends the process by a signal and waits for its exit.
func (p *process) stop(t *testing.T, signal os.Signal) error {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return p.Wait()
}

// eventually waits for what must happen, long enough for any machine.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came to be that", what)
		}
	}
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode != 201 {
		t.Fatalf("%s: %d %s", url, response.StatusCode, text)
	}
	return string(text)
}

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return fmt.Sprint(response.StatusCode, " ", string(text))
}

// greeted is what a server says at its start.
func greeted(s *settings, addr net.Addr) string {
	var b strings.Builder
	greet(&b, s, addr)
	return b.String()
}

func TestServeInAnEmptyDirectory(t *testing.T) {
	dir := t.TempDir()
	p := serveIn(t, dir)
	want := `Plural dev serves the built-in example ("plural init" writes a schema file of your own).

  API   BASE/
  See   BASE/-/explorer
  Docs  BASE/-/docs, and as OpenAPI BASE/-/openapi.json
  Try   curl BASE/users -H 'Content-Type: application/json' -d '{"name":"Ada","email":"ada@example.com"}'
  Data  plural-example.db
`
	if got := strings.ReplaceAll(p.greeting, p.base, "BASE"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	post(t, p.base+"/users", `{"name":"Ada","email":"ada@example.com"}`)
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Errorf("%v\n%s", err, p.log)
	}
	// Everything is in one file when the server has stopped.
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "plural-example.db" {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// What was answered is there after the process was killed.
func TestAcknowledgedWriteSurvivesAKill(t *testing.T) {
	dir := t.TempDir()
	p := serveIn(t, dir)
	created := post(t, p.base+"/users", `{"name":"Ada","email":"ada@example.com"}`)
	if err := p.stop(t, syscall.SIGKILL); err == nil {
		t.Error("killed, but it exited as if it had stopped")
	}
	p = serveIn(t, dir)
	want := "200 " + strings.NewReplacer(`{"data":`, `{"data":[`, `"}}`, `"}]}`).Replace(created)
	if got := get(t, p.base+"/users"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A request that was accepted is finished, although the server is told to stop
// in the middle of it.
func TestStopFinishesWhatItAccepted(t *testing.T) {
	p := serveIn(t, t.TempDir())
	connection, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	body := `{"name":"Ada","email":"ada@example.com"}`
	fmt.Fprintf(connection, "POST /users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	answers := bufio.NewReader(connection)
	// The server asks for the body when the request is in its handler.
	if line, err := answers.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	answers.ReadString('\n')
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// It takes no new connections once it is stopping.
	for {
		other, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
		if err != nil {
			break
		}
		other.Close()
	}
	io.WriteString(connection, body)
	response, err := http.ReadResponse(answers, nil)
	if err != nil || response.StatusCode != 201 {
		t.Fatalf("%v, %v", response, err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.log)
	}
}

func TestServeRefusesWhatItCannotServe(t *testing.T) {
	dir := t.TempDir()
	p := serveIn(t, dir, "--database=sqlite:plural.db")
	post(t, p.base+"/users", `{"name":"Ada","email":"ada@example.com"}`)
	p.stop(t, syscall.SIGTERM)
	if err := os.WriteFile(filepath.Join(dir, "plural.yaml"), []byte(oneCollection), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"another schema": {nil, "plural: the database does not fit the schema:\n" +
			"  - new collection things (additive)\n  - collection users is removed (losing)\n  - collection posts is removed (additive)\n" +
			"\"plural migrate --plan\" shows the steps in detail, and \"plural migrate\" applies them.\n"},
		"migrate":          {[]string{"--migrate=all"}, "plural: invalid argument \"all\" for \"--migrate\" flag: must be additive or off\n"},
		"slashes":          {[]string{"--database=sqlite://x.db"}, "plural: the database URL must not have // after the scheme: write sqlite:x.db\n"},
		"parameters":       {[]string{"--database=sqlite:x.db?mode=ro"}, "plural: the database URL must be sqlite: and the name of a file, without parameters, but the name is x.db?mode=ro\n"},
		"no directory":     {[]string{"--database=sqlite:none/x.db"}, "plural: the database none/x.db cannot be opened: there is no directory none\n"},
		"a directory":      {[]string{"--database=sqlite:."}, "plural: the database . cannot be opened: it is a directory\n"},
		"no such database": {[]string{"--database=oracle:x"}, "plural: the database URL must be sqlite:FILE or postgres://HOST/DATABASE\n"},
		"log level":        {[]string{"--log-level=loud"}, "plural: invalid argument \"loud\" for \"--log-level\" flag: must be debug, info, warn or error\n"},
		"log format":       {[]string{"--log-format=xml"}, "plural: invalid argument \"xml\" for \"--log-format\" flag: must be text or json\n"},
		"limits":           {[]string{"--default-limit=100", "--max-limit=50"}, "plural: the default limit, 100, must not exceed the largest limit, 50\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := program(t, dir, append([]string{"serve", "--addr=127.0.0.1:0"}, c.args...)...).CombinedOutput()
			if err == nil || string(out) != c.want {
				t.Errorf("got  %s\nwant %s", out, c.want)
			}
		})
	}
}

func TestInitWritesAFileThatServes(t *testing.T) {
	dir := t.TempDir()
	out, err := program(t, dir, "init").CombinedOutput()
	if want := "Wrote plural.yaml. Change it as you like, then: plural serve\n"; err != nil || string(out) != want {
		t.Errorf("got %s, %v", out, err)
	}
	out, err = program(t, dir, "init").CombinedOutput()
	if want := "plural: plural.yaml exists already; give another name, or remove it first\n"; err == nil || string(out) != want {
		t.Errorf("got %s, %v", out, err)
	}
	p := serveIn(t, dir)
	if got := get(t, p.base+"/users"); got != `200 {"data":[]}` {
		t.Error(got)
	}
	if !strings.HasPrefix(p.greeting, "Plural dev serves the collections of plural.yaml.\n") || !strings.Contains(p.greeting, "Try   curl "+p.base+"/users\n") {
		t.Error(p.greeting)
	}
}

func TestSchemaPrintsAJSONSchemaWithTheSettings(t *testing.T) {
	out, err := program(t, t.TempDir(), "schema").Output()
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatal(err)
	}
	if document["$schema"] != "https://json-schema.org/draft/2020-12/schema" || !strings.Contains(string(out), `"max_body"`) {
		t.Errorf("got %s", out)
	}
}
