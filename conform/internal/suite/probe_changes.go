package suite

import (
	"fmt"
	"net/http"
	"slices"
)

// ExpectAbout waits for an event about a resource. Other checks look at its kind.
func (s *Stream) ExpectAbout(id string) {
	expected := "an event of " + id
	if e := s.next(expected); e.resource().ID() != id {
		s.p.Fail(s.request, expected, "%s %s", e.kind, Shorten(e.data))
	}
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

// NeedStreams skips a check on a server without streams.
func (p *Probe) NeedStreams() { p.Stream(p.Collection.Path()).Close() }

// NeedChanges skips a check if the caller may not read the change log.
func (p *Probe) NeedChanges() { p.Changes("/" + ChangesName + "?limit=0") }

// Changes requests changes. A server may have none, or not show them to the caller.
func (p *Probe) Changes(path string) *Reply {
	r := p.Get(path)
	if slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, r.Status) {
		p.Skip("not supported: GET /%s is %d", ChangesName, r.Status)
	}
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
	if !slices.Equal(got, want) {
		p.Fail(r, "created, updated with the former "+changed+", and deleted, of "+id, "%s", r.Summary())
	}
}
