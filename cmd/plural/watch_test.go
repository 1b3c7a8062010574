package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// watching is a running "plural watch".
type watching struct {
	*exec.Cmd
	t     *testing.T
	lines *bufio.Reader
	out   io.Closer
	log   strings.Builder
	notes *regexp.Regexp // of the connection, that may be in the log; nil: none
}

func watch(t *testing.T, args ...string) *watching {
	t.Helper()
	w := &watching{Cmd: program(t, t.TempDir(), append([]string{"watch"}, args...)...), t: t}
	w.Stderr = &w.log
	w.start()
	return w
}

func (w *watching) start() {
	w.t.Helper()
	out, err := w.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		w.Process.Kill()
		w.Wait() // before its directory is removed
	})
	w.lines, w.out = bufio.NewReader(out), out
}

// next reads a line that is no bookmark, and compares it: kind, name of the resource, and former values.
func (w *watching) next(want string) eventLine {
	w.t.Helper()
	for {
		text, err := w.lines.ReadString('\n')
		if err != nil {
			w.Wait()
			w.t.Fatalf("%v in place of %s\n%s", err, want, w.log.String())
		}
		var line eventLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			w.t.Fatalf("%v: %s", err, text)
		}
		if line.Kind == "bookmark" {
			continue
		}
		var resource struct{ Name string }
		if line.Data != nil {
			if err := json.Unmarshal(line.Data, &resource); err != nil {
				w.t.Fatal(err)
			}
		}
		if got := fmt.Sprintf("%s %s %s", line.Kind, resource.Name, line.Previous["name"]); got != want {
			w.t.Fatalf("got %s, want %s", got, want)
		}
		return line
	}
}

func (w *watching) interrupt() {
	w.t.Helper()
	if err := w.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	err := w.Wait()
	log := w.log.String()
	if w.notes != nil {
		log = w.notes.ReplaceAllString(log, "")
	}
	if err != nil || log != "" {
		w.t.Errorf("%v\n%s", err, log)
	}
}

func patch(t *testing.T, url, body string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPatch, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 200 {
		t.Fatal(response.Status)
	}
}

func TestWatchCommand(t *testing.T) {
	dir := t.TempDir()
	server := serveIn(t, dir)
	address := strings.TrimPrefix(server.base, "http://")
	idOf := func(body string) string {
		var created struct{ Data struct{ ID string } }
		if err := json.Unmarshal([]byte(body), &created); err != nil {
			t.Fatal(err)
		}
		return created.Data.ID
	}
	ada := idOf(post(t, server.base+"/users", `{"name":"Ada","email":"ada@example.com"}`))
	post(t, server.base+"/users", `{"name":"Zoe","email":"zoe@example.com","active":false}`)

	w := watch(t, "users", "--filter", "active=true", "--filter", "name[ne]=a & b", "--server", server.base)
	if listed := w.next("listed Ada "); listed.Position != "" || listed.Change != nil {
		t.Errorf("got %+v", listed)
	}
	synced := w.next("synced  ")
	patch(t, server.base+"/users/"+ada, `{"name":"Augusta"}`)
	updated := w.next(`updated Augusta "Ada"`)
	if updated.Position == "" || updated.Change == nil || !docTimes.MatchString(updated.Change.At) || updated.Change.By != nil {
		t.Errorf("got %+v %+v", updated, updated.Change)
	}

	// The server restarts, and the command continues. If that takes long, it says so.
	w.notes = regexp.MustCompile(`plural: not connected, trying again: .*\nplural: connected\n`)
	if err := server.stop(t, syscall.SIGTERM); err != nil {
		t.Fatalf("%v\n%s", err, server.log)
	}
	server = serveIn(t, dir, "--addr="+address)
	post(t, server.base+"/users", `{"name":"Bob","email":"bob@example.com"}`)
	w.next("created Bob ")
	w.interrupt()

	// Another process continues where this one was.
	w = watch(t, "users", "--filter=active=true", "--filter=name[ne]=a & b", "--server", server.base, "--since", synced.Position)
	w.next(`updated Augusta "Ada"`)
	w.next("created Bob ")
	w.interrupt()

	// With another filter the position means nothing.
	w = watch(t, "users", "--server", server.base, "--since", synced.Position)
	w.notes = regexp.MustCompile(`^plural: the position of --since is gone: .* The resources are listed again\.\n$`)
	w.next("reset  ")
	w.next("listed Augusta ")
	w.interrupt()

	// From now on, of one resource.
	w = watch(t, "users/"+ada, "--server", server.base, "--from-now")
	w.next("synced  ")
	patch(t, server.base+"/users/"+ada, `{"name":"Ada"}`)
	w.next(`updated Ada "Augusta"`)
	w.interrupt()

	// Nobody reads any more.
	w = watch(t, "users/"+ada+"/posts", "--server", server.base)
	w.next("synced  ")
	w.out.Close()
	post(t, server.base+"/users/"+ada+"/posts", `{"title":"Notes"}`)
	if err := w.Wait(); err == nil || w.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || w.log.String() != "" {
		t.Errorf("%v\n%s", err, w.log.String())
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"user"}, `there is no collection "user" (did you mean users?): there are users, posts, operations`},
		{[]string{}, "name what to watch: plural watch COLLECTION"},
		{[]string{"users/1"}, `an id is a UUID, but this is "1"`},
		{[]string{"a/b/c/d"}, `watch a collection (users), a resource (users/ID) or a sub-collection (users/ID/posts), but not "a/b/c/d"`},
		{[]string{"users", "--filter", "age>=3"}, `a --filter is like active=true, age[gte]=18 or email (which is not null), but this is "age>=3"`},
		{[]string{"users", "--since", ""}, "--since needs the position of a line, and no --from-now beside it"},
		{[]string{"users", "--since", "p", "--from-now"}, "--since needs the position of a line, and no --from-now beside it"},
		{[]string{"users", "--filter", "nick=x"}, "GET /users: 400 "},
		{[]string{"users", "--since", "nonsense"}, "GET /users: 400 invalid_parameter at since: "},
		{[]string{"operations"}, "GET /operations: 406 not_acceptable"},
	} {
		command := program(t, dir, append(append([]string{"watch"}, c.args...), "--server", server.base)...)
		if out, err := command.CombinedOutput(); err == nil || command.ProcessState.ExitCode() != 1 || !strings.HasPrefix(string(out), "plural: "+c.want) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}
