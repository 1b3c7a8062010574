package checks

import (
	"github.com/plural-go/plural/conform/internal/suite"
)

const ourEvents = "interface: Changes and streams"

var changeChecks = []suite.Check{
	{
		ID: "link.changes", Title: "the link to the changes of a list", Source: ourEvents, Writes: true,
		Rule: "Link has changes, which leads to a stream of what changes after the list was read, with its filters and without its range.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.List("filter[id][null]=false&limit=1&sort=-id"))
			target, has := suite.Links(r)["changes"]
			if !has {
				p.Stream(p.Collection.Path()).Close() // without streams there need be no link
				p.Fail(r, "a Link with the relation changes", "%q", r.Header.Get("Link"))
			}
			_, created := p.Create()
			s := p.Stream(r.Target(target))
			defer s.Close()
			s.Expect("created", created.ID())
		},
	},
	{
		ID: "changes.list", Title: "the list of changes", Source: ourEvents, Writes: true,
		Rule: "GET /changes lists changes in the order in which they were made, each with kind, resource, previous and data.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			name, value := p.Change(before)
			p.OK(p.Patch(path, suite.One(name, value)))
			p.OK(p.Delete(path))
			p.Kinds(p.Changes("/"+suite.ChangesName+"?limit=-100&filter[resource.id]="+before.ID()), before.ID(), name)
		},
	},
	{
		ID: "changes.history", Title: "the history of a resource", Source: ourEvents, Writes: true,
		Rule: "GET /<collection>/<id>/changes lists the changes of one resource, also after it was deleted.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			p.Create()
			name, value := p.Change(before)
			p.OK(p.Patch(path, suite.One(name, value)))
			p.OK(p.Delete(path))
			p.Changes("/" + suite.ChangesName + "?limit=0") // the caller must be allowed to read them
			p.Kinds(p.OK(p.Get(path+"/"+suite.ChangesName)), before.ID(), name)
		},
	},
	{
		ID: "stream.snapshot", Title: "the snapshot of a stream", Source: ourEvents,
		Rule: "A list with Accept: text/event-stream begins with an event listed for each resource in order, and then synced.",
		Run: func(p *suite.Probe) {
			all := p.All("")
			s := p.Stream(p.Collection.Path())
			defer s.Close()
			for _, each := range all {
				s.Expect("listed", each.ID())
			}
			s.Expect("synced", "")
		},
	},
	{
		ID: "stream.follow", Title: "the events of a stream", Source: ourEvents, Writes: true,
		Rule: "After the snapshot, a stream has the events created, updated and deleted, each with the resource under data.",
		Run: func(p *suite.Probe) {
			s := p.Stream(p.Collection.Path())
			defer s.Close()
			s.Pass("synced")
			path, before := p.Create()
			name, value := p.Change(before)
			p.OK(p.Patch(path, suite.One(name, value)))
			p.OK(p.Delete(path))
			for _, kind := range []string{"created", "updated", "deleted"} {
				s.Expect(kind, before.ID())
			}
		},
	},
	{
		ID: "stream.resume", Title: "resuming a stream", Source: ourEvents, Writes: true,
		Rule: "With Last-Event-ID, or with since, a stream goes on after the event with that id.",
		Run: func(p *suite.Probe) {
			s := p.Stream(p.Collection.Path())
			defer s.Close()
			position := s.Pass("synced").ID
			_, first := p.Create()
			_, second := p.Create()
			for _, open := range []func() *suite.Stream{
				func() *suite.Stream { return p.Stream(p.Collection.Path(), "Last-Event-ID", position) },
				func() *suite.Stream { return p.Stream(p.Collection.Path() + "?since=" + position) },
			} {
				resumed := open()
				defer resumed.Close()
				resumed.ExpectAbout(first.ID())
				resumed.ExpectAbout(second.ID())
			}
		},
	},
}
