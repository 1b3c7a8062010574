package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/plural-go/plural/schema"
)

// Patterns of texts whose form the formats of JSON Schema leave open.
const (
	idOut       = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
	dateTimeOut = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`
	dateTimeIn  = `^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?([Zz]|[+-][0-9]{2}:[0-9]{2})$`
)

// shape is what a JSON Schema of a resource is for.
type shape int

const (
	readShape shape = iota
	createShape
	replaceShape
	patchShape
)

// suffixes is what the names of shapes end in.
var (
	suffixes      = map[shape]string{readShape: "", createShape: "Create", replaceShape: "Replace", patchShape: "Patch"}
	shapeSuffixes = []string{"", "Create", "Replace", "Patch"}
)

// isShapeOf reports whether a name is that of a shape of what has another one.
func isShapeOf(name, of string) bool {
	suffix, found := strings.CutPrefix(strings.ToLower(name), strings.ToLower(of))
	return found && suffix != "" && slices.ContainsFunc(shapeSuffixes, func(each string) bool { return strings.ToLower(each) == suffix })
}

// shapeOf is a reference to a shape of the resources at a place.
func (b *builder) shapeOf(p place, s shape) object {
	name, givenByPath := b.titles[p.collection].one+suffixes[s], ""
	if p.parent != nil && (s == createShape || s == replaceShape) {
		if parent := p.parentAttribute(); parent.Required && parent.Default == nil {
			wanted := name + "Below" + b.titles[p.parent.To].one // the body need not say what the path says
			name, _ = b.name(b.shapeNames, "name of "+p.collection.Name+" "+wanted, wanted)
			givenByPath = parent.Name
		}
	}
	if b.isNew("shape " + name) {
		b.schemas.add(name, b.resourceShape(p.collection, s, givenByPath))
	}
	return reference("schemas", name)
}

// resourceShape is a JSON Schema of resources. One attribute may be given by the path, and
// so is not required.
func (b *builder) resourceShape(c *schema.Collection, s shape, givenByPath string) object {
	properties, required := object{}, list{}
	switch s {
	case readShape:
		properties.add("id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}, {"description", "The key of the resource, its place in the collection, and a cursor."}})
		required = append(required, "id", "type")
	case createShape:
		properties.add("id", object{{"type", "string"}, {"format", "uuid"}, {"description", "An id of the client's. Without one, the server makes it."}})
	default:
		properties.add("id", object{{"type", "string"}, {"format", "uuid"}, {"description", "May be sent back as it is; it cannot change."}})
	}
	properties.add("type", object{{"type", "string"}, {"const", c.Name}, {"description", "The name of the collection."}})
	for i := range c.Attributes {
		a := &c.Attributes[i]
		if !b.has(c, a.Name, s) {
			continue
		}
		properties.add(a.Name, b.attributeShape(c, a, s))
		if s == readShape || (s == createShape || s == replaceShape) && b.mustBeGiven(c, a) && a.Name != givenByPath {
			required = append(required, a.Name)
		}
	}
	if !c.NoTimestamps && s != createShape {
		for _, each := range [][2]string{{"created_at", "When it was created."}, {"updated_at", "When it last changed."}} {
			properties.add(each[0], timestampShape(each[1], s))
			if s == readShape {
				required = append(required, each[0])
			}
		}
	}
	result := object{{"type", "object"}, {"description", b.describeShape(c, s)}, {"properties", properties}}
	result.addIf(len(required) > 0, "required", required)
	result.add("additionalProperties", false)
	return result
}

func (b *builder) describeShape(c *schema.Collection, s shape) string {
	one := an(spaced(c.Singular))
	switch s {
	case readShape:
		return capital(one) + ", whole. Every attribute is there, and null if it has no value."
	case createShape:
		return "What " + one + " is created from. An attribute that is left out has its default, or is null."
	case replaceShape:
		return "All of " + one + ". An attribute that is left out goes to its default, or to null. What was read can be sent back."
	}
	return "The attributes of " + one + " to change. Null clears one; defaults play no part."
}

func timestampShape(description string, s shape) object {
	if s == readShape {
		return object{{"type", "string"}, {"format", "date-time"}, {"pattern", dateTimeOut}, {"description", description}}
	}
	return object{{"type", "string"}, {"format", "date-time"}, {"pattern", dateTimeIn}, {"description", description + " May be sent back; it cannot be set."}}
}

// has reports whether an attribute is part of a shape for the reader. What they can only
// see can be sent back.
func (b *builder) has(c *schema.Collection, attribute string, s shape) bool {
	column := c.Field(attribute).Column
	seen, set := b.by.Visible(c).Has(column), b.by.Writable(c).Has(column)
	switch s {
	case readShape:
		return seen
	case createShape:
		return set
	}
	return seen || set
}

func (b *builder) mustBeGiven(c *schema.Collection, a *schema.Attribute) bool {
	return a.Required && a.Default == nil && b.by.Writable(c).Has(c.Field(a.Name).Column)
}

// onlySentBack reports whether an attribute can be part of what is sent, but not be changed by it.
func (b *builder) onlySentBack(c *schema.Collection, a *schema.Attribute, s shape) bool {
	return (s == replaceShape || s == patchShape) && !b.by.Writable(c).Has(c.Field(a.Name).Column)
}

// attributeShape is the definition of an attribute of a collection.
func (b *builder) attributeShape(c *schema.Collection, a *schema.Attribute, s shape) object {
	if c.ReadOnly() && a.Name == "errors" {
		return object{{"type", list{"array", "null"}}, {"description", a.Description}, {"items", reference("schemas", errorShape)}}
	}
	d := define(a, s == readShape, !a.Required)
	description := b.describeAttribute(c, a, s)
	d.addIf(description != "", "description", description)
	d.addIf(b.onlySentBack(c, a, s), "readOnly", true)
	d.addIf(a.Default != nil && (s == createShape || s == replaceShape), "default", constant(a.Default))
	return d
}

func (b *builder) describeAttribute(c *schema.Collection, a *schema.Attribute, s shape) string {
	text := a.Description
	if a.References != nil {
		if to := b.schema.Collection(a.References.Collection); b.knows(to) {
			text += " The id of a resource of " + to.Name + "."
		} else {
			text += " The id of another resource."
		}
	}
	text += describePattern(a)
	if b.onlySentBack(c, a, s) {
		text += " May be sent back as it was read; it cannot be set."
	}
	return strings.TrimSpace(text)
}

// describePattern says what a pattern is that a JSON Schema cannot have.
func describePattern(a *schema.Attribute) string {
	if _, portable := portablePattern(a.Pattern); portable {
		return ""
	}
	return " Must match the RE2 pattern `" + a.Pattern + "`."
}

// define is an attribute, or a value within one, as a JSON Schema: of what is sent, or of
// what is stored.
func define(a *schema.Attribute, stored, nullable bool) object {
	d := object{}
	if nullable {
		d.add("type", list{string(a.Type), "null"})
	} else {
		d.add("type", string(a.Type))
	}
	switch a.Type {
	case schema.Integer:
		d.add("format", "int64")
	case schema.Number:
		d.add("format", "double")
	}
	d.addIf(a.Format != "", "format", string(a.Format))
	normalised := a.Format == schema.UUID || a.Format == schema.DateTime
	switch pattern, portable := portablePattern(a.Pattern); {
	case stored && a.Format == schema.UUID:
		d.add("pattern", idOut)
	case stored && a.Format == schema.DateTime:
		d.add("pattern", dateTimeOut)
	case a.Format == schema.DateTime && pattern != "" && portable:
		d.add("allOf", list{object{{"pattern", dateTimeIn}}, object{{"pattern", pattern}}})
	case a.Format == schema.DateTime:
		d.add("pattern", dateTimeIn)
	default:
		d.addIf(pattern != "" && portable, "pattern", pattern)
	}
	if !stored || !normalised { // what is sent may be written in a longer form
		d.addIf(a.MinLength > 0, "minLength", a.MinLength)
		d.addIf(a.MaxLength > 0, "maxLength", a.MaxLength)
	}
	d.addIf(a.Minimum != "", "minimum", a.Minimum)
	d.addIf(a.ExclusiveMinimum != "", "exclusiveMinimum", a.ExclusiveMinimum)
	d.addIf(a.Maximum != "", "maximum", a.Maximum)
	d.addIf(a.ExclusiveMaximum != "", "exclusiveMaximum", a.ExclusiveMaximum)
	d.addIf(a.MultipleOf != "", "multipleOf", a.MultipleOf)
	d.addIf(a.MinItems > 0, "minItems", a.MinItems)
	d.addIf(a.MaxItems > 0, "maxItems", a.MaxItems)
	if a.Type == schema.Array {
		items := object{}
		if a.Items != nil {
			items = defineInner(a.Items, stored)
		}
		d.add("items", items)
	}
	if len(a.Properties) > 0 {
		properties, required := object{}, list{}
		for i := range a.Properties {
			properties.add(a.Properties[i].Name, defineInner(&a.Properties[i], stored))
			if a.Properties[i].Required {
				required = append(required, a.Properties[i].Name)
			}
		}
		d.add("properties", properties)
		d.addIf(len(required) > 0, "required", required)
	}
	d.addIf(a.Closed, "additionalProperties", false)
	if enum := choices(a, stored, nullable); enum != nil {
		d.add("enum", enum)
	}
	return d
}

// defineInner is a value within an attribute, which is never null.
func defineInner(a *schema.Attribute, stored bool) object {
	d := define(a, stored, false)
	description := strings.TrimSpace(a.Description + describePattern(a))
	d.addIf(description != "", "description", description)
	return d
}

// choices is the enumeration of an attribute, nil if there is none that holds for the text:
// of ids and date-times what is sent may be written in several ways.
func choices(a *schema.Attribute, stored, nullable bool) list {
	normalised := a.Format == schema.UUID || a.Format == schema.DateTime
	if len(a.Enum) == 0 || normalised && !stored {
		return nil
	}
	all := list{}
	for _, each := range a.Enum {
		text := constant(each)
		if value, err := a.DecodeJSON(text); err == nil && normalised {
			if text = constant(value.Text()); a.Format == schema.UUID {
				text = constant(value.ID().String())
			}
		}
		all = append(all, text)
	}
	if nullable {
		all = append(all, nil)
	}
	return all
}

// constant is a value of the schema as JSON, which it could be written as when it was
// checked.
func constant(value any) json.RawMessage {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return json.RawMessage(strings.TrimSpace(text.String()))
}

// The shapes that every document has.
const (
	errorShape      = "ErrorObject"
	collectionShape = "CollectionDescription"
	stateShape      = "ServerState"
)

var ownShapes = []string{errorShape, collectionShape, stateShape}

func (b *builder) commonShapes() object {
	return object{
		{errorShape, b.errorObject()},
		{collectionShape, b.collectionDescription()},
		{stateShape, object{
			{"type", "object"}, {"description", "How the server is."},
			{"properties", object{
				{"status", object{{"type", "string"}, {"enum", list{"ok", "ready", "failed", "unavailable"}}}},
				{"detail", object{{"type", "string"}, {"description", "Why it is not well, if that can be told."}}},
			}},
			{"required", list{"status"}}, {"additionalProperties", false},
		}},
	}
}

func (b *builder) errorObject() object {
	var table strings.Builder
	table.WriteString("One thing that is wrong. Codes are stable:\n\n| Code | Status | Title |\n|---|---|---|\n")
	codes := allCodes()
	statuses := []int{}
	for _, code := range codes {
		table.WriteString("| `" + string(code) + "` | " + statusText(code.Status()) + " | " + code.Title() + " |\n")
		statuses = append(statuses, code.Status())
	}
	enum := list{}
	for _, status := range slices.Compact(statuses) {
		enum = append(enum, status)
	}
	place := func(name, description string) object {
		return object{
			{"type", "object"}, {"properties", object{{name, object{{"type", "string"}, {"description", description}}}}},
			{"required", list{name}}, {"additionalProperties", false},
		}
	}
	return object{
		{"type", "object"}, {"description", table.String()},
		{"properties", object{
			{"status", object{{"type", "integer"}, {"enum", enum}, {"description", "The HTTP status."}}},
			{"code", object{{"type", "string"}, {"enum", texts(codes)}, {"description", "What kind of error this is, for programs."}}},
			{"title", object{{"type", "string"}, {"description", "The code in a few words."}}},
			{"detail", object{{"type", "string"}, {"description", "What is wrong here and what would be right, for people."}}},
			{"source", object{{"description", "The part of the request that is to blame, if it is one."}, {"oneOf", list{
				place("pointer", "A JSON Pointer into the body."), place("parameter", "The name of a query parameter, as it was written."), place("header", "The name of a header."),
			}}}},
		}},
		{"required", list{"status", "code", "title", "detail"}}, {"additionalProperties", false},
	}
}

func (b *builder) collectionDescription() object {
	return object{
		{"type", "object"}, {"description", "A collection, as a resource."},
		{"properties", object{
			{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}}},
			{"type", object{{"type", "string"}, {"const", "collections"}}},
			{"name", object{{"type", "string"}, {"description", "What its path is called."}}},
			{"singular", object{{"type", "string"}}},
			{"total", object{{"type", list{"integer", "null"}}, {"minimum", 0}, {"description", "How many resources it holds. Null if the caller may not list it, or if a rule decides which of them the caller sees."}}},
			{"attributes", object{{"type", "array"}, {"description", "Its attributes in order, each with its name, whether it is required, what it refers to, and its JSON Schema."}, {"items", object{
				{"type", "object"},
				{"properties", object{
					{"name", object{{"type", "string"}}}, {"required", object{{"type", "boolean"}}},
					{"references", object{{"type", "string"}, {"description", "The collection that it refers to."}}}, {"type", object{{"type", "string"}}},
				}},
				{"required", list{"name", "required", "type"}}, {"additionalProperties", true},
			}}}},
		}},
		{"required", list{"id", "type", "name", "singular", "total", "attributes"}}, {"additionalProperties", false},
	}
}
