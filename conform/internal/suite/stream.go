package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/sse"
)

// ChangesName is the collection of changes.
const ChangesName = "changes"

// streamType is the media type of event streams.
const streamType = "text/event-stream"

// event is an event of a stream.
type event struct{ kind, ID, data string }

// resource is the resource that an event is about.
func (e event) resource() Resource {
	var envelope struct{ Data Resource }
	_ = json.Unmarshal([]byte(e.data), &envelope) // invalid JSON has no resource
	return envelope.Data
}

// Stream is a stream that is being read.
type Stream struct {
	p       *Probe
	request *Reply
	events  *sse.Reader
	Close   func()
}

// Stream opens a stream. It skips the check on a server without streams, which answers 406.
func (p *Probe) Stream(path string, headers ...string) *Stream {
	request := p.newRequest(http.MethodGet, path, "", append([]string{"Accept", streamType}, headers...))
	ctx, cancel := context.WithTimeout(p.Ctx, p.operationTimeout)
	response, err := p.open(ctx, request)
	if err != nil {
		cancel()
		p.sent(err, request)
	}
	s := &Stream{p: p, request: request, events: sse.NewReader(response.Body), Close: func() {
		cancel()
		_ = response.Body.Close() // nothing more is read
	}}
	switch {
	case response.StatusCode == http.StatusNotAcceptable:
		s.Close()
		p.Skip("not supported: the server has no event streams")
	case response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), streamType):
		s.Close()
		p.Fail(request, "status 200 with Content-Type: "+streamType, "status %d with %q", response.StatusCode, response.Header.Get("Content-Type"))
	}
	return s
}

// next waits for an event, for as long as an answer may take. Bookmarks are left out.
func (s *Stream) next(expected string) event {
	for {
		e, err := s.events.Next()
		switch {
		case err != nil:
			s.p.Fail(s.request, expected, "the stream ended, or nothing came in time: %v", err)
			return event{}
		case e.Name != "" && e.Name != "bookmark":
			return event{e.Name, e.ID, string(e.Data)}
		}
	}
}

// Expect waits for an event of a kind about a resource; empty: about none.
func (s *Stream) Expect(kind, id string) {
	expected := "the event " + kind
	if id != "" {
		expected += " of " + id
	}
	e := s.next(expected)
	s.p.FailIf(e.kind != kind || e.resource().ID() != id, s.request, expected, "%s %s", e.kind, Shorten(e.data))
}

// ExpectAbout waits for an event about a resource. Other checks look at its kind.
func (s *Stream) ExpectAbout(id string) {
	expected := "an event of " + id
	e := s.next(expected)
	s.p.FailIf(e.resource().ID() != id, s.request, expected, "%s %s", e.kind, Shorten(e.data))
}

// Pass reads up to an event.
func (s *Stream) Pass(kind string) event {
	for range mostToRead {
		if e := s.next("the event " + kind); e.kind == kind {
			return e
		}
	}
	s.p.Fail(s.request, "the event "+kind, "%d others", mostToRead)
	return event{}
}

// Changes requests changes. It skips the check if the server has none, or does not show them to the caller.
func (p *Probe) Changes(path string) *Reply {
	r := p.Get(path)
	refused := slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, r.Status)
	p.SkipIf(refused, "not supported: GET /%s is %d", ChangesName, r.Status)
	return p.OK(r)
}

// Kinds fails unless a list has the changes of a resource that was created, changed in one attribute
// and deleted.
func (p *Probe) Kinds(r *Reply, id, changed string) {
	var got []string
	for _, each := range r.Resources() {
		about, _ := each.Members["resource"].(map[string]any)
		previous, _ := each.Members["previous"].(map[string]any)
		_, told := previous[changed]
		got = append(got, fmt.Sprint(each.Members["kind"], " ", about["id"], " ", told))
	}
	want := []string{"created " + id + " false", "updated " + id + " true", "deleted " + id + " true"}
	p.FailIf(!slices.Equal(got, want), r, "created, updated with the former "+changed+", and deleted, of "+id, "%s", r.Summary())
}
