package migrate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/versions"
)

// A declaredAttribute is what the test knows of an attribute. It keeps its identity, whatever its name is.
type declaredAttribute struct {
	identity, target int // target is the identity of a collection; 0: it is no reference
	name, from, kind string
	required, filled bool // filled: it has a default
	until            int
}

type declaredCollection struct {
	identity   int
	name, from string
	attributes []declaredAttribute
}

type declaredSchema struct {
	version     int
	collections []declaredCollection
}

// evolution makes schemas that follow each other.
type evolution struct {
	*rand.Rand
	last int // identity
}

func (e *evolution) identity() int {
	e.last++
	return e.last
}

// unused is a name that neither of two lists has: a name that was there before would still mean the same.
func (e *evolution) unused(taken []string) string {
	for {
		if name := string(rune('a'+e.IntN(12))) + "s"; !slices.Contains(taken, name) {
			return name
		}
	}
}

func (s declaredSchema) names() (names []string) {
	for _, c := range s.collections {
		names = append(names, c.name)
	}
	return names
}

func (c declaredCollection) names() (names []string) {
	for _, a := range c.attributes {
		names = append(names, a.name)
	}
	return names
}

// next is the schema of the next version.
func (e *evolution) next(before declaredSchema) declaredSchema {
	after := declaredSchema{version: before.version + 1}
	for _, c := range before.collections {
		c.attributes, c.from = slices.Clone(c.attributes), ""
		taken := c.names()
		for i := range c.attributes {
			c.attributes[i].from = ""
		}
		if n := len(c.attributes); n > 0 {
			a := &c.attributes[e.IntN(n)]
			switch e.IntN(10) {
			case 0, 1, 2:
				a.from, a.name = a.name, e.unused(taken)
				taken = append(taken, a.name)
			case 3:
				if a.until == 0 && before.version > 0 && (!a.required || a.filled) {
					a.until = 1 + e.IntN(before.version)
				}
			case 4:
				if a.target == 0 {
					a.kind, a.filled = e.kind(), false
					a.required = a.required && a.until == 0
				}
			case 5:
				c.attributes = slices.Delete(c.attributes, 0, 1)
			}
		}
		if e.IntN(3) == 0 && len(taken) < 8 {
			added := declaredAttribute{identity: e.identity(), name: e.unused(taken), kind: e.kind(), required: e.IntN(3) == 0, filled: e.IntN(4) > 0}
			if e.IntN(3) == 0 {
				added.target, added.required, added.filled = before.collections[e.IntN(len(before.collections))].identity, false, false
			}
			c.attributes = append(c.attributes, added)
		}
		after.collections = append(after.collections, c)
	}
	taken := before.names()
	switch c := &after.collections[e.IntN(len(after.collections))]; e.IntN(8) {
	case 0, 1:
		c.from, c.name = c.name, e.unused(taken)
	case 2:
		after.collections = append(after.collections, declaredCollection{identity: e.identity(), name: e.unused(taken)})
	case 3:
		if gone := c.identity; len(after.collections) > 2 {
			after.collections = slices.DeleteFunc(after.collections, func(c declaredCollection) bool { return c.identity == gone })
			for i := range after.collections {
				after.collections[i].attributes = slices.DeleteFunc(after.collections[i].attributes, func(a declaredAttribute) bool { return a.target == gone })
			}
		}
	}
	return after
}

func (e *evolution) kind() string { return []string{"string", "integer", "boolean"}[e.IntN(3)] }

func (s declaredSchema) find(identity int) *declaredCollection {
	for i := range s.collections {
		if s.collections[i].identity == identity {
			return &s.collections[i]
		}
	}
	return nil
}

// yaml is the schema file.
func (s declaredSchema) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: %d\ncollections:\n", s.version)
	for _, c := range s.collections {
		fmt.Fprintf(&b, "  %s:\n    singular: one-%s\n", c.name, c.name)
		if c.from != "" {
			fmt.Fprintf(&b, "    renamed_from: %s\n", c.from)
		}
		var attributes, required []string
		for _, a := range c.attributes {
			text := "type: " + a.kind
			if a.target != 0 {
				text = fmt.Sprintf("references: %s, as: to-%d, inverse: of-%d", s.find(a.target).name, a.identity, a.identity)
				text = strings.ReplaceAll(text, "-", "_")
			}
			if a.from != "" {
				text += ", renamed_from: " + a.from
			}
			if a.until != 0 {
				text += fmt.Sprintf(", until: %d", a.until)
			}
			if a.filled {
				text += ", default: " + map[string]string{"string": "x", "integer": "1", "boolean": "true"}[a.kind]
			}
			if a.required {
				required = append(required, a.name)
			}
			attributes = append(attributes, a.name+": {"+text+"}")
		}
		fmt.Fprintf(&b, "    attributes: {%s}\n    required: [%s]\n", strings.Join(attributes, ", "), strings.Join(required, ", "))
	}
	return b.String()
}

// serves reports whether the later schema keeps what a version shows, and asks no more of its clients.
func (s declaredSchema) serves(version declaredSchema) bool {
	for _, was := range version.collections {
		is := s.find(was.identity)
		if is == nil {
			return false
		}
		shown := map[int]bool{}
		for _, a := range was.attributes {
			if a.until != 0 && a.until < version.version {
				continue
			}
			shown[a.identity] = true
			at := slices.IndexFunc(is.attributes, func(now declaredAttribute) bool { return now.identity == a.identity })
			if at < 0 {
				return false
			}
			if now := is.attributes[at]; now.kind != a.kind || now.until != 0 && now.until < version.version {
				return false
			}
		}
		for _, a := range is.attributes {
			if !shown[a.identity] && a.required && !a.filled {
				return false
			}
		}
	}
	return true
}

// sorted is an outline without the order of collections, attributes and relations.
func sorted(outline string) string {
	lines := strings.Split(outline, "\n")
	for i, line := range lines {
		words := strings.Fields(line)
		slices.Sort(words)
		lines[i] = strings.Join(words, " ")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestViewsOfRandomSchemas: of schemas that follow each other, each version shows the last one exactly as it was declared, or has ended
// where it must.
func TestViewsOfRandomSchemas(t *testing.T) {
	served, ended := 0, 0
	for seed := range uint64(300) {
		e := &evolution{Rand: rand.New(rand.NewPCG(seed, 38))} // #nosec G404 -- for a test
		first := declaredSchema{version: 1}
		for _, name := range []string{"as", "bs"} {
			first.collections = append(first.collections, declaredCollection{identity: e.identity(), name: name, attributes: []declaredAttribute{
				{identity: e.identity(), name: "as", kind: "string", required: true}, {identity: e.identity(), name: "bs", kind: "integer"},
			}})
		}
		chain := []declaredSchema{first}
		for range 1 + e.IntN(6) {
			chain = append(chain, e.next(chain[len(chain)-1]))
		}
		var files []string
		for _, s := range chain {
			files = append(files, s.yaml())
		}
		all := shapes(t, files...)
		last := len(chain) - 1
		for i := range last {
			view, reasons := versions.View(all[last], all[i])
			want := chain[last].serves(chain[i])
			switch {
			case want != (reasons == nil):
				t.Fatalf("seed %d, version %d: ended by %v, want it served: %v\n%s", seed, i+1, reasons, want, strings.Join(files[i:], "----\n"))
			case !want:
				ended++
			case sorted(outline(view)) != sorted(outline(all[i].Schema)):
				t.Fatalf("seed %d, version %d: got\n%s\nwant\n%s\n%s", seed, i+1, outline(view), outline(all[i].Schema), strings.Join(files[i:], "----\n"))
			default:
				served++
			}
		}
	}
	if served < 100 || ended < 100 {
		t.Errorf("only %d versions were served, and %d ended", served, ended)
	}
}
