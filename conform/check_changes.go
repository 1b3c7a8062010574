package conform

import (
	"fmt"
	"net/http"
	"slices"
)

const ourEvents = "interface: Changes and streams"

var changeChecks = []Check{
	{
		ID: "link.changes", Title: "the link to the changes of a list", Source: ourEvents, Writes: true,
		Rule: "Link has changes, which leads to a stream of what changes after the list was read, with its filters and without its range.",
		run: func(p *probe) {
			r := p.ok(p.list("filter[id][null]=false&limit=1&sort=-id"))
			target, has := links(r)["changes"]
			if !has {
				p.needStreams()
				p.fail(r, "a Link with the relation changes", "%q", r.header.Get("Link"))
			}
			_, created := p.create()
			s := p.stream(r.target(target))
			defer s.close()
			s.expect("created", created.id())
		},
	},
	{
		ID: "changes.list", Title: "the list of changes", Source: ourEvents, Writes: true,
		Rule: "GET /changes lists changes in the order in which they were made, each with kind, resource, previous and data.",
		run: func(p *probe) {
			path, before := p.create()
			name, value := p.change(before)
			p.ok(p.send(http.MethodPatch, path, one(name, value)))
			p.ok(p.send(http.MethodDelete, path, ""))
			p.kinds(p.changes("/"+changesName+"?limit=-100&filter[resource.id]="+before.id()), before.id(), name)
		},
	},
	{
		ID: "changes.history", Title: "the history of a resource", Source: ourEvents, Writes: true,
		Rule: "GET /<collection>/<id>/changes lists the changes of one resource, also after it was deleted.",
		run: func(p *probe) {
			path, before := p.create()
			p.create()
			name, value := p.change(before)
			p.ok(p.send(http.MethodPatch, path, one(name, value)))
			p.ok(p.send(http.MethodDelete, path, ""))
			p.needChanges()
			p.kinds(p.ok(p.get(path+"/"+changesName)), before.id(), name)
		},
	},
	{
		ID: "stream.snapshot", Title: "the snapshot of a stream", Source: ourEvents,
		Rule: "A list with Accept: text/event-stream begins with an event listed for each resource in order, and then synced.",
		run: func(p *probe) {
			all := p.all(p.collection.path(), "")
			s := p.stream(p.collection.path())
			defer s.close()
			for _, each := range all {
				s.expect("listed", each.id())
			}
			s.expect("synced", "")
		},
	},
	{
		ID: "stream.follow", Title: "the events of a stream", Source: ourEvents, Writes: true,
		Rule: "After the snapshot, a stream has the events created, updated and deleted, each with the resource under data.",
		run: func(p *probe) {
			s := p.stream(p.collection.path())
			defer s.close()
			s.pass("synced")
			path, before := p.create()
			name, value := p.change(before)
			p.ok(p.send(http.MethodPatch, path, one(name, value)))
			p.ok(p.send(http.MethodDelete, path, ""))
			for _, kind := range []string{"created", "updated", "deleted"} {
				s.expect(kind, before.id())
			}
		},
	},
	{
		ID: "stream.resume", Title: "resuming a stream", Source: ourEvents, Writes: true,
		Rule: "With Last-Event-ID, or with since, a stream goes on after the event with that id.",
		run: func(p *probe) {
			s := p.stream(p.collection.path())
			defer s.close()
			position := s.pass("synced").id
			_, first := p.create()
			_, second := p.create()
			for _, open := range []func() *stream{
				func() *stream { return p.stream(p.collection.path(), "Last-Event-ID", position) },
				func() *stream { return p.stream(p.collection.path() + "?since=" + position) },
			} {
				resumed := open()
				defer resumed.close()
				resumed.expectAbout(first.id())
				resumed.expectAbout(second.id())
			}
		},
	},
}

// expectAbout waits for an event about a resource. Other checks look at its kind.
func (s *stream) expectAbout(id string) {
	expected := "an event of " + id
	if e := s.next(expected); e.resource().id() != id {
		s.p.fail(s.request, expected, "%s %s", e.kind, shorten(e.data))
	}
}

// pass reads up to an event.
func (s *stream) pass(kind string) event {
	for range mostToRead {
		if e := s.next("the event " + kind); e.kind == kind {
			return e
		}
	}
	s.p.fail(s.request, "the event "+kind, "%d others", mostToRead)
	return event{}
}

// needStreams skips a check on a server without streams.
func (p *probe) needStreams() { p.stream(p.collection.path()).close() }

// needChanges skips a check if the caller may not read the change log.
func (p *probe) needChanges() { p.changes("/" + changesName + "?limit=0") }

// changes requests changes. A server may have none, or not show them to the caller.
func (p *probe) changes(path string) *reply {
	r := p.get(path)
	if slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, r.status) {
		p.skip("not supported: GET /%s is %d", changesName, r.status)
	}
	return p.ok(r)
}

// kinds fails unless a list has the changes of a resource that was created, changed in one attribute
// and deleted.
func (p *probe) kinds(r *reply, id, changed string) {
	var got []string
	for _, each := range r.resources() {
		about, _ := each.members["resource"].(map[string]any)
		previous, _ := each.members["previous"].(map[string]any)
		_, told := previous[changed]
		got = append(got, fmt.Sprint(each.members["kind"], " ", about["id"], " ", told))
	}
	want := []string{"created " + id + " false", "updated " + id + " true", "deleted " + id + " true"}
	if !slices.Equal(got, want) {
		p.fail(r, "created, updated with the former "+changed+", and deleted, of "+id, "%s", r.summary())
	}
}
