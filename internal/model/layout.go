package model

import (
	"maps"
	"slices"
)

// Column is one column of a collection's table.
type Column struct {
	Name      string
	Kind      Kind
	NotNull   bool
	Attribute *Attribute // nil for id, created_at, updated_at and the revision
}

// Field is what a filter or a sort key can name: an attribute, id, type,
// created_at or updated_at.
type Field struct {
	Name   string
	Kind   Kind
	Column int // NoColumn for type, which is the same for the whole collection
}

// NoColumn is the column of a field that is not stored.
const NoColumn = -1

// IDColumn is the index of the id among the columns of every collection.
const IDColumn = 0

// RevisionName is the column that holds the revision of a resource's last
// change. No attribute can have this name.
const RevisionName = "_revision"

// CallerName is the column of the operations that says whose they are. It is no
// part of their representation.
const CallerName = "_caller"

// Link is a reference, from the collection that has the attribute to the one that it refers to. A collection lists
// its own (Links), and those that lead to it (Referrers). See Relation for the names that clients use.
type Link struct {
	From     *Collection // the collection with the referring attribute
	Column   int         // its column in From
	To       *Collection
	OnDelete OnDelete
}

// layout is the compiled form of a collection.
type layout struct {
	columns    []Column
	fields     map[string]*Field
	created    int // column of created_at, NoColumn without timestamps
	updated    int
	shown      int // as many columns are part of a representation
	unique     [][]int
	index      []IndexGroup
	searched   []int
	links      []Link
	referrers  []Link
	parent     *Link
	children   []*Collection
	relations  []*Relation
	names      [][]byte // `,"name":` for every column
	attributes map[string]int
	builtIn    bool
	writable   ColumnSet
	rules      any
	schema     *Schema

	// Of a collection of a version: see view.go.
	base   *Collection
	absent bool
	shows  ColumnSet
}

// Schema is the schema that the collection is part of.
func (c *Collection) Schema() *Schema { return c.schema }

// Rules is what package rules made of the rules of the collection; nil: it has none. Use rules.Of.
func (c *Collection) Rules() any { return c.rules }

// SetRules is for package compile.
func (c *Collection) SetRules(rules any) { c.rules = rules }

// Columns lists the columns of the collection's table: id, the attributes in
// the order of the schema, created_at and updated_at if there are any, of
// operations the caller, and the revision.
func (c *Collection) Columns() []Column { return c.columns }

// Field finds a field by name, or returns nil.
func (c *Collection) Field(name string) *Field { return c.fields[name] }

// FieldNames lists the names of all fields, sorted.
func (c *Collection) FieldNames() []string {
	return slices.Sorted(maps.Keys(c.fields))
}

// Writable is the columns that clients may set: those that the version has, without computed attributes. Nil: all of them.
func (c *Collection) Writable() ColumnSet { return c.writable }

// AttributeColumns is the half-open range of the columns that are attributes.
func (c *Collection) AttributeColumns() (from, to int) { return 1, 1 + len(c.Attributes) }

// CreatedColumn is the column of created_at, or NoColumn.
func (c *Collection) CreatedColumn() int { return c.created }

// UpdatedColumn is the column of updated_at, or NoColumn.
func (c *Collection) UpdatedColumn() int { return c.updated }

// RevisionColumn is the column of the revision, always the last.
func (c *Collection) RevisionColumn() int { return len(c.columns) - 1 }

// CallerColumn is the column of the operations that says whose they are.
func (c *Collection) CallerColumn() int { return c.RevisionColumn() - 1 }

// UniqueGroups lists the groups of columns whose values no two resources share.
func (c *Collection) UniqueGroups() [][]int { return c.unique }

// GivenGroups lists the unique groups whose values an input can have, for upserts: those without computed attributes.
func (c *Collection) GivenGroups() [][]int {
	return slices.DeleteFunc(slices.Clone(c.unique), func(group []int) bool {
		return slices.ContainsFunc(group, func(column int) bool { return !c.writable.Has(column) })
	})
}

// IndexGroups lists the groups of values that have an index, without the
// unique ones and without references, which always have one.
func (c *Collection) IndexGroups() []IndexGroup { return c.index }

// SearchColumns lists the columns that are searched, in the order of the declaration, with that of
// the label last if it is not listed. Empty: the collection cannot be searched.
func (c *Collection) SearchColumns() []int { return c.searched }

// SearchNames lists the attributes that are searched, those in a set.
func (c *Collection) SearchNames(some ColumnSet) (names []string) {
	for _, column := range c.searched {
		if some.Has(column) {
			names = append(names, c.columns[column].Name)
		}
	}
	return names
}

// Links lists the references from this collection to others.
func (c *Collection) Links() []Link { return c.links }

// Referrers lists the references from other collections, or itself, to this one.
func (c *Collection) Referrers() []Link { return c.referrers }

// ParentLink is the reference to the parent, or nil.
func (c *Collection) ParentLink() *Link { return c.parent }

// Child finds a sub-collection by name, or returns nil.
func (c *Collection) Child(name string) *Collection {
	for _, child := range c.children {
		if child.Name == name && !child.absent {
			return child
		}
	}
	return nil
}

// NewSchema lays out collections that are checked, with compiled constraints. Operations and changes are
// the collections that every schema has.
func NewSchema(versions Versions, declared []Collection, operations, changes *Collection) *Schema {
	s := &Schema{versions: versions, byName: map[string]*Collection{}, bySingular: map[string]*Collection{}}
	for i := range declared {
		c := &declared[i]
		c.layOut()
		c.schema = s
		s.collections = append(s.collections, c)
	}
	s.operations, s.changes = operations, changes
	s.operations.schema, s.changes.schema = s, s
	s.operations.builtIn = true
	s.operations.layOut()
	s.changes.layOutChanges()
	s.index()
	for _, c := range s.collections {
		c.connect(s)
	}
	s.relate()
	return s
}

// searchedNames lists the attributes that are searched.
func (c *Collection) searchedNames() []string {
	if c.Label == "" || slices.Contains(c.Search, c.Label) {
		return c.Search
	}
	return append(slices.Clip(c.Search), c.Label)
}

func (c *Collection) layOut() {
	c.created, c.updated = NoColumn, NoColumn
	c.fields = map[string]*Field{}
	c.attributes = map[string]int{}
	add := c.addColumn
	add(Column{Name: "id", Kind: KindUUID, NotNull: true})
	c.fields["type"] = &Field{Name: "type", Kind: KindText, Column: NoColumn}
	for i := range c.Attributes {
		a := &c.Attributes[i]
		c.attributes[a.Name] = add(Column{Name: a.Name, Kind: a.compiled.Kind, NotNull: a.Required, Attribute: a})
	}
	if !c.NoTimestamps {
		c.created = add(Column{Name: "created_at", Kind: KindDateTime, NotNull: true})
		c.updated = add(Column{Name: "updated_at", Kind: KindDateTime, NotNull: true})
	}
	c.shown = len(c.columns)
	if c.builtIn {
		add(Column{Name: CallerName, Kind: KindText, NotNull: true})
	}
	add(Column{Name: RevisionName, Kind: KindInteger, NotNull: true})
	c.shows = c.ColumnsWhere(func(_ int, column Column) bool { return column.Attribute == nil || column.Attribute.Until == 0 })
	c.writable = c.ColumnsWhere(c.isWritable)
	c.layOutUnique()
	for _, name := range c.searchedNames() {
		c.searched = append(c.searched, c.attributes[name])
	}
	c.layOutIndexes()
}

func (c *Collection) isWritable(i int, column Column) bool {
	return c.shows.Has(i) && (column.Attribute == nil || !column.Attribute.IsComputed())
}

// addColumn adds a column, under its name.
func (c *Collection) addColumn(column Column) int {
	c.columns = append(c.columns, column)
	c.names = append(c.names, []byte(`,"`+column.Name+`":`))
	at := len(c.columns) - 1
	if column.Name != RevisionName && column.Name != CallerName {
		c.fields[column.Name] = &Field{Name: column.Name, Kind: column.Kind, Column: at}
	}
	return at
}

// layOutUnique makes the groups of what is declared as unique.
func (c *Collection) layOutUnique() {
	for _, names := range c.declaredGroups(c.Unique, func(a *Attribute) bool { return a.Unique }) {
		group := make([]int, len(names))
		for i, name := range names {
			group[i] = c.attributes[name]
		}
		if !containsGroup(c.unique, group) {
			c.unique = append(c.unique, group)
		}
	}
}

// declaredGroups lists the groups that are declared for the collection, then the attributes that are declared by themselves.
func (c *Collection) declaredGroups(groups [][]string, byItself func(*Attribute) bool) [][]string {
	all := slices.Clone(groups)
	for i := range c.Attributes {
		if byItself(&c.Attributes[i]) {
			all = append(all, []string{c.Attributes[i].Name})
		}
	}
	return all
}

func containsGroup(groups [][]int, group []int) bool {
	return slices.ContainsFunc(groups, func(other []int) bool { return slices.Equal(group, other) })
}

// connect resolves the references of the collection in both directions.
func (c *Collection) connect(s *Schema) {
	for i := range c.Attributes {
		reference := c.Attributes[i].References
		if reference == nil {
			continue
		}
		link := Link{From: c, Column: i + 1, To: s.byName[reference.Collection], OnDelete: reference.OnDelete}
		c.links = append(c.links, link)
		link.To.referrers = append(link.To.referrers, link)
		if c.Parent != nil && c.Parent.Attribute == c.Attributes[i].Name {
			c.parent = &link
			link.To.children = append(link.To.children, c)
		}
	}
	// An index that a unique group or a reference provides is not made twice.
	c.index = slices.DeleteFunc(c.index, func(group IndexGroup) bool {
		columns := group.columns()
		return columns != nil && (containsGroup(c.unique, columns) || len(columns) == 1 && c.linked(columns[0]))
	})
}

func (c *Collection) linked(column int) bool {
	return slices.ContainsFunc(c.links, func(link Link) bool { return link.Column == column })
}
