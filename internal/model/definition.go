package model

import "encoding/json"

// Definition is the attribute as a JSON Schema property definition, without
// what JSON Schema does not know: required, unique, index and references.
func (a *Attribute) Definition() json.RawMessage {
	return a.define(func(d *definition, required []string) { d.add("required", required, len(required) > 0) })
}

// define writes the definition; require writes which properties are required.
func (a *Attribute) define(require func(d *definition, required []string)) json.RawMessage {
	d := definition{'{'}
	for _, k := range SchemaKeywords {
		if !k.Given(a) {
			continue
		}
		switch value := k.Value(a).(type) {
		case *Attribute:
			d.add(k.Name, value.Definition(), true)
		case []Attribute:
			properties := definition{'{'}
			var required []string
			for i := range value {
				properties.add(value[i].Name, value[i].Definition(), true)
				if value[i].Required {
					required = append(required, value[i].Name)
				}
			}
			d.add(k.Name, properties.end(), len(value) > 0)
			require(&d, required)
		default:
			d.add(k.Name, value, true)
		}
	}
	return d.end()
}

// definition is a JSON object under construction, in the order of its members.
type definition []byte

// add appends a member if it is there. What is added came out of a checked
// schema, so it can be marshalled.
func (d *definition) add(name string, value any, there bool) {
	if !there {
		return
	}
	text, _ := Marshal(value)
	if len(*d) > 1 {
		*d = append(*d, ',')
	}
	*d = append(append(AppendQuoted(*d, name), ':'), text...)
}

func (d definition) end() json.RawMessage { return json.RawMessage(append(d, '}')) }

// Describe lists the attributes that are in a set, in the order of the schema, as JSON: each with
// its name, whether it is required, what it refers to, the rules of its data, and its definition in the
// version. Shown reports whether an expression may be shown.
func (c *Collection) Describe(some ColumnSet, shown func(Rule) bool) json.RawMessage {
	list := []byte{'['}
	for i := range c.Attributes {
		a := &c.Attributes[i]
		if !some.Has(c.attributes[a.Name]) {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		head := definition{'{'}
		head.add("name", a.Name, true)
		head.add("required", a.InVersion().Required, true)
		if a.References != nil {
			head.add("references", a.References.Collection, true)
		}
		for _, each := range a.RuleMembers(shown) {
			head.add(each.Name, each.Value, true)
		}
		// The definition's members follow, without its opening brace. There is a
		// member required already, so required properties are put another way.
		members := a.InVersion().define(func(d *definition, required []string) {
			d.add("allOf", []map[string][]string{{"required": required}}, len(required) > 0)
		})[1:]
		list = append(append(append(list, head...), ','), members...)
	}
	return append(list, ']')
}
