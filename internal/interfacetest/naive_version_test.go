package interfacetest

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// naiveVersion is a version of the interface. What it does not have is hidden from its view as from a caller who may not see it. The
// model has the newest names, and these are the others, by collection, and by collection.member for attributes and relations.
type naiveVersion struct {
	number   string                       // as the header has it
	names    map[string]string            // of all that it has
	values   map[string][]string          // of attributes with constraints that became looser: those to draw
	refusals map[string]map[string]string // of attributes, the codes of values that the newest version accepts and this one does not
	required map[string]bool              // attributes
}

// header is the value of API-Version, empty without a version.
func (n *naiveVersion) header() string {
	if n == nil {
		return ""
	}
	return n.number
}

// absent begins names of what a version does not have.
const absent = "~"

// collection is what a collection is called.
func (v *naiveView) collection(c *model.Collection) string {
	if v.version == nil {
		return c.Name
	}
	return v.version.names[c.Name]
}

// member is what an attribute or a relation of a collection is called.
func (v *naiveView) member(c *model.Collection, name string) string {
	if v.version == nil || slices.Contains([]string{"id", "type", "created_at", "updated_at"}, name) {
		return name
	}
	if called, known := v.version.names[c.Name+"."+name]; known {
		return called
	}
	return absent + name
}

// members is what several members are called.
func (v *naiveView) members(c *model.Collection, names []string) (called []string) {
	for _, name := range names {
		called = append(called, v.member(c, name))
	}
	return called
}

// lacks reports whether the version does not have a member.
func (v *naiveView) lacks(c *model.Collection, name string) bool {
	return strings.HasPrefix(v.member(c, name), absent)
}

// collections are those that the version has.
func (v *naiveView) collections() (known []*model.Collection) {
	for _, c := range v.schema.Collections() {
		if v.version == nil || v.grant(c) != nil {
			known = append(known, c)
		}
	}
	return known
}

// attributes are those of a collection that the caller sees.
func (v *naiveView) attributes(c *model.Collection) (known []*model.Attribute) {
	for i := range c.Attributes {
		if v.knows(c, c.Attributes[i].Name) {
			known = append(known, &c.Attributes[i])
		}
	}
	return known
}

// requires reports whether an attribute is required, by the version or the schema.
func (v *naiveView) requires(c *model.Collection, a *model.Attribute) bool {
	return a.Required || v.version != nil && v.version.required[c.Name+"."+a.Name]
}

// allowed are the values that are drawn of an attribute. Nil: any of its type.
func (v *naiveView) allowed(c *model.Collection, a *model.Attribute) []string {
	if v.version == nil {
		return nil
	}
	return v.version.values[c.Name+"."+a.Name]
}

// refused are the codes of values that the schema accepts and the version does not.
func (v *naiveView) refused(c *model.Collection, a *model.Attribute) map[string]string {
	if v.version == nil {
		return nil
	}
	return v.version.refusals[c.Name+"."+a.Name]
}
