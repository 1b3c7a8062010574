package interfacetest

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
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

// TestRandomSchemas draws a schema with row rules and hidden attributes, writes resources on each database,
// and compares what several callers get for random requests with a naive model.
func TestRandomSchemas(t *testing.T) {
	t.Parallel()
	checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	cases, failed := 0, false
	rapid.Check(t, func(rt *rapid.T) {
		// A case is two servers and takes a second of CPU time, so there are fewer.
		if cases++; cases > max(checks/10, 1) && !failed {
			return
		}
		passed := false
		defer func() { failed = failed || !passed }()
		text := drawSchema(rt)
		file, err := schema.Parse([]byte(text))
		if err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		w := &randomCase{dice: &dice{rt}, text: text}
		m := &naive{schema: (*model.Schema)(file.Schema), access: file.Access, rows: map[*model.Collection][]*naiveRow{}, programs: map[string]cel.Program{}}
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
			w.servers, w.names = append(w.servers, h), append(w.names, name)
		}
		w.fill()
		for i := range 3 {
			for range 12 {
				w.list(pick(rt, "caller", w.views))
				w.group(pick(rt, "caller", w.views))
			}
			w.writeMany()
			w.upsert(i)
		}
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
}

// expect compares the answers of all servers with that of the model. An empty body is not compared.
func (w *randomCase) expect(v *naiveView, method, path, body string, status int, want string, total ...int) {
	for i, h := range w.servers {
		a := h.as(v.name, method, path, body, "Prefer", "count=exact")
		if got := a.timeless(); a.status != status || want != "" && got != want || len(total) > 0 && a.header.Get("X-Total-Count") != fmt.Sprint(total[0]) {
			w.t.Fatalf("%s, %s: %s %s %s\ngot  %d %s\nwant %d %s\ntotal %s, want %v\nin\n%s\n%s", w.names[i], v.name, method, path, body, a.status, got, status, want, a.header.Get("X-Total-Count"), total, w.text, w.dump())
		}
	}
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

func (w *randomCase) changed() {
	for _, v := range w.views {
		clear(v.seen)
	}
}

// fill creates resources, and then lets them refer to each other.
func (w *randomCase) fill() {
	editor := w.views[0]
	for n, c := range editor.schema.Collections() {
		for i := range pick(w.t, c.Name, []int{0, 5, 7, 8, 9, 10}) {
			r := &naiveRow{id: randomID(n, i), kind: c, values: map[string]string{}}
			members := []string{`"id":` + quoted(r.id)}
			for j := range c.Attributes {
				a := &c.Attributes[j]
				r.values[a.Name] = "null"
				if a.References == nil {
					r.values[a.Name] = w.drawStored(a)
				}
				members = append(members, quoted(a.Name)+":"+r.values[a.Name])
			}
			status, want := 409, ""
			if w.owner(r) == nil {
				editor.rows[c] = append(editor.rows[c], r)
				status, want = 201, `{"data":`+editor.represent(r, &naiveQuery{})+`}`
			}
			w.expect(editor, "POST", "/"+c.Name, "{"+strings.Join(members, ",")+"}", status, want)
		}
	}
	for _, c := range editor.schema.Collections() {
		for _, r := range editor.rows[c] {
			var members []string
			before := map[string]string{}
			for _, relation := range c.Relations() {
				if others := editor.rows[relation.To]; relation.One && len(others) > 0 && !w.chance("null", 4) {
					name := referringAttribute(relation)
					before[name] = r.values[name]
					r.values[name] = quoted(pick(w.t, "other", others).id)
					members = append(members, quoted(name)+":"+r.values[name])
				}
			}
			status, want := 200, `{"data":`+editor.represent(r, &naiveQuery{})+`}`
			if w.owner(r) != nil {
				status, want = 409, ""
				for name, value := range before {
					r.values[name] = value
				}
			}
			w.expect(editor, "PATCH", "/"+c.Name+"/"+r.id, "{"+strings.Join(members, ",")+"}", status, want)
		}
	}
	w.changed()
}
