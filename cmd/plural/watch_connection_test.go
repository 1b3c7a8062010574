package main

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestWatchTellsOfItsConnection: standard error says when the server is gone, and when it is there again,
// once each, whether it was killed or stopped.
func TestWatchTellsOfItsConnection(t *testing.T) {
	dir := t.TempDir()
	server := serveIn(t, dir)
	address := strings.TrimPrefix(server.base, "http://")
	w := &watching{Cmd: program(t, dir, "watch", "users", "--server", server.base), t: t}
	log, err := w.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	notes := bufio.NewReader(log)
	w.start()
	w.next("synced  ")
	note := func(want string) {
		t.Helper()
		if got, err := notes.ReadString('\n'); err != nil || !regexp.MustCompile("^"+want+"\n$").MatchString(got) {
			t.Fatalf("%v: got %q, want %s", err, got, want)
		}
	}
	for _, c := range []struct {
		signal os.Signal
		why    string
	}{
		{syscall.SIGKILL, "unexpected EOF"},
		{syscall.SIGTERM, `Get "http://` + address + `/users\?since=\S+": dial tcp ` + address + `: connect: connection refused`},
	} {
		server.stop(t, c.signal)
		note("plural: not connected, trying again: " + c.why)
		server = serveIn(t, dir, "--addr="+address)
		note("plural: connected")
		post(t, server.base+"/users", `{"name":"`+c.signal.String()+`","email":"`+strings.ReplaceAll(c.signal.String(), " ", "")+`@example.com"}`)
		w.next("created " + c.signal.String() + " ")
	}
	if err := w.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(notes); err != nil || len(rest) > 0 {
		t.Errorf("%v: %s", err, rest)
	}
	if err := w.Wait(); err != nil {
		t.Error(err)
	}
}

// TestWatchRefused: the server's errors with their details, and status 1.
func TestWatchRefused(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, `collections:
  users:
    attributes: {name: {type: string}}
  notes:
    attributes: {text: {type: string}}
access:
  roles:
    reader:
      users: [list, read]
`)
	server := serveIn(t, dir)
	key, err := program(t, dir, "keys", "create", "--name", "r", "--role", "reader").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"users"}, "GET /users: 401 unauthenticated: "},
		{[]string{"users", "--key", "nonsense"}, "GET /users: 401 invalid_credentials at Authorization: "},
		{[]string{"notes", "--key", strings.TrimSpace(string(key))}, "GET /notes: 403 forbidden: "},
		{[]string{"changes", "--key", strings.TrimSpace(string(key))}, "GET /changes: 403 forbidden: "},
		{[]string{"users", "--filter", "nick=x", "--key", strings.TrimSpace(string(key))}, `GET /users: 400 unknown_parameter at filter[nick]: `},
		{[]string{"users", "--from-now", "--filter", "nick=x", "--key", strings.TrimSpace(string(key))}, `GET /users: 400 unknown_parameter at filter[nick]: `},
	} {
		command := program(t, dir, append(append([]string{"watch"}, c.args...), "--server", server.base)...)
		out, err := command.CombinedOutput()
		detail, found := strings.CutPrefix(string(out), "plural: "+c.want)
		if err == nil || command.ProcessState.ExitCode() != 1 || !found || len(detail) < 20 || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}

// TestWatchFromAPositionThatIsGone: of another history of the database. Standard error says so, and the resources come again.
func TestWatchFromAPositionThatIsGone(t *testing.T) {
	dir := t.TempDir()
	server := serveIn(t, dir)
	post(t, server.base+"/users", `{"name":"Ada","email":"ada@example.com"}`)
	w := watch(t, "users", "--server", server.base, "--from-now")
	position := w.next("synced  ").Position
	w.interrupt()
	if out, err := program(t, dir, "history", "renew").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	w = watch(t, "users", "--server", server.base, "--since", position)
	w.next("reset  ")
	w.next("listed Ada ")
	w.next("synced  ")
	w.notes = regexp.MustCompile(`^plural: the position of --since is gone: it is older than the server keeps changes, or of another path, filter or history\. The resources are listed again\.\n$`)
	w.interrupt()
	if w.log.Len() == 0 {
		t.Error("nothing was said")
	}
}
