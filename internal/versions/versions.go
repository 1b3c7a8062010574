// Package versions derives the versions of the interface from the schemas that a database remembers.
package versions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Version is one version of the interface: the last schema that was stored under its number.
type Version struct {
	Number     int
	Since      string // when the first schema with the number was stored, as model.FormatTime writes it
	Deprecated string // when the first schema was stored since which it is deprecated; empty: it is not deprecated

	// Schema shows what is stored under the names of the version. Nil: the version has ended, for these reasons.
	Schema *model.Schema
	Ended  []Reason
}

// Reason is one difference from which a version cannot be derived. It has the names of the version, or the newest one of what
// the version does not have.
type Reason = catalog.Reason

// Shape is a schema with the numbers of its collections and attributes.
type Shape struct {
	Schema  *model.Schema
	Numbers *catalog.Numbering
}

// Declared is a version as it was declared last.
type Declared struct {
	Number            int
	Since, Deprecated string // see Version
	Shape             Shape
	Ended             []Reason // then it has no shape
}

// Read reads the versions of a database for a server whose schema has numbers, the newest last. Later ones are those of other servers,
// while the database is expanded.
func Read(c db.Conn, stored *model.Schema, numbers *catalog.Numbering) ([]Version, error) {
	newest := stored.Versions().Newest
	if newest == 0 {
		return nil, nil
	}
	all, _, err := ReadDeclared(c)
	if err != nil {
		return nil, err
	}
	var found []Version
	for _, declared := range all {
		if declared.Number > newest {
			break
		}
		v := Version{Number: declared.Number, Since: declared.Since, Deprecated: declared.Deprecated, Ended: declared.Ended}
		switch {
		case v.Number == newest:
			v.Schema = stored
		case v.Ended == nil:
			v.Schema, v.Ended = View(Shape{stored, numbers}, declared.Shape)
		}
		found = append(found, v)
	}
	return found, nil
}

// ReadDeclared reads how the versions of a database were declared, the newest last, and the numbers of the current schema. The database
// must have a schema.
func ReadDeclared(c db.Conn) ([]Declared, *catalog.Numbering, error) {
	type row struct {
		version  int
		since    string
		document []byte
		numbers  *catalog.Numbering
	}
	var rows []row // one for each version of the interface
	add := func(r row) {
		switch n := len(rows); {
		case r.version == 0:
		case n > 0 && rows[n-1].version == r.version: // a version never decreases
			r.since = rows[n-1].since
			rows[n-1] = r
		default:
			rows = append(rows, r)
		}
	}
	var last row
	deprecated := map[int]string{} // since when, of the versions that the last schema deprecates
	err := db.EachOrError(c, func(r model.Row) (err error) {
		last = row{since: r.Text(0), document: r.AppendText(nil, 1)}
		var head model.Versions
		if err := json.Unmarshal(last.document, &head); err != nil {
			return fmt.Errorf("a schema in the database cannot be read: %w", err)
		}
		last.version = head.Newest
		since := map[int]string{}
		for number := range head.Deprecated {
			since[number] = cmp.Or(deprecated[number], last.since)
		}
		deprecated = since
		if last.numbers, err = catalog.ParseNumbering(r.AppendText(nil, 2)); err == nil && last.numbers.Target == nil {
			add(last)
		}
		return err
	}, "SELECT at, document, numbers FROM "+db.SchemasTable+" ORDER BY version")
	if err != nil {
		return nil, nil, err
	}
	current := last.numbers
	if current == nil {
		return nil, nil, errors.New("the database has no stored schema")
	}
	if current.Target != nil { // its schema is a version, and the expanded schema is none
		last.document, last.numbers = []byte(current.Target.Document), current.OfTarget()
		add(last)
	}
	all := make([]Declared, len(rows))
	for i, r := range rows {
		all[i] = Declared{Number: r.version, Since: r.since, Deprecated: deprecated[r.version], Ended: current.Ended[r.version]}
		if all[i].Ended != nil {
			continue
		}
		s, err := compile.Earlier(r.document)
		if err != nil {
			all[i].Ended = []Reason{{Text: fmt.Sprintf("the schema of the version cannot be used: %v", err)}}
			continue
		}
		all[i].Shape = Shape{s, r.numbers}
	}
	return all, current, nil
}

// View is the stored schema under the names of another one, or why it cannot be shown so.
func View(stored, as Shape) (*model.Schema, []Reason) {
	v := viewer{stored: stored, as: as, shown: map[*model.Collection]model.Shown{}}
	for _, c := range as.Schema.Collections() {
		v.collection(c)
	}
	if v.reasons != nil {
		return nil, v.reasons
	}
	versions := model.Versions{Newest: as.Schema.Versions().Newest, Deprecated: stored.Schema.Versions().Deprecated}
	return stored.Schema.View(versions, func(c *model.Collection) model.Shown {
		if shown, ok := v.shown[c]; ok {
			return shown
		}
		return model.Shown{Attributes: make([]*model.Attribute, len(c.Attributes))}
	}), nil
}

// viewer finds what a version shows of each stored collection.
type viewer struct {
	stored, as Shape
	shown      map[*model.Collection]model.Shown
	reasons    []Reason
}

// number is how the log names an attribute.
func (s Shape) number(c *model.Collection, attribute string) int64 {
	return s.Numbers.Collections[c.Name].Attributes[attribute].Number
}

// same reports whether a stored collection is another one of the version.
func (v *viewer) same(stored, c *model.Collection) bool {
	return v.stored.Numbers.Collections[stored.Name].Number == v.as.Numbers.Collections[c.Name].Number
}

func (v *viewer) collection(c *model.Collection) {
	at := slices.IndexFunc(v.stored.Schema.Collections(), func(stored *model.Collection) bool { return v.same(stored, c) })
	if at < 0 {
		v.end(c, "", "is removed")
		return
	}
	stored := v.stored.Schema.Collections()[at]
	columns := map[int64]int{}
	for i := range stored.Attributes {
		columns[v.stored.number(stored, stored.Attributes[i].Name)] = i
	}
	shown := model.Shown{Collection: c, Attributes: make([]*model.Attribute, len(stored.Attributes))}
	first, _ := c.AttributeColumns()
	for i := range c.Attributes {
		a := &c.Attributes[i]
		if !c.Shows().Has(first + i) {
			continue // another version had it
		}
		if column, ok := columns[v.as.number(c, a.Name)]; !ok {
			v.end(c, a.Name, "is removed")
		} else {
			shown.Attributes[column] = a
			v.attribute(c, a, &stored.Attributes[column])
		}
	}
	for i, a := range shown.Attributes {
		if a == nil {
			v.missing(c, &stored.Attributes[i])
		}
	}
	v.links(c, stored, shown)
	if stored.NoTimestamps && !c.NoTimestamps {
		v.end(c, "", "has no timestamps any more")
	}
	v.shown[stored] = shown
}

// end notes a reason.
func (v *viewer) end(c *model.Collection, attribute, format string, args ...any) {
	v.reasons = append(v.reasons, Reason{Collection: c.Name, Attribute: attribute, Text: fmt.Sprintf(format, args...)})
}

// attribute compares the declaration of an attribute that the version shows with the stored one.
func (v *viewer) attribute(c *model.Collection, a, stored *model.Attribute) {
	if stored.Until != 0 && stored.Until < v.as.Schema.Versions().Newest {
		v.end(c, a.Name, "is kept until version %d only", stored.Until)
	}
	v.value(c, a.Name, a, stored)
	switch needed := stored.Required && stored.DefaultValue().IsNull() && !stored.IsComputed(); {
	case a.IsComputed() && needed:
		v.end(c, a.Name, "is no longer computed, and required without a default")
	case stored.IsComputed() && !a.IsComputed() && a.Required:
		v.end(c, a.Name, "is computed, and the version requires it of its clients")
	}
}

// value compares the types of two values, which are at a path.
func (v *viewer) value(c *model.Collection, path string, a, stored *model.Attribute) {
	if a.Type != stored.Type || a.Kind() != stored.Kind() {
		v.end(c, path, "becomes %s instead of %s", TypeName(stored), TypeName(a))
		return
	}
	for i := range a.Properties {
		property := &a.Properties[i]
		if now := stored.Property(property.Name); now == nil {
			v.end(c, path+"."+property.Name, "is removed")
		} else {
			v.value(c, path+"."+property.Name, property, now)
		}
	}
	for i := range stored.Properties {
		if property := &stored.Properties[i]; property.Required && a.Property(property.Name) == nil {
			v.end(c, path+"."+property.Name, "is required, and the version does not have it")
		}
	}
	switch {
	case a.Items == nil:
	case stored.Items == nil:
		v.end(c, path, "has items of any type instead of %s", TypeName(a.Items))
	default:
		v.value(c, path+".items", a.Items, stored.Items)
	}
}

// missing checks that resources can do without an attribute that the version does not have.
func (v *viewer) missing(c *model.Collection, stored *model.Attribute) {
	if stored.Required && stored.DefaultValue().IsNull() && !stored.IsComputed() {
		v.end(c, stored.Name, "is required without a default, and the version does not have it")
	}
}

// links compares what the attributes refer to.
func (v *viewer) links(c, stored *model.Collection, shown model.Shown) {
	first, _ := stored.AttributeColumns()
	now := map[*model.Attribute]*model.Link{}
	for i, link := range stored.Links() {
		now[shown.Attributes[link.Column-first]] = &stored.Links()[i]
	}
	for _, link := range c.Links() {
		a := c.Columns()[link.Column].Attribute
		current := now[a]
		switch {
		case !slices.Contains(shown.Attributes, a): // hidden, or removed
		case current == nil:
			v.end(c, a.Name, "no longer refers to %s", link.To.Name)
		case !v.same(current.To, link.To) && current.To.Name == link.To.Name:
			v.end(c, a.Name, "refers to another collection, which has the name %s now", link.To.Name)
		case !v.same(current.To, link.To):
			v.end(c, a.Name, "refers to %s instead of %s", current.To.Name, link.To.Name)
		}
	}
	before, parent := c.ParentLink(), stored.ParentLink()
	switch {
	case before == nil:
	case parent == nil || !v.same(parent.To, before.To) || shown.Attributes[parent.Column-first] != c.Columns()[before.Column].Attribute:
		v.end(c, "", "is no longer a sub-collection of %s by %s", before.To.Name, c.Columns()[before.Column].Name)
	}
}

// TypeName is the type of an attribute, or of a value inside one, as users know it.
func TypeName(a *model.Attribute) string {
	switch a.Format {
	case model.Decimal:
		return fmt.Sprintf("decimal with scale %d", a.Scale)
	case model.UUID, model.Date, model.DateTime:
		return string(a.Format)
	}
	return string(a.Type)
}
