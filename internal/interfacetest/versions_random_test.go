package interfacetest

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/conform"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestRandomVersions draws chains of schemas. On a server with each of them, clients of all versions until then write and read in turns, and
// each is compared on each database with a naive model that knows only the newest schema, and what a version calls and hides. So
// none loses what another wrote. At the end, streams of each version add up to its lists.
func TestRandomVersions(t *testing.T) {
	t.Parallel()
	fewCases(t, 10, func(rt *rapid.T) {
		w, c := newVersionsCase(t, rt)
		for at := range c.schemas {
			w.open(c, at)
			w.fill()
			last := at == len(c.schemas)-1
			var streams []*folded
			if last {
				streams = w.follow()
			}
			for range map[bool]int{true: 12, false: 2}[last] {
				w.remember(w.any())
				w.writeMany(w.any())
				for range 3 {
					v := w.any()
					w.send(v, w.drawWrite(v))
					w.list(w.any())
				}
				w.transact(w.any())
				w.list(w.any())
			}
			for _, v := range w.views {
				w.compareAll(v)
			}
			if last {
				w.fold(streams)
			}
		}
	})
}

// TestConformanceOfRandomVersions runs the conformance suite in each version of a chain, on a collection that has resources of other versions.
func TestConformanceOfRandomVersions(t *testing.T) {
	t.Parallel()
	fewCases(t, 25, func(rt *rapid.T) {
		w, c := newVersionsCase(t, rt)
		for at := range c.schemas {
			w.open(c, at)
			w.fill()
		}
		rt.Log(w.text)
		for _, h := range w.servers {
			for n, v := range w.views {
				collection := v.collection(pick(rt, "collection", v.collections()))
				rt.Logf("%s in %s", collection, v.name)
				check(w.tb, h.version(n+1), conform.Options{Collection: collection})
			}
		}
	})
}

// versionsCase is a chain with a server on each database. The views are those of the versions.
type versionsCase struct {
	randomCase
	tb   testing.TB
	urls map[string]string // of the databases
}

// newVersionsCase draws a chain.
func newVersionsCase(t *testing.T, rt *rapid.T) (*versionsCase, *chain) {
	c := drawChain(rt)
	w := &versionsCase{randomCase: randomCase{dice: c.dice}, tb: rapidTB{t, rt}, urls: map[string]string{}}
	for _, name := range sortedKeys(pgtest.Databases()) {
		w.names, w.urls[name] = append(w.names, name), pgtest.Databases()[name](w.tb)
	}
	return w, c
}

// any is the client of some version.
func (w *versionsCase) any() *naiveView { return pick(w.t, "version", w.views) }

// open migrates the databases to a schema, and runs servers with it.
func (w *versionsCase) open(c *chain, at int) {
	text := c.schemas[at].yaml()
	w.text += "---\n" + text
	file, err := schema.Parse([]byte(text))
	if err != nil {
		w.t.Fatalf("%v\n%s", err, w.text)
	}
	var before *naive
	if at > 0 {
		before = w.views[0].naive
	}
	w.views, w.tags, w.etags = c.model(at, file, before), map[string]*naiveTag{}, map[*accessServer]map[string]string{}
	for _, former := range w.servers {
		stop(w.tb, former.opened, context.Background())
	}
	w.servers = nil
	for _, name := range w.names {
		if at > 0 {
			if _, err := admin.Migrate(w.tb.Context(), w.urls[name], file.Schema, admin.MigrateOptions{}); err != nil {
				w.t.Fatalf("%s: %v\n%s", name, err, w.text)
			}
		}
		h := &accessServer{start(w.tb, file.Schema, w.urls[name], func(c *plural.Config) { c.Logger = slog.New(slog.DiscardHandler) }), map[string]string{}, ""}
		w.etags[h] = map[string]string{}
		w.servers = append(w.servers, h)
	}
}

// fill has clients of random versions create a few resources in each collection.
func (w *versionsCase) fill() {
	for n, c := range w.views[0].schema.Collections() {
		for i := range 5 {
			v := w.any()
			if v.grant(c) == nil {
				v = w.views[len(w.views)-1]
			}
			write := &naiveWrite{method: "POST", kind: c, id: randomID(n, 100*len(w.views)+i), values: map[string]string{}}
			for _, a := range v.attributes(c) {
				if v.requires(c, a) || !w.chance("left out", 4) {
					write.values[a.Name] = w.drawStored(v, c, a)
				}
			}
			w.send(v, write)
		}
	}
}

// folded is a stream of a collection in a version on one server, and the resources that its events add up to, by id.
type folded struct {
	*events
	view   *naiveView
	server *accessServer
	path   string
	known  map[string]string
}

// follow opens a stream of each collection in each version on each server.
func (w *versionsCase) follow() (streams []*folded) {
	for _, v := range w.views {
		for _, c := range v.collections() {
			for _, h := range w.servers {
				path := "/" + v.collection(c)
				streams = append(streams, &folded{h.stream(path, "API-Version", v.version.number), v, h, path, map[string]string{}})
			}
		}
	}
	return streams
}

// fold creates one more resource in each collection, reads the streams until then, and compares them with the lists.
func (w *versionsCase) fold(streams []*folded) {
	newest := w.views[len(w.views)-1]
	ends := map[string]bool{}
	for n, c := range newest.schema.Collections() {
		write := &naiveWrite{method: "POST", kind: c, id: randomID(n, 999), values: map[string]string{}}
		for _, a := range newest.attributes(c) {
			if a.Required {
				write.values[a.Name] = w.drawStored(newest, c, a)
			}
		}
		w.send(newest, write)
		ends[write.id] = true
	}
	for _, s := range streams {
		for ended := false; !ended; {
			next, ok := s.next()
			if !ok {
				w.t.Fatalf("the stream of %s in %s ends\n%s", s.path, s.view.name, w.text)
			}
			var about struct{ Data json.RawMessage }
			var resource struct{ ID string }
			if next.kind == "synced" {
				continue
			}
			if err := json.Unmarshal([]byte(next.data), &about); err != nil {
				w.t.Fatal(err)
			}
			if err := json.Unmarshal(about.Data, &resource); err != nil {
				w.t.Fatal(err)
			}
			if s.known[resource.ID] = settled(string(about.Data)); next.kind == "deleted" {
				delete(s.known, resource.ID)
			}
			ended = ends[resource.ID]
		}
		var all []string
		for _, id := range slices.Sorted(maps.Keys(s.known)) {
			all = append(all, s.known[id])
		}
		// A change of what a version does not have is no event, though the list has its time.
		list := s.server.get(s.path+"?limit=1000", "API-Version", s.view.version.number)
		if list.timeless() != data(all...) {
			w.t.Fatalf("%s in %s:\nfolded %s\nlisted %s\n%s", s.path, s.view.name, data(all...), list.timeless(), w.text)
		}
	}
}
