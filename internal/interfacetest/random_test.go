package interfacetest

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"pgregory.net/rapid"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestRandomSchemas draws a schema with row rules, hidden attributes and defaults, and compares what several callers get for
// random requests on each database with a naive model. The first of them writes single resources, ranges and transactions; others
// update what they see.
func TestRandomSchemas(t *testing.T) {
	t.Parallel()
	fewCases(t, 10, func(rt *rapid.T) { // a case is two servers and takes a second of CPU time
		text, defaults := drawSchema(rt)
		file, err := schema.Parse([]byte(text))
		if err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		w := &randomCase{dice: &dice{rt}, text: text, tags: map[string]*naiveTag{}, etags: map[*accessServer]map[string]string{}}
		m := &naive{schema: (*model.Schema)(file.Schema), access: file.Access, rows: map[*model.Collection][]*naiveRow{}, defaults: defaults, gone: map[*model.Collection]string{}, programs: map[string]cel.Program{}}
		for _, caller := range [][3]string{{"editor", "editor", ""}, {"ada", "reader", "Ada"}, {"first", "reader", randomID(0, 1)}, {"public", "public", ""}} {
			w.views = append(w.views, &naiveView{naive: m, name: caller[0], role: caller[1], sub: caller[2], seen: map[*naiveRow]bool{}})
		}
		tb := rapidTB{t, rt}
		for _, name := range sortedKeys(pgtest.Databases()) {
			h := &accessServer{start(tb, file.Schema, pgtest.Databases()[name](tb), func(c *plural.Config) {
				c.Access, c.Logger = file.Access, slog.New(slog.DiscardHandler)
			}), map[string]string{"public": ""}, ""}
			for _, v := range w.views[:3] {
				h.key(v.name, v.role, v.sub)
			}
			w.etags[h] = map[string]string{}
			w.servers, w.names = append(w.servers, h), append(w.names, name)
		}
		w.fill()
		w.compareAll(w.views[0])
		for range 3 {
			for range 12 {
				w.list(pick(rt, "caller", w.views))
				w.group(pick(rt, "caller", w.views))
			}
			w.remember(w.views[0])
			w.writeMany(w.views[0])
			w.compareAll(w.views[0])
			for range 4 {
				w.send(w.views[0], w.drawWrite(w.views[0]))
				w.update(pick(rt, "caller", w.views[1:3]))
				w.transact(w.views[0])
				w.compareAll(w.views[0])
			}
		}
	})
}

// fewCases is rapid.Check for a test that is long: one in so many cases is run.
func fewCases(t *testing.T, in int, test func(*rapid.T)) {
	checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	cases, failed := 0, false
	rapid.Check(t, func(rt *rapid.T) {
		if cases++; cases > max(checks/in, 1) && !failed {
			return
		}
		passed := false
		defer func() { failed = failed || !passed }()
		test(rt)
		passed = true
	})
}

// rapidTB is a test whose servers end with a case.
type rapidTB struct {
	testing.TB
	t *rapid.T
}

func (b rapidTB) Cleanup(f func())                  { b.t.Cleanup(f) }
func (b rapidTB) Error(arguments ...any)            { b.t.Error(arguments...) }
func (b rapidTB) Errorf(f string, arguments ...any) { b.t.Errorf(f, arguments...) }
func (b rapidTB) Fatal(arguments ...any)            { b.t.Fatal(arguments...) }
func (b rapidTB) Fatalf(f string, arguments ...any) { b.t.Fatalf(f, arguments...) }

func (b rapidTB) TempDir() string {
	dir, err := os.MkdirTemp(b.TB.TempDir(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// randomCase is a schema with a server on each database.
type randomCase struct {
	*dice
	text    string
	views   []*naiveView // the first may do everything
	servers []*accessServer
	names   []string // of the databases

	tags  map[string]*naiveTag                // of resources, by id
	etags map[*accessServer]map[string]string // what the names of tags stand for on a server
}

// randomRequest is a request. Names of ETags stand for those of each server.
type randomRequest struct{ method, path, body, match string }

func get(path string) randomRequest { return randomRequest{method: "GET", path: path} }

// expect compares the answers of all servers with that of the model: the body, or the errors of a refusal, each as
// "code place" and sorted, and headers, as pairs of name and value. An empty text is not compared.
func (w *randomCase) expect(v *naiveView, request randomRequest, status int, want string, headers ...string) {
	for i, h := range w.servers {
		sent := request
		for name, etag := range w.etags[h] {
			sent.body, sent.match = strings.ReplaceAll(sent.body, name, etag), strings.ReplaceAll(sent.match, name, etag)
		}
		a := h.as(v.name, sent.method, sent.path, sent.body, "Prefer", "count=exact", "If-Match", sent.match, "API-Version", v.version.header())
		h.expectSameByQuery(w.t, sent.method, sent.path, a, "Authorization", h.keys[v.name], "Prefer", "count=exact", "If-Match", sent.match, "API-Version", v.version.header())
		got := a.timeless()
		if a.status >= 400 {
			got = joinSorted(a.faults(w.t))
		}
		matches := a.status == status && (want == "" || got == want)
		for k := 0; k < len(headers); k += 2 {
			if value := a.header.Get(headers[k]); value != headers[k+1] {
				matches, got = false, fmt.Sprintf("%s\n%s: %s, want %s", got, headers[k], value, headers[k+1])
			}
		}
		if !matches {
			w.t.Fatalf("%s, %s: %+v\ngot  %d %s\nwant %d %s\nin\n%s\n%s", w.names[i], v.name, sent, a.status, got, status, want, w.text, w.dump())
		}
	}
}

func joinSorted(texts []string) string {
	return strings.Join(slices.Sorted(slices.Values(texts)), ", ")
}

// dump is all resources, for a message.
func (w *randomCase) dump() (text string) {
	editor := w.views[0]
	for _, c := range editor.schema.Collections() {
		for _, r := range editor.rows[c] {
			text += editor.represent(r, &naiveQuery{}) + "\n"
		}
	}
	return text
}

// changed forgets what holds until something is written.
func (w *randomCase) changed() {
	clear(w.views[0].gone)
	for _, v := range w.views {
		clear(v.seen)
	}
}

// fill creates resources, and then lets them refer to each other.
func (w *randomCase) fill() {
	editor := w.views[0]
	for n, c := range editor.schema.Collections() {
		for i := range pick(w.t, c.Name, []int{0, 5, 7, 8, 9, 10}) {
			write := &naiveWrite{method: "POST", kind: c, id: randomID(n, i), values: map[string]string{}}
			for j := range c.Attributes {
				if a := &c.Attributes[j]; a.References == nil && (a.Required || !w.chance("left out", 6)) {
					write.values[a.Name] = w.drawStored(editor, c, a)
				}
			}
			w.send(editor, write)
		}
	}
	for _, c := range editor.schema.Collections() {
		for _, r := range editor.rows[c] {
			write := &naiveWrite{method: "PATCH", kind: c, id: r.id, values: map[string]string{}}
			for _, relation := range c.Relations() {
				if others := editor.rows[relation.To]; relation.One && len(others) > 0 && !w.chance("null", 4) {
					write.values[referringAttribute(relation)] = quoted(pick(w.t, "other", others).id)
				}
			}
			w.send(editor, write)
		}
	}
}
