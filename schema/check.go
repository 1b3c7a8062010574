package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/suggest"
)

// path leads to a place in a schema, step by step, as it is written in YAML.
type path []string

func (p path) to(steps ...string) path { return slices.Concat(p, steps) }

// key makes a path comparable. No name in a file can hold its separator.
func (p path) key() string { return strings.Join(p, "\x00") }

func (p path) item(index int) path { return p.to(strconv.Itoa(index)) }

// checker goes through a whole schema and collects what is wrong.
type checker struct {
	declared []Collection
	problems Problems
	reported map[string]bool // paths
}

// report notes a problem. The first one at a place is enough there: the others
// are mostly its consequences.
func (k *checker) report(at path, format string, args ...any) {
	if key := at.key(); !k.reported[key] {
		k.reported[key] = true
		k.problems = append(k.problems, Problem{Path: at, Message: fmt.Sprintf(format, args...)})
	}
}

func (k *checker) schema() {
	root := path{"collections"}
	if len(k.declared) == 0 {
		k.report(root, "there must be at least one collection, for example users with the attribute name")
	}
	for i := range k.declared {
		c := &k.declared[i]
		at := root.to(c.Name)
		if c.Name == "" {
			at = root.item(i)
		}
		k.collectionName(c, k.declared[:i], at)
		k.singular(c, k.declared[:i], at.to("singular"))
		k.attributes(c, at)
		k.parent(c, at.to("parent"))
		k.async(c, at.to("async"))
		k.groups(c, at)
	}
	k.renamed(collectionName, len(k.declared), func(i int) (string, string, path) {
		c := &k.declared[i]
		return c.Name, c.RenamedFrom, root.to(c.Name, "renamed_from")
	})
}

// renamed checks the former names of n things, which are gone: each can have
// become one thing only, and none is still there.
func (k *checker) renamed(rule nameRule, n int, names func(i int) (now, before string, at path)) {
	declared, taken := map[string]bool{}, map[string]string{}
	for i := range n {
		now, _, _ := names(i)
		declared[now] = true
	}
	for i := range n {
		now, before, at := names(i)
		if before == "" {
			continue
		}
		if problem := nameProblem(rule, before); problem != "" {
			k.report(at, "%s", problem)
		} else if declared[before] {
			k.report(at, "there is still %s %s, so this one cannot have been renamed from it: remove renamed_from, or the other one", article(rule.what), before)
		} else if taken[before] != "" {
			k.report(at, "%s is renamed from %s already: remove one renamed_from", taken[before], before)
		}
		taken[before] = now
	}
}

// nameRule is what the name of something must look like.
type nameRule struct {
	what     string
	pattern  *regexp.Regexp
	allowed  string
	reserved []string
}

const maxName = 63

var (
	collectionName = nameRule{
		what:     "collection",
		pattern:  regexp.MustCompile(`^[a-z]([a-z0-9_-]*[a-z0-9_])?$`),
		allowed:  "a lower-case letter, then lower-case letters, digits, _ and (not at the end) -",
		reserved: []string{"operations", "collections"},
	}
	attributeName = nameRule{
		what:     "attribute",
		pattern:  regexp.MustCompile(`^[a-z][a-z0-9_]*$`),
		allowed:  "a lower-case letter, then lower-case letters, digits and _",
		reserved: []string{"id", "type", "created_at", "updated_at"},
	}
)

// nameProblem says what is wrong with a name, or nothing.
func nameProblem(rule nameRule, name string) string {
	switch {
	case slices.Contains(rule.reserved, name):
		return fmt.Sprintf("the name %s is reserved: choose another one", name)
	case !rule.pattern.MatchString(name):
		return fmt.Sprintf("%q cannot be the name of %s: use %s", name, article(rule.what), rule.allowed)
	case len(name) > maxName:
		return fmt.Sprintf("the name of %s can have at most %d characters, but this one has %d", article(rule.what), maxName, len(name))
	}
	return ""
}

func (k *checker) collectionName(c *Collection, earlier []Collection, at path) {
	if problem := nameProblem(collectionName, c.Name); problem != "" {
		k.report(at, "%s", problem)
	}
	for i := range earlier {
		if earlier[i].Name == c.Name {
			k.report(at, "the collection %s is declared twice: remove one of them, or rename it", c.Name)
		}
	}
}

func (k *checker) singular(c *Collection, earlier []Collection, at path) {
	if nameProblem(collectionName, c.Name) != "" {
		return
	}
	if c.Singular == "" {
		k.report(at, "no singular can be derived from %s: add singular: with a name for one of them", c.Name)
		return
	}
	if problem := nameProblem(collectionName, c.Singular); problem != "" {
		k.report(at, "%s", problem)
		return
	}
	if c.Singular == "operation" || c.Singular == "collection" { // of the reserved names
		k.report(at, "the singular %s is reserved: add singular: with another name", c.Singular)
		return
	}
	for i := range k.declared {
		if c.Singular == k.declared[i].Name {
			k.report(at, "the singular %s is also the name of a collection: add singular: with another name", c.Singular)
		}
	}
	for i := range earlier {
		if c.Singular == earlier[i].Singular && c.Name != earlier[i].Name {
			k.report(at, "the singular %s is also that of %s: add singular: with another name", c.Singular, earlier[i].Name)
		}
	}
}

// maxAttributes is within what every database can hold in one table.
const maxAttributes = 1000

func (k *checker) attributes(c *Collection, at path) {
	if n := len(c.Attributes); n > maxAttributes {
		k.report(at.to("attributes"), "there are %d attributes, and no database holds so many: declare at most %d, and put the rest into objects", n, maxAttributes)
		return
	}
	for i := range c.Attributes {
		a := &c.Attributes[i]
		place := at.to("attributes", a.Name)
		if a.Name == "" {
			place = at.to("attributes").item(i)
		}
		if problem := nameProblem(attributeName, a.Name); problem != "" {
			k.report(place, "%s", problem)
		}
		if c.attribute(a.Name) != a {
			k.report(place, "the attribute %s is declared twice: remove one of them, or rename it", a.Name)
		}
		if a.References != nil {
			k.reference(c, a, at)
		}
		k.attribute(a, place, 1)
	}
	k.renamed(attributeName, len(c.Attributes), func(i int) (string, string, path) {
		a := &c.Attributes[i]
		return a.Name, a.RenamedFrom, at.to("attributes", a.Name, "renamed_from")
	})
}

func (k *checker) reference(c *Collection, a *Attribute, at path) {
	place := at.to("attributes", a.Name)
	if a.Type != String && isType(a.Type) {
		k.report(place.to("type"), "%s holds the id of another resource: leave out type, or write string", a.Name)
	} else if a.Format != UUID && isFormat(a.Format) {
		k.report(place.to("format"), "%s holds the id of another resource: leave out format, or write uuid", a.Name)
	}
	if a.Default != nil {
		k.report(place.to("default"), "a reference cannot have a default: remove it")
	}
	link := place.to("references")
	if c.Parent != nil && c.Parent.Attribute == a.Name {
		if a.References.Collection != c.Parent.Collection {
			k.report(link.to("collection"), "%s holds the id of the parent, so it must refer to %s and not to %s: change it, or the attribute of the parent", a.Name, c.Parent.Collection, a.References.Collection)
			return
		}
		if a.References.OnDelete != c.Parent.OnDelete {
			k.report(at.to("parent", "on_delete"), "the parent says %s, but the attribute %s says %s: keep one of them", c.Parent.OnDelete, a.Name, a.References.OnDelete)
			return
		}
		link = at.to("parent")
	}
	k.collectionExists(a.References.Collection, link.to("collection"))
	k.onDelete(a.References.OnDelete, link.to("on_delete"))
	if a.References.OnDelete == SetNull && a.Required {
		k.report(link.to("on_delete"), "set_null needs an attribute that can be null, and %s is required: use restrict or cascade, or make it not required", a.Name)
	}
}

var onDeletes = []OnDelete{Restrict, Cascade, SetNull}

func (k *checker) onDelete(choice OnDelete, at path) {
	if !slices.Contains(onDeletes, choice) {
		k.report(at, "on_delete must be %s, but is %q%s", oneOf(onDeletes), choice, suggest.DidYouMean(string(choice), onDeletes))
	}
}

// parent checks what is left to check of a parent: everything else is found in
// the attribute that fillIn made of it.
func (k *checker) parent(c *Collection, at path) {
	if c.Parent == nil || c.attribute(c.Parent.Attribute) != nil {
		return
	}
	if c.Parent.OnDelete != "" {
		k.onDelete(c.Parent.OnDelete, at.to("on_delete"))
	}
	// Without a name of the parent, or with one that has no singular, there is
	// no name for the attribute either.
	if k.collectionExists(c.Parent.Collection, at.to("collection")) && c.Parent.Attribute != "" {
		k.report(at.to("attribute"), "%s", nameProblem(attributeName, c.Parent.Attribute))
	}
}

func (k *checker) collectionExists(name string, at path) bool {
	var names []string
	for i := range k.declared {
		names = append(names, k.declared[i].Name)
	}
	switch {
	case slices.Contains(names, name):
		return true
	case name == "":
		k.report(at, "name a collection: %s", oneOf(names))
	default:
		k.report(at, "there is no collection %q%s", name, suggest.DidYouMean(name, names))
	}
	return false
}

// article puts "a" or "an" before a noun.
func article(noun string) string {
	if strings.ContainsRune("aeio", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func (k *checker) async(c *Collection, at path) {
	for i, method := range c.Async {
		if !slices.Contains(WriteMethods(), method) {
			k.report(at.item(i), "%q is no method that writes: use %s", method, oneOf(WriteMethods()))
		} else if slices.Contains(c.Async[:i], method) {
			k.report(at.item(i), "%s is listed twice: remove one of them", method)
		}
	}
}
