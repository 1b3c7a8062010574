package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural/conform"
)

// run runs the program to its end.
func run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	command := program(t, t.TempDir(), args...)
	command.Stdout, command.Stderr = &out, &log
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), log.String()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func TestCheckOfAServerThatConforms(t *testing.T) {
	p := serveIn(t, t.TempDir())
	status, out, log := run(t, "check", p.base)
	want := fmt.Sprintf("%s, collection users: %d passed, 0 failed, 18 skipped", p.base, len(conform.Checks())-18)
	if status != 0 || lastLine(out) != want || log != "" {
		t.Errorf("got %d %s\n%s\nwant %s", status, out, log, want)
	}
	if got := get(t, p.base+"/users"); got != `200 {"data":[]}` {
		t.Errorf("left behind: %s", got)
	}
}

// brokenServer is a server with a flaw, which asks for a header.
func brokenServer(t *testing.T) string {
	t.Helper()
	p := serveIn(t, t.TempDir())
	behind, err := url.Parse(p.base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ModifyResponse = func(r *http.Response) error {
		r.Header.Del("X-Total-Count")
		return nil
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer x:y" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL
}

func TestCheckOfAServerThatDoesNot(t *testing.T) {
	base := brokenServer(t)
	status, out, log := run(t, "check", base, "--header", "Authorization: Bearer x:y", "--only", "total,range.last")
	want := `ok    range.last      a negative limit alone
FAIL  total.present   X-Total-Count of a collection
      rule      A collection without a filter has X-Total-Count. (interface: Responses)
      request   GET BASE/users?limit=3
      expected  X-Total-Count: 45
      got       no such header
skip  total.value     value of X-Total-Count
      there is no X-Total-Count (see total.present)
FAIL  total.filtered  X-Total-Count of a filtered collection
`
	got := strings.ReplaceAll(out, base, "BASE")
	if status != 1 || log != "" || !strings.HasPrefix(got, want) || lastLine(got) != "BASE, collection users: 1 passed, 2 failed, 1 skipped" {
		t.Errorf("got %d %s\n%s\nwant %s", status, got, log, want)
	}
	if status, _, _ := run(t, "check", base, "--header", "Authorization: Bearer x:y", "--only", "total", "--skip", "total.present,total.filtered"); status != 0 {
		t.Errorf("nothing fails, and the status is %d", status)
	}
}

func TestCheckFormats(t *testing.T) {
	p := serveIn(t, t.TempDir())
	sample := filepath.Join(t.TempDir(), "sample.json")
	if err := os.WriteFile(sample, []byte(`{"title":"Notes"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, log := run(t, "check", p.base, "--collection=posts", "--sample", sample, "--convention-only", "--format=json")
	var report struct {
		Collection     string
		ConventionOnly bool `json:"convention_only"`
		Passed, Failed int
		Results        []struct{ ID, Status, Reason string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, out, log)
	}
	rules := 0
	for _, check := range conform.Checks() {
		if check.Convention {
			rules++
		}
	}
	if status != 0 || report.Collection != "posts" || !report.ConventionOnly || report.Failed != 0 || len(report.Results) != rules || report.Passed < rules-2 {
		t.Errorf("got %d %+v", status, report)
	}
	post(t, p.base+"/users", `{"name":"Ada","email":"ada@example.com"}`)
	status, out, log = run(t, "check", p.base, "--read-only", "--format=junit", "--only=read")
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	if err := xml.Unmarshal([]byte(out), &suite); err != nil {
		t.Fatalf("%v: %s%s", err, out, log)
	}
	if status != 0 || fmt.Sprint(suite) != "{4 0 1}" { // one resource has no order
		t.Errorf("got %d %v", status, suite)
	}
}

func TestCheckListsEveryCheck(t *testing.T) {
	status, out, log := run(t, "check", "--list")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	checks := conform.Checks()
	if status != 0 || log != "" || len(lines) != len(checks) {
		t.Fatalf("got %d, %d lines, %s", status, len(lines), log)
	}
	for i, check := range checks {
		id, rest, _ := strings.Cut(lines[i], " ")
		if want := check.Rule + " (" + check.Source + ")"; id != check.ID || strings.TrimSpace(rest) != want {
			t.Errorf("got %q, want %s %s", lines[i], check.ID, want)
		}
	}
}

func TestCheckThatCannotBeRun(t *testing.T) {
	p := serveIn(t, t.TempDir())
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no URL":                {nil, "plural: give the URL of the server to check, and nothing else\n"},
		"an unknown flag":       {[]string{p.base, "--frobnicate"}, "plural: unknown flag: --frobnicate; \"plural check --help\" lists them\n"},
		"an unknown format":     {[]string{p.base, "--format=xml"}, "plural: the format must be table, json or junit, but is \"xml\"\n"},
		"an unknown check":      {[]string{p.base, "--only=ranges"}, "plural: there is no check \"ranges\", and no topic of that name\n"},
		"a broken header":       {[]string{p.base, "--header=Bearer"}, "plural: a header must be given as 'Name: value', but is \"Bearer\"\n"},
		"a missing sample":      {[]string{p.base, "--sample=none.json"}, "plural: there is no file none.json\n"},
		"a broken sample":       {[]string{p.base, "--sample={"}, "plural: the sample is not valid JSON\n"},
		"a list for a sample":   {[]string{p.base, "--sample=[1]"}, "plural: the sample must be a JSON object, but is [1]\n"},
		"a list for another":    {[]string{p.base, "--sample=posts=[1]"}, "plural: the sample for posts must be a JSON object, but is [1]\n"},
		"two samples":           {[]string{p.base, "--sample={}", "--sample={}"}, "plural: there are two samples for the collection\n"},
		"two samples of one":    {[]string{p.base, "--sample=posts={}", "--sample=posts={}"}, "plural: there are two samples for posts\n"},
		"two samples by chance": {[]string{p.base, "--sample={}", "--sample=users={}"}, "plural: there are two samples for users\n"},
		"an unknown collection": {[]string{p.base, "--collection=nope"}, "plural: there is no collection nope: GET / lists users, posts, operations, changes\n"},
		"a URL and a list":      {[]string{p.base, "--list"}, "plural: --list prints every check and runs none, so it takes no URL\n"},
		"no time":               {[]string{p.base, "--timeout=0s"}, "plural: the timeout must be more than zero, but is 0s\n"},
		"a time without a unit": {[]string{p.base, "--timeout=5"}, "plural: invalid argument \"5\" for \"--timeout\" flag: time: missing unit in duration \"5\"\n"},
		"nobody there":          {[]string{"http://127.0.0.1:1"}, "plural: Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused\n"},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, log := run(t, append([]string{"check"}, c.args...)...)
			if status != 2 || out != "" || log != c.want {
				t.Errorf("got  %d %s%s\nwant 2 %s", status, out, log, c.want)
			}
		})
	}
}

// A server that goes away in the middle has not failed checks; they could not be run.
func TestCheckThatIsAborted(t *testing.T) {
	p := serveIn(t, t.TempDir())
	behind, err := url.Parse(p.base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	for name, c := range map[string]struct {
		after int64 // so many requests
		leave func(front *httptest.Server, r *http.Request)
		flags []string
		want  string
		left  int
	}{
		"closed": {60, func(front *httptest.Server, _ *http.Request) { // the fixture is there by then
			front.Listener.Close()
			go front.CloseClientConnections() // which waits for this request
		}, nil, "connect: connection refused", 45},
		"silent": {10, func(_ *httptest.Server, r *http.Request) { <-r.Context().Done() }, []string{"--read-only", "--timeout=3s"},
			"(Client.Timeout exceeded while awaiting headers)", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			front := httptest.NewUnstartedServer(nil)
			front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) > c.after {
					c.leave(front, r)
					panic(http.ErrAbortHandler)
				}
				proxy.ServeHTTP(w, r)
			})
			front.Start()
			defer front.Close()
			var status int
			var out, log string
			eventually(t, "the run lasts until the server goes away", func() bool { // a busy machine may exceed --timeout before
				requests.Store(0)
				status, out, log = run(t, append([]string{"check", front.URL}, c.flags...)...)
				return requests.Load() > c.after
			})
			reason, rest, _ := strings.Cut(strings.TrimSpace(log), " (left behind: ")
			if status != 2 || out != "" || !strings.HasPrefix(reason, "plural: the run was given up after 3 requests in a row without an answer: ") ||
				!strings.HasSuffix(reason, c.want) || strings.Count(rest, "/users/") != c.left {
				t.Errorf("got %d %s%s", status, out, log)
			}
		})
	}
}

// What the collection refers to is made of a sample of its own, if the server says
// nothing of it.
func TestCheckWithSamplesOfOtherCollections(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, `
collections:
  teams:
    attributes:
      code: {type: string, pattern: "^team .+$"}
    required: [code]
  players:
    attributes:
      name: {type: string}
      team_id: {references: teams}
    required: [name, team_id]
`)
	p := serveIn(t, dir)
	status, out, log := run(t, "check", p.base, "--collection=players", "--only=range,child")
	if status != 2 || !strings.Contains(log, "no value for the attribute code of teams could be made up: give a sample body for it") {
		t.Errorf("without: %d %s%s", status, out, log)
	}
	sample := filepath.Join(t.TempDir(), "team.json")
	if err := os.WriteFile(sample, []byte(`{"code":"team blue"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, log = run(t, "check", p.base, "--collection=players", "--sample=teams="+sample, "--only=range.last,child.list")
	want := `ok    range.last  a negative limit alone
skip  child.list  GET of a sub-collection
      players refers to teams, but is no sub-collection of it: GET /teams/ID/players answered with status 404

BASE, collection players: 1 passed, 0 failed, 1 skipped
`
	got := regexp.MustCompile("/teams/[^/]+/").ReplaceAllString(strings.ReplaceAll(out, p.base, "BASE"), "/teams/ID/")
	if status != 0 || got != want || log != "" {
		t.Errorf("got %d\n%s%s\nwant\n%s", status, got, log, want)
	}
	if got := get(t, p.base+"/teams"); got != `200 {"data":[]}` {
		t.Errorf("left behind: %s", got)
	}
}

func TestCheckOfAnEmptyCollection(t *testing.T) {
	p := serveIn(t, t.TempDir())
	status, out, log := run(t, "check", p.base, "--read-only", "--only=read.item,child.list")
	want := `skip  read.item   GET of one resource
      the collection has 0 resources, and 1 are needed
skip  child.list  GET of a sub-collection
      the run is read-only

BASE, collection users: 0 passed, 0 failed, 2 skipped
warning: users has no resources to look at, and a read-only run creates none: most checks are skipped
`
	if got := strings.ReplaceAll(out, p.base, "BASE"); status != 0 || got != want || log != "" {
		t.Errorf("got %d\n%s%s\nwant\n%s", status, got, log, want)
	}
}
