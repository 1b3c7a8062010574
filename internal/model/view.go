package model

import (
	"cmp"
	"slices"
	"strings"
)

// A version of the interface shows what is stored under other names. Its schema is a view: its collections have the columns of the
// stored ones, in the same order, so that records, filters and sorts mean the same in both. The view also has the collections and
// attributes that the version does not have. They are hidden, under names that nobody can send: see Shows and IsAbsent.

// Shown is how a version declares a collection and the attributes that are stored, in their order. Nil: it does not have them.
type Shown struct {
	Collection *Collection
	Attributes []*Attribute
}

// absentPrefix begins the names of what a version does not have. No declared name begins with it.
const absentPrefix = "~"

// View is the schema under the names of a version.
func (s *Schema) View(versions Versions, of func(stored *Collection) Shown) *Schema {
	v := &Schema{
		versions: versions, base: s, byName: map[string]*Collection{}, bySingular: map[string]*Collection{},
		operations: s.operations, changes: s.changes,
	}
	all := map[*Collection]*Collection{s.operations: s.operations}
	for _, stored := range s.collections {
		all[stored] = stored.under(of(stored))
		all[stored].schema = v
		v.collections = append(v.collections, all[stored])
	}
	for _, stored := range s.collections {
		all[stored].connectAs(stored, all)
	}
	v.relate()
	v.warnings = nil // those of an earlier declaration
	v.index()
	return v
}

// index finds collections by their names.
func (s *Schema) index() {
	for _, c := range s.collections {
		if !c.absent {
			s.byName[c.Name] = c
			s.bySingular[c.Singular] = c
		}
	}
	s.byName[s.operations.Name] = s.operations
	if singular := s.operations.Singular; s.bySingular[singular] == nil && s.byName[singular] == nil {
		s.bySingular[singular] = s.operations // unless something else goes by that name
	}
}

// Of returns the collection of this schema with the same table as c, which belongs to this schema, its base or another view of that.
func (s *Schema) Of(c *Collection) *Collection {
	if s.base == nil {
		return c.Base()
	}
	for _, own := range s.collections {
		if own.base == c.Base() {
			return own
		}
	}
	return c // operations and changes are the same in each version
}

// Base is the schema as it is stored.
func (s *Schema) Base() *Schema {
	if s.base == nil {
		return s
	}
	return s.base
}

// Base is the collection as it is stored: the same one, unless this is that of a version.
func (c *Collection) Base() *Collection {
	if c.base == nil {
		return c
	}
	return c.base
}

// IsAbsent reports whether the version does not have the collection.
func (c *Collection) IsAbsent() bool { return c.absent }

// Shows is the columns that the version has. Nil: all of them.
func (c *Collection) Shows() ColumnSet { return c.shows }

// InVersion is the attribute as its version declares it, for bodies and documents. It has the default of the stored attribute, and also
// refuses what the stored attribute refuses. The attribute itself has the constraints of the stored one.
func (a *Attribute) InVersion() *Attribute {
	if a.inVersion == nil {
		return a
	}
	return a.inVersion
}

// under is the stored collection as a version shows it, without its links.
func (c *Collection) under(shown Shown) *Collection {
	v := &Collection{}
	*v = *c
	v.base, v.absent = c, shown.Collection == nil
	v.links, v.referrers, v.parent, v.children, v.relations = nil, nil, nil, nil, nil
	v.Name, v.Singular, v.Description = absentPrefix+c.Name, absentPrefix+c.Singular, ""
	if !v.absent {
		v.Name, v.Singular, v.Description = shown.Collection.Name, shown.Collection.Singular, shown.Collection.Description
	}
	v.Attributes = slices.Clone(c.Attributes)
	for i := range v.Attributes {
		v.Attributes[i] = c.Attributes[i].under(shown.Attributes[i])
		if declared := shown.Attributes[i]; declared != nil && declared.References != nil {
			v.Attributes[i].Inverse = cmp.Or(shown.Collection.inverseName(declared), v.Attributes[i].Inverse)
		}
	}
	v.columns, v.names = nil, nil
	v.fields, v.attributes = map[string]*Field{"type": c.fields["type"]}, map[string]int{}
	from, to := c.AttributeColumns()
	for i, column := range c.columns {
		if i >= from && i < to {
			column.Attribute = &v.Attributes[i-from]
			column.Name = column.Attribute.Name
			v.attributes[column.Name] = i
		}
		v.addColumn(column)
	}
	v.shows = c.ColumnsWhere(func(i int, column Column) bool {
		return !v.absent && (column.Attribute == nil || shown.Attributes[i-from] != nil) &&
			!(shown.Collection.NoTimestamps && (i == c.created || i == c.updated))
	})
	v.writable = v.ColumnsWhere(v.isWritable)
	v.rename(c, c.AttributeNames(), v.AttributeNames())
	if rules, ok := c.rules.(interface{ Under(*Collection) any }); ok { // a rules.Set, whose package imports this one
		v.rules = rules.Under(v)
	}
	return v
}

// under is the stored attribute as a version shows it.
func (a *Attribute) under(declared *Attribute) Attribute {
	v := *a
	v.As, v.Inverse = absentPrefix+a.Name, absentPrefix+a.Name // unless the version has these relations
	if declared == nil {
		v.Name = absentPrefix + a.Name
		return v
	}
	v.Name, v.Description, v.inVersion = declared.Name, declared.Description, declared.boundBy(a)
	v.inVersion.Default, v.inVersion.compiled.Default = a.Default, a.compiled.Default
	v.inVersion.Required = a.Required || declared.Required
	if declared.References != nil {
		v.As = declared.As
	}
	return v
}

// rename replaces the names of attributes in the declarations of the collection.
func (c *Collection) rename(stored *Collection, from, to []string) {
	renamed := func(name string) string {
		first, rest, _ := strings.Cut(name, ".")
		descending := strings.HasPrefix(first, "-")
		if i := slices.Index(from, strings.TrimPrefix(first, "-")); i >= 0 {
			first = to[i]
			if descending {
				first = "-" + first
			}
		}
		if rest != "" {
			first += "." + rest
		}
		return first
	}
	all := func(names []string) (renamedNames []string) {
		for _, name := range names {
			renamedNames = append(renamedNames, renamed(name))
		}
		return renamedNames
	}
	c.Unique, c.Index = nil, nil
	for _, group := range stored.Unique {
		c.Unique = append(c.Unique, all(group))
	}
	for _, group := range stored.Index {
		c.Index = append(c.Index, all(group))
	}
	c.Search, c.Label = all(stored.Search), renamed(stored.Label)
	c.Checks = slices.Clone(stored.Checks)
	for i := range c.Checks {
		c.Checks[i].Attribute = renamed(c.Checks[i].Attribute)
	}
}

// connectAs gives the collection the links of the stored one, to the collections of the version.
func (c *Collection) connectAs(stored *Collection, all map[*Collection]*Collection) {
	as := func(link Link) Link {
		link.From, link.To = all[link.From], all[link.To]
		return link
	}
	for _, link := range stored.links {
		c.links = append(c.links, as(link))
		a := c.columns[link.Column].Attribute
		reference := *a.References
		reference.Collection = all[link.To].Name
		a.References = &reference
	}
	for _, link := range stored.referrers {
		c.referrers = append(c.referrers, as(link))
	}
	if stored.parent != nil {
		parent, link := *stored.Parent, as(*stored.parent)
		parent.Collection, parent.Attribute = link.To.Name, c.columns[link.Column].Name
		c.parent, c.Parent = &link, &parent
	}
	for _, child := range stored.children {
		c.children = append(c.children, all[child])
	}
}
