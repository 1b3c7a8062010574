package model

import (
	"fmt"
	"slices"
	"strings"
)

// Relation is a reference under the name by which clients include and filter related resources. From is the
// collection that has this name, whichever of the two has the attribute: see One.
type Relation struct {
	Name string
	From *Collection // the collection that has the relation
	To   *Collection
	// Column is the referring column: in From if One, else in To.
	Column int
	// One: a resource of From refers to one resource of To. Otherwise resources of To refer to
	// one of From.
	One bool
}

// TotalName is the member with the number of related resources.
func (r *Relation) TotalName() string { return r.Name + "_total" }

// Referring is the collection that has the referring column.
func (r *Relation) Referring() *Collection {
	if r.One {
		return r.From
	}
	return r.To
}

// Relations lists the relations of the collection that have a name of their own: its references in the
// order of the attributes, then the references to it in the order of the schema.
func (c *Collection) Relations() []*Relation { return c.relations }

// Relation finds a relation by its name, or returns nil.
func (c *Collection) Relation(name string) *Relation {
	for _, relation := range c.relations {
		if relation.Name == name {
			return relation
		}
	}
	return nil
}

// Warnings lists what is valid in the schema, and probably not meant.
func (s *Schema) Warnings() []string { return s.warnings }

// Warn adds a warning. Only package compile calls it, while it makes the schema.
func (s *Schema) Warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// relationName is the name of the relation to the resource that the attribute refers to: author of
// author_id. Where it equals the name of the attribute, there is none without as.
func (a *Attribute) relationName() string {
	if a.As != "" {
		return a.As
	}
	return strings.TrimSuffix(a.Name, "_id")
}

// inverseName is the name of the relation to the resources of the collection that refer to one by
// the attribute, empty if there is none.
func (c *Collection) inverseName(a *Attribute) string {
	if a.Inverse == "" && c.Parent != nil && c.Parent.Attribute == a.Name {
		return c.Name
	}
	return a.Inverse
}

// relate gives the collections their relations. Those without a name of their own are left out, with
// a warning, and those that a version does not have.
func (s *Schema) relate() {
	for _, c := range s.collections {
		for _, link := range c.links {
			c.relations = append(c.relations, &Relation{Name: c.columns[link.Column].Attribute.relationName(), From: c, To: link.To, Column: link.Column, One: true})
		}
	}
	for _, c := range s.collections {
		for _, link := range c.links {
			if name := c.inverseName(c.columns[link.Column].Attribute); name != "" {
				link.To.relations = append(link.To.relations, &Relation{Name: name, From: link.To, To: c, Column: link.Column})
			}
		}
	}
	for _, c := range s.collections {
		count := map[string]int{}
		for _, relation := range c.relations {
			count[relation.Name]++
		}
		var kept []*Relation
		for _, relation := range c.relations {
			switch {
			case strings.HasPrefix(relation.Name, absentPrefix):
			case c.fields[relation.Name] != nil:
				s.warnOfName(relation, "an attribute")
			case count[relation.Name] > 1:
				s.warnOfName(relation, "another relation")
			default:
				kept = append(kept, relation)
			}
		}
		c.relations = kept
		s.warnOfCount(c)
	}
}

// warnOfCount warns where an attribute or a relation has the name by which clients count related resources.
func (s *Schema) warnOfCount(c *Collection) {
	const name = "count"
	many := slices.IndexFunc(c.relations, func(r *Relation) bool { return !r.One })
	if many < 0 || c.fields[name] == nil && c.Relation(name) == nil {
		return
	}
	what := "attribute"
	if c.fields[name] == nil {
		what = "relation"
	}
	s.Warn("%s: the %s %s has the name by which related resources are counted: filters and sorts cannot use %s.%s: give the %s another name",
		c.Name, what, name, name, c.relations[many].Name, what)
}

func (s *Schema) warnOfName(r *Relation, other string) {
	keyword := "inverse"
	if r.One {
		keyword = "as"
	}
	from := r.Referring()
	attribute, instead := from.columns[r.Column].Name, ""
	if r.One && attribute == r.Name {
		instead = fmt.Sprintf("call the attribute %s_id (with renamed_from: %s, it keeps its values), or ", attribute, attribute)
	}
	s.Warn("%s: the relation %s cannot be used in include, filters and sorts, as %s has the same name: %swrite %s: and another name beside the references of %s in %s",
		r.From.Name, r.Name, other, instead, keyword, attribute, from.Name)
}
