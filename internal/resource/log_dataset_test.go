package resource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// logModel is a database and what a naive model knows of it. Collections and attributes have
// numbers of their own, which no name tells.
type logModel struct {
	*testing.T
	random      *rand.Rand
	url         string
	schema      *model.Schema
	store       *store.Store
	resources   *resource.Resources
	collections []*logCollection
	keys        int // given so far

	current  map[logResource]logState
	recorded []logRecord
	position int64 // of the last change that was recorded

	cascades, nulled, schemas, removals int
}

type logCollection struct {
	key        int
	name, was  string // was: before the last step; empty: the same
	attributes []*logAttribute
	references string // what happens when one of the first collection is deleted; empty: does not refer to it
}

type logAttribute struct {
	key             int
	name, was       string
	definition, def string // YAML; the default is JSON, or empty
}

type logResource struct {
	collection int
	id         model.ID
}

// logState is the values of a resource as JSON, by the keys of attributes. Those below zero are
// timestamps.
type logState map[int]string

type logRecord struct {
	position, revision int64
	kind               changelog.Kind
	of                 logResource
	before, after      logState
}

func newLogModel(t *testing.T, url string, seed uint64) *logModel {
	m := &logModel{T: t, random: rand.New(rand.NewPCG(seed, 1)), url: url, current: map[logResource]logState{}}
	m.collections = []*logCollection{
		{name: "roots"}, {name: "leaves", references: "cascade"}, {name: "marks", references: "set_null"},
	}
	for _, c := range m.collections {
		c.key = m.key()
		for range 3 {
			c.attributes = append(c.attributes, m.newAttribute())
		}
		if c.references != "" {
			c.attributes = append(c.attributes, &logAttribute{key: m.key(), name: "root_id"})
		}
	}
	m.open()
	t.Cleanup(func() {
		if err := m.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func (m *logModel) key() int {
	m.keys++
	return m.keys
}

var logTypes = []struct{ definition, def string }{
	{"type: string", `"x"`}, {"type: integer", `7`}, {"type: number", `1.5`}, {"type: boolean", `true`}, {"type: string, format: decimal, scale: 2", `"1.50"`},
	{"type: object", `{"b":[1,{"c":null}],"a":"x"}`}, {"type: string, format: date-time", `"2026-01-02T03:04:05.006Z"`}, {"type: string, format: uuid", `"01936f2e-7d3c-7a4b-9c5d-0123456789ab"`},
}

func (m *logModel) newAttribute() *logAttribute {
	drawn := logTypes[m.random.IntN(len(logTypes))]
	key := m.key()
	return &logAttribute{key: key, name: fmt.Sprint("a", key), definition: drawn.definition}
}

// value draws a value of an attribute.
func (m *logModel) value(a *logAttribute) string {
	if m.random.IntN(4) == 0 && a.definition != "" {
		return "null"
	}
	n := m.random.IntN(4)
	switch a.definition {
	case "type: string":
		return []string{`""`, `"a"`, `"ü\"\\\n"`, `"null"`}[n]
	case "type: integer":
		return []string{`0`, `-1`, `9007199254740993`, `5`}[n]
	case "type: number":
		return []string{`0`, `-1.5`, `1e+300`, `5e-324`}[n]
	case "type: boolean":
		return []string{`true`, `false`, `true`, `false`}[n]
	case "type: string, format: decimal, scale: 2":
		return []string{`"0.00"`, `"-1.20"`, `"9999999999999999.99"`, `"0.01"`}[n]
	case "type: object":
		return []string{`{}`, `{"a":1}`, `{"z":[],"a":{"1":"2"}}`, `{"n":9007199254740993}`}[n]
	case "type: string, format: date-time":
		return []string{`"0001-01-01T00:00:00.000Z"`, `"2026-01-02T03:04:05.006Z"`, `"9999-12-31T23:59:59.999Z"`, `"1999-12-31T22:59:59.001Z"`}[n]
	case "type: string, format: uuid":
		return []string{`"00000000-0000-0000-0000-000000000000"`, `"ffffffff-ffff-ffff-ffff-ffffffffffff"`, `"01936f2e-7d3c-7a4b-9c5d-0123456789ab"`, `"01936f2e-7d3c-7a4b-9c5d-000000000000"`}[n]
	}
	roots := m.existing(m.collections[0])
	if len(roots) == 0 {
		return "null"
	}
	return `"` + roots[m.random.IntN(len(roots))].id.String() + `"`
}

// open opens the database with the schema, and migrates it before if it is not empty.
func (m *logModel) open() {
	m.Helper()
	var b strings.Builder
	b.WriteString("collections:\n")
	renamed := func(was string) string {
		if was == "" {
			return ""
		}
		return ", renamed_from: " + was
	}
	for _, c := range m.collections {
		fmt.Fprintf(&b, "  %s:\n", c.name)
		if c.was != "" {
			fmt.Fprintf(&b, "    renamed_from: %s\n", c.was)
		}
		b.WriteString("    attributes:\n")
		for _, a := range c.attributes {
			if a.definition == "" {
				fmt.Fprintf(&b, "      %s: {references: {collection: %s, on_delete: %s}%s}\n", a.name, m.collections[0].name, c.references, renamed(a.was))
				continue
			}
			fmt.Fprintf(&b, "      %s: {%s%s%s}\n", a.name, a.definition, a.def, renamed(a.was))
		}
	}
	file, err := schema.Parse([]byte(b.String()))
	if err != nil {
		m.Fatalf("%v\n%s", err, b.String())
	}
	m.schema = (*model.Schema)(file.Schema)
	ctx := context.Background()
	if m.store != nil {
		if err := m.store.Close(); err != nil {
			m.Fatal(err)
		}
		if _, err := migrate.Run(ctx, m.url, m.schema, migrate.Options{AllowLoss: true}); err != nil {
			m.Fatalf("%v\n%s", err, b.String())
		}
	}
	if m.store, err = store.Open(ctx, m.url, m.schema); err != nil {
		m.Fatal(err)
	}
	m.resources = resource.New(m.store)
	for _, c := range m.collections {
		c.was = ""
		for _, a := range c.attributes {
			a.was = ""
		}
	}
	m.schemas++
}

// changeSchema takes a few random steps, and rewrites what was recorded.
func (m *logModel) changeSchema() {
	m.Helper()
	each := func(change func(logState)) func(*logCollection) {
		return func(c *logCollection) {
			for of, state := range m.current {
				if of.collection == c.key {
					change(state)
				}
			}
			for _, r := range m.recorded {
				for _, state := range []logState{r.before, r.after} {
					if r.of.collection == c.key && state != nil {
						change(state)
					}
				}
			}
		}
	}
	for range 1 + m.random.IntN(3) {
		c := m.collections[m.random.IntN(len(m.collections))]
		at := m.random.IntN(len(c.attributes))
		a := c.attributes[at]
		switch m.random.IntN(6) {
		case 0:
			if a.was == "" {
				a.was, a.name = a.name, fmt.Sprint("r", m.key())
			}
		case 1:
			if c.was == "" {
				c.was, c.name = c.name, fmt.Sprintf("c%ds", m.key())
			}
		case 2:
			if a.definition == "" || len(c.attributes) < 3 {
				continue
			}
			c.attributes = slices.Delete(c.attributes, at, at+1)
			each(func(s logState) { delete(s, a.key) })(c)
		case 3, 4:
			added := m.newAttribute()
			fill := "null"
			if m.random.IntN(3) > 0 {
				for _, drawn := range logTypes {
					if drawn.definition == added.definition {
						added.def, fill = ", default: "+drawn.def, drawn.def
					}
				}
			}
			c.attributes = slices.Insert(c.attributes, at, added)
			each(func(s logState) { s[added.key] = fill })(c)
		case 5:
			if len(m.collections) < 4 {
				fresh := &logCollection{key: m.key(), name: "extras", attributes: []*logAttribute{m.newAttribute(), m.newAttribute()}}
				m.collections = append(m.collections, fresh)
				continue
			}
			if m.collections[3].was != "" { // renamed by a step before
				continue
			}
			gone := m.collections[3].key
			m.collections = m.collections[:3]
			maps.DeleteFunc(m.current, func(of logResource, _ logState) bool { return of.collection == gone })
			m.recorded = slices.DeleteFunc(m.recorded, func(r logRecord) bool { return r.of.collection == gone })
			m.open() // one step at a time: another collection of the name is another one
		}
	}
	m.open()
}

func (m *logModel) existing(c *logCollection) (found []logResource) {
	for of := range m.current {
		if of.collection == c.key {
			found = append(found, of)
		}
	}
	slices.SortFunc(found, func(a, b logResource) int { return strings.Compare(a.id.String(), b.id.String()) })
	return found
}

// write makes a random request, which may have no effect, and records what it has changed.
func (m *logModel) write() {
	m.Helper()
	c := m.collections[m.random.IntN(len(m.collections))]
	step := resource.Step{Method: http.MethodPost, Path: reads.Path{Collection: m.schema.Collection(c.name)}, BodyLimits: resource.BodyLimits{Depth: 64, Items: 10}}
	body := map[string]json.RawMessage{}
	some := 1
	if there := m.existing(c); len(there) > 0 && m.random.IntN(3) > 0 {
		step.Method, some = http.MethodPatch, 2
		step.ID = there[m.random.IntN(len(there))].id
		if m.random.IntN(3) == 0 {
			step.Method = http.MethodDelete
		}
	} else {
		// Of few ids, so that some are created again.
		id := model.ID{0x01, 0x93, 0x6f, 0x2e, 0x7d, 0x3c, 0x7a, 0x4b, 0x9c, 0x5d, 15: byte(m.random.IntN(40))}
		body["id"] = json.RawMessage(`"` + id.String() + `"`)
	}
	for _, a := range c.attributes {
		if m.random.IntN(some) == 0 {
			body[a.name] = json.RawMessage(m.value(a))
		}
	}
	if step.Method != http.MethodDelete {
		step.Body, _ = json.Marshal(body)
	}
	if err := m.resources.Execute(context.Background(), resource.Request{Steps: []resource.Step{step}}).Err; err != nil && !strings.Contains(err.Error(), "id_exists") {
		m.Fatalf("%s %s: %v", step.Method, step.Body, err)
	}
	m.record()
}
