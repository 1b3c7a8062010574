package model

import (
	"slices"
	"strings"
)

// IndexPart is a value in an index: a column, a value inside an object, or the items of an array.
type IndexPart struct {
	Column int
	Path   string // members of an object, with dots between them; empty: the column itself
	Items  bool   // the items of an array, each by itself

	Descending bool // in the order of the index
}

// IndexGroup is the values of an index, in their order. Items are alone in theirs.
type IndexGroup []IndexPart

// columns is the group if it has only columns that ascend, and else nil.
func (g IndexGroup) columns() (columns []int) {
	for _, part := range g {
		if part.Path != "" || part.Items || part.Descending {
			return nil
		}
		columns = append(columns, part.Column)
	}
	return columns
}

// Name is the part as the schema names it.
func (p IndexPart) Name(c *Collection) string {
	name := c.columns[p.Column].Name
	if p.Path != "" {
		name += "." + p.Path
	}
	if p.Descending {
		name = "-" + name
	}
	return name
}

// Inside is the definition of the value of a part: that of the column, the property, or the items.
func (p IndexPart) Inside(c *Collection) *Attribute {
	a := c.columns[p.Column].Attribute
	if p.Path != "" {
		return a.Inside(strings.Split(p.Path, "."))
	}
	if p.Items {
		return a.Items
	}
	return a
}

// Inside finds the definition of the value at a path of properties, nil if it is not declared.
func (a *Attribute) Inside(path []string) *Attribute {
	for _, name := range path {
		if a = a.Property(name); a == nil || !Addressable(name) {
			return nil
		}
	}
	return a
}

// Pascal writes user-groups as UserGroups, for the names of types.
func Pascal(name string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// Addressable reports whether a property can be part of a path, in the name of a filter and in SQL.
func Addressable(name string) bool {
	return name != "" && !strings.ContainsAny(name, `.[]"\`+"\x00")
}

// Unaddressable says why a property cannot be part of a path.
const Unaddressable = "its name is empty, or contains a dot, a bracket, a quotation mark or a backslash"

// PropertyNames lists the declared properties of an object.
func (a *Attribute) PropertyNames() []string {
	if a == nil {
		return nil
	}
	return namesOf(a.Properties)
}

// layOutIndexes makes the groups of what is declared as index.
func (c *Collection) layOutIndexes() {
	for _, names := range c.declaredGroups(c.Index, func(a *Attribute) bool { return a.Index }) {
		group := IndexGroup{}
		for _, name := range names {
			name, descending := strings.CutPrefix(name, "-")
			attribute, path, _ := strings.Cut(name, ".")
			part := IndexPart{Column: c.attributes[attribute], Path: path, Descending: descending}
			part.Items = path == "" && c.columns[part.Column].Kind == KindJSON
			group = append(group, part)
		}
		if !slices.ContainsFunc(c.index, func(other IndexGroup) bool { return slices.Equal(group, other) }) {
			c.index = append(c.index, group)
		}
	}
}
