package processtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/internal/loopback"
	"github.com/plural-go/plural/tools/soak"
)

// binary is the program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "plural-processtest-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "plural")
		if err := soak.Build(context.Background(), "../../..", binary, soak.Linked{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

const schemaBefore = `
collections:
  notes:
    attributes:
      title: {type: string, maxLength: 100, index: true}
    required: [title]
  drafts: {attributes: {title: {type: string}}, required: [title]}
`

// schemaAfter renames an attribute and adds one.
const schemaAfter = `
collections:
  notes:
    attributes:
      heading: {type: string, maxLength: 100, index: true, renamed_from: title}
      stars: {type: integer, default: 0}
    required: [heading]
  drafts: {attributes: {title: {type: string}}, required: [title]}
`

// roles has one, so that API keys are of use.
const roles = `
access:
  roles:
    reader: {notes: {read: true}}
`

const databaseFile = "plural.db"

// home makes a directory with the schema files.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "plural.yaml"), schemaBefore)
	writeFile(t, filepath.Join(dir, "after.yaml"), schemaAfter)
	writeFile(t, filepath.Join(dir, "access.yaml"), schemaBefore+roles)
	return dir
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// process is a running "plural serve".
type process struct {
	command *exec.Cmd
	base    string
	log     *bytes.Buffer
	read    chan struct{} // closed when the standard output has ended
	once    sync.Once
	err     error
}

var apiLine = regexp.MustCompile(`API   (http://\S+)/\n`)

// serve starts a server on a database and waits until it takes requests.
func serve(t *testing.T, dir, database string, args ...string) *process {
	t.Helper()
	p := &process{
		command: exec.Command(binary, append([]string{"serve", "--addr=" + loopback.Address(), "--log-level=error", "--schema=" + filepath.Join(dir, "plural.yaml"),
			"--database=sqlite:" + database}, args...)...),
		log:  &bytes.Buffer{},
		read: make(chan struct{}),
	}
	p.command.Stderr = p.log
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		_ = p.wait()
	})
	lines := bufio.NewReader(out)
	for p.base == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			close(p.read)
			t.Fatalf("the server did not start: %v\n%s", p.wait(), p.log)
		}
		if found := apiLine.FindStringSubmatch(line); found != nil {
			p.base = found[1]
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		close(p.read)
	}()
	return p
}

func (p *process) wait() error {
	p.once.Do(func() {
		<-p.read
		p.err = p.command.Wait()
	})
	return p.err
}

// stop lets the server finish.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.wait(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, p.log)
	}
}

// run runs a command of the program to its end.
func run(dir string, env []string, args ...string) (out string, err error) {
	command := exec.Command(binary, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	text, err := command.CombinedOutput()
	return string(text), err
}

// post creates one note, or an array of notes.
func post(base, body string) (status int, answer string, err error) {
	response, err := http.Post(base+"/notes", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// seedRows is how many notes a database has before the load begins.
const seedRows = 8000

// seeded makes a database with the first notes once, and copies it. Nobody has it open then.
func seeded(t *testing.T, database string) {
	t.Helper()
	if template == nil {
		dir := home(t)
		file := filepath.Join(dir, databaseFile)
		server := serve(t, dir, file)
		const each = 1000
		for first := 0; first < seedRows; first += each {
			var notes []string
			for i := range each {
				notes = append(notes, fmt.Sprintf(`{"title":%q}`, seedTitle(first+i)))
			}
			if status, answer, err := post(server.base, "["+strings.Join(notes, ",")+"]"); err != nil || status != http.StatusCreated {
				t.Fatalf("%d %.300s %v", status, answer, err)
			}
		}
		server.stop(t)
		var err error
		if template, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(database, template, 0o600); err != nil {
		t.Fatal(err)
	}
}

var template []byte // the content of the file

func seedTitle(i int) string { return fmt.Sprintf("seed %d", i) }

// stored reads the titles of all notes of a database that nobody uses, and checks the file.
func stored(t *testing.T, file, column string) map[string]int {
	t.Helper()
	c, err := sqlite.OpenConn(file, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		err := sqlitex.ExecuteTransient(c, "PRAGMA "+pragma, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
			if text := stmt.ColumnText(0); text != "ok" {
				t.Errorf("%s of %s: %s", pragma, filepath.Base(file), text)
			}
			return nil
		}})
		if err != nil {
			t.Errorf("%s of %s: %v", pragma, filepath.Base(file), err)
		}
	}
	titles := map[string]int{}
	err = sqlitex.ExecuteTransient(c, "SELECT "+column+" FROM notes NOT INDEXED", &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		titles[stmt.ColumnText(0)]++
		return nil
	}})
	if err != nil {
		t.Errorf("%s cannot be read: %v", filepath.Base(file), err)
	}
	return titles
}
