package interfacetest

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// event is an event of a stream. A comment has the kind ":", and a hint when to connect again the
// kind "retry".
type event struct{ kind, id, data string }

// events is a stream that is being read.
type events struct {
	t        testing.TB
	protocol int
	status   int
	header   http.Header
	arrived  chan event // closed at the end
	close    func()
	quiet    bool // comments and bookmarks are left out
}

// stream opens a stream.
func (s *server) stream(path string, headers ...string) *events {
	s.t.Helper()
	return openStream(s.t, client, s.base+path, headers...)
}

func openStream(t testing.TB, client *http.Client, url string, headers ...string) *events {
	t.Helper()
	return openStreamOf(t, client, "GET", url, "", headers...)
}

// openStreamOf opens a stream by a method, with the parameters of a QUERY.
func openStreamOf(t testing.TB, client *http.Client, method, url, parameters string, headers ...string) *events {
	t.Helper()
	e, err := tryStreamOf(t, client, method, url, parameters, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return e
}

// tryStream opens a stream. The error is that of the connection.
func tryStream(t testing.TB, client *http.Client, url string, headers ...string) (*events, error) {
	t.Helper()
	return tryStreamOf(t, client, "GET", url, "", headers...)
}

func tryStreamOf(t testing.TB, client *http.Client, method, url, parameters string, headers ...string) (*events, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(parameters))
	if err != nil {
		t.Fatal(err)
	}
	if parameters != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	response, err := client.Do(r)
	if err != nil {
		cancel()
		return nil, err
	}
	e := &events{t: t, protocol: response.ProtoMajor, status: response.StatusCode, header: response.Header, arrived: make(chan event, 1024), quiet: true}
	ended := make(chan struct{})
	e.close = func() {
		cancel()
		<-ended
	}
	go func() {
		defer close(ended)
		defer close(e.arrived)
		defer response.Body.Close()
		e.read(ctx, response.Body)
	}()
	t.Cleanup(e.close)
	if e.status != 200 {
		t.Fatalf("%s %s: %d", method, url, e.status)
	}
	return e, nil
}

// read takes a stream apart, as the HTML standard says.
func (e *events) read(ctx context.Context, body io.Reader) {
	lines := bufio.NewReader(body)
	var next event
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && next != (event{}):
			select {
			case e.arrived <- next:
			case <-ctx.Done():
				return
			}
			next = event{}
		case line == "":
		case name == "":
			next.kind = ":"
		case name == "event":
			next.kind = value
		case name == "id":
			next.id = value
		case name == "data":
			next.data = value
		case name == "retry":
			next = event{kind: "retry", data: value}
		}
	}
}

// next waits for an event. False means that the stream has ended.
func (e *events) next() (event, bool) {
	e.t.Helper()
	deadline := time.After(hung)
	for {
		select {
		case next, ok := <-e.arrived:
			if ok && e.quiet && (next.kind == ":" || next.kind == "bookmark") {
				continue
			}
			return next, ok
		case <-deadline:
			e.t.Fatal("no event")
		}
	}
}

var (
	changeIDs = regexp.MustCompile(`"id":"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`)
	revisions = regexp.MustCompile(`"revision":\d+`)
	moments   = regexp.MustCompile(`"(created_at|updated_at|at)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
)

// settled is a text without what differs from run to run, checked for its form.
func settled(text string) string {
	text = changeIDs.ReplaceAllString(text, `"id":"CHANGE"`)
	text = revisions.ReplaceAllString(text, `"revision":N`)
	return moments.ReplaceAllString(text, `"$1":"TIME"`)
}

// expect waits for events, each as its kind and data, and returns the id of the last one. All from synced on
// must have one.
func (e *events) expect(want ...string) (position string) {
	e.t.Helper()
	var got []string
	for range want {
		next, ok := e.next()
		if !ok {
			got = append(got, "the end")
			break
		}
		got = append(got, strings.TrimSpace(next.kind+" "+settled(next.data)))
		if needed := next.kind != "listed" && next.kind != "reset"; needed != (next.id != "") {
			e.t.Errorf("the id of %s is %q", next.kind, next.id)
		}
		position = next.id
	}
	if !slices.Equal(got, want) {
		e.t.Fatalf("got events\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	return position
}

// expectEnd waits for the end of a stream, before which there is a hint when to connect again.
func (e *events) expectEnd() {
	e.t.Helper()
	last, ok := e.next()
	if _, more := e.next(); !ok || last.kind != "retry" || more {
		e.t.Errorf("the stream does not end with a hint, but with %+v", last)
	}
}

// eventOf is the data of an event of a resource, with the change if it has one.
func eventOf(data, previous string) string {
	return `{"data":` + data + previous + `,"change":{"id":"CHANGE","by":null,"at":"TIME","revision":N}}`
}
