package ts

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/model"
)

// names makes unique names of types. It avoids names that the runtime declares or uses: an
// interface Date would hide the global one.
type names map[string]bool

var (
	notCode    = regexp.MustCompile(`(?s)"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*`) // text and comments
	typeName   = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]*\b`)
	identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)
)

func newNames(runtime string) names {
	taken := names{"Client": true, "Function": true} // names that the generated part uses
	for _, name := range typeName.FindAllString(notCode.ReplaceAllString(runtime, ""), -1) {
		taken[name] = true
	}
	return taken
}

// suffixes make the names of the types of a collection from the name of its resources.
var suffixes = []string{"", "Create", "Replace", "Patch", "Filter", "Sort", "Groups", "Transitions", "Shape"}

// of is the name of the type of a resource: BlogPost for blog-posts, and DateResource for dates,
// because Date is taken.
func (n names) of(c *model.Collection) string {
	base := model.Pascal(c.Singular)
	name := base
	for i := 1; !n.free(name); i++ {
		name = base + "Resource"
		if i > 1 {
			name += strconv.Itoa(i)
		}
	}
	for _, suffix := range suffixes {
		n[name+suffix] = true
	}
	return name
}

func (n names) free(name string) bool {
	return !slices.ContainsFunc(suffixes, func(suffix string) bool { return n[name+suffix] })
}

// member is the name of a member of an object, in quotes if it must be.
func member(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return literal(name)
}

// typed declares a member of an object. Every object has a member constructor, a function, so an
// optional attribute of this name needs another type.
func typed(name, optional, value string) string {
	if name == "constructor" && optional != "" {
		value += " | Function"
	}
	return member(name) + optional + ": " + value
}

func quotedAll(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = literal(name)
	}
	return all
}
