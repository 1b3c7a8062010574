package model

import (
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// ownMember reads a member that is not an attribute: id, type, a timestamp, or
// an unknown member.
func (d *decoder) ownMember(c *Collection, name string, options DecodeOptions, in *Input) error {
	token, err := d.token()
	if err != nil {
		return err
	}
	isText, text := token.Kind() == '"', ""
	if isText {
		text = token.String()
	}
	timestamp := NoColumn
	switch {
	case name == "created_at" && c.shows.Has(c.created):
		timestamp = c.created
	case name == "updated_at" && c.shows.Has(c.updated):
		timestamp = c.updated
	}
	switch {
	case name == "id" && options.Mode == PatchRange:
		d.fail(problem.CodeReadOnly, "The ids of the resources of a range cannot change. Leave the id out.")
	case name == "id" && (options.Mode == Create || options.Mode == PatchFound):
		if id, ok := ParseID(text); ok {
			in.Values[IDColumn], in.Set[IDColumn] = IDValue(id), true
		} else if isText {
			d.fail(problem.CodeFormat, "An id must be a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab.")
		} else {
			d.fail(problem.CodeType, "An id must be a string, but is %s.", jsonNames[token.Kind()])
		}
	case name == "id":
		if id, ok := ParseID(text); !ok || id != options.ID {
			d.fail(problem.CodeReadOnly, "The id of a resource cannot change. Leave it out, or give the one of the path.")
		}
	case name == "type":
		if text != c.Name {
			d.fail(problem.CodeReadOnly, "The type of a resource cannot change. Leave it out, or give %q.", c.Name)
		}
	case timestamp != NoColumn && options.Mode == Create && options.AcceptTimestamps:
		if when, wrong := parseFormat(DateTime, text); wrong != "" {
			d.fail(problem.CodeFormat, "Must be %s.", wrong)
		} else {
			in.Values[timestamp], in.Set[timestamp] = when, true
		}
	case timestamp != NoColumn && options.Mode == Create:
		d.fail(problem.CodeReadOnly, "%s is set by the server. Leave it out.", name)
	case timestamp != NoColumn:
		// PUT ignores timestamps, however old; of a PATCH, the caller of Decode compares them
		// with the stored ones.
		when, wrong := parseFormat(DateTime, text)
		if wrong != "" {
			d.fail(problem.CodeReadOnly, "%s is set by the server. Leave it out, or send back what was read.", name)
		} else if options.Mode.patches() {
			in.Values[timestamp], in.Set[timestamp] = when, true
		}
	case name == "data" && (token.Kind() == '{' || token.Kind() == '['):
		d.wrapped = true
		d.fail(problem.CodeWrapped, "Request bodies are not wrapped in \"data\". Send the attributes themselves.")
	case relationOf(c, name, options) != nil:
		d.fail(problem.CodeReadOnly, "%s is not an attribute: it comes from related resources of %s, and is changed there. Leave it out.", name, relationOf(c, name, options).To.Name)
	default:
		d.fail(problem.CodeUnknownAttribute, "The collection %s has no attribute of this name.%s", c.Name, nearestAttribute(c, name, options))
	}
	return d.skip(token)
}

// computed reads the value of a computed attribute, as ownMember reads those of timestamps: PUT ignores it, unless it is
// invalid; of a PATCH, the caller of Decode compares it with the stored one.
func (d *decoder) computed(c *Collection, column int, options DecodeOptions, in *Input) error {
	a, before := c.columns[column].Attribute, len(d.faults)
	value, err := d.attribute(a)
	isInvalid := len(d.faults) > before
	switch {
	case err != nil:
		return err
	case options.Mode == Create && options.AcceptTimestamps:
		in.Values[column], in.Set[column] = value, true
		return nil
	}
	d.faults = d.faults[:before]
	switch {
	case options.Mode == Create:
		d.fail(problem.CodeReadOnly, "%s is computed by the server. Leave it out.", a.Name)
	case isInvalid:
		d.fail(problem.CodeReadOnly, "%s is computed by the server. Leave it out, or send back what was read.", a.Name)
	case options.Mode.patches():
		in.Values[column], in.Set[column] = value, true
	}
	return nil
}

// relationOf is the relation whose resources, or whose total, are embedded under a name, nil if there is
// none that the client knows.
func relationOf(c *Collection, name string, options DecodeOptions) *Relation {
	for _, relation := range c.relations {
		if name == relation.Name || name == relation.TotalName() && !relation.One {
			if options.Knows == nil || options.Knows(relation) {
				return relation
			}
		}
	}
	return nil
}

// nearestAttribute asks for the attribute that is nearest to a name, among those that the
// client may know.
func nearestAttribute(c *Collection, name string, options DecodeOptions) string {
	var names []string
	for i, column := range c.columns {
		if column.Attribute != nil && (options.Writable.Has(i) || options.Visible.Has(i)) {
			names = append(names, column.Name)
		}
	}
	if near := suggest.Nearest(name, names); near != "" {
		return " Did you mean " + near + "?"
	}
	return ""
}
