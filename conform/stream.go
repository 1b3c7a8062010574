package conform

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// changesName is the collection of changes.
const changesName = "changes"

// streamType is the media type of event streams.
const streamType = "text/event-stream"

// event is an event of a stream.
type event struct{ kind, id, data string }

// resource is the resource that an event is about.
func (e event) resource() resource {
	var envelope struct{ Data resource }
	_ = json.Unmarshal([]byte(e.data), &envelope) // invalid JSON has no resource
	return envelope.Data
}

// stream is a stream that is being read.
type stream struct {
	p       *probe
	request *reply
	lines   *bufio.Scanner
	close   func()
}

// stream opens a stream. A server without streams answers 406.
func (p *probe) stream(path string, headers ...string) *stream {
	request := &reply{method: http.MethodGet, url: p.base + path, extra: append([]string{"Accept", streamType}, headers...)}
	if strings.HasPrefix(path, "http") {
		request.url = path
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	response, err := p.open(ctx, request)
	if err != nil {
		cancel()
		p.sent(err, request)
	}
	s := &stream{p: p, request: request, lines: bufio.NewScanner(response.Body), close: func() {
		cancel()
		_ = response.Body.Close() // nothing more is read
	}}
	s.lines.Buffer(nil, 1<<20)
	switch {
	case response.StatusCode == http.StatusNotAcceptable:
		s.close()
		p.skip("not supported: the server has no event streams")
	case response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), streamType):
		s.close()
		p.fail(request, "status 200 with Content-Type: "+streamType, "status %d with %q", response.StatusCode, response.Header.Get("Content-Type"))
	}
	return s
}

// open sends the request of a stream, and does not read its response to the end.
func (s *suite) open(ctx context.Context, request *reply) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, request.method, request.url, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range s.options.Headers {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	for i := 0; i < len(request.extra); i += 2 {
		r.Header.Set(request.extra[i], request.extra[i+1])
	}
	return s.client.Do(r)
}

// next waits for an event, for as long as an answer may take. Bookmarks are left out.
func (s *stream) next(expected string) event {
	var e event
	for s.lines.Scan() {
		line := s.lines.Text()
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && e.kind != "" && e.kind != "bookmark":
			return e
		case line == "":
			e = event{}
		case name == "event":
			e.kind = value
		case name == "id":
			e.id = value
		case name == "data":
			e.data = value
		}
	}
	s.p.fail(s.request, expected, "the stream ended, or nothing came in time")
	return e
}

// expect waits for an event of a kind about a resource; empty: about none.
func (s *stream) expect(kind, id string) event {
	expected := "the event " + kind
	if id != "" {
		expected += " of " + id
	}
	e := s.next(expected)
	if e.kind != kind || e.resource().id() != id {
		s.p.fail(s.request, expected, "%s %s", e.kind, shorten(e.data))
	}
	return e
}
