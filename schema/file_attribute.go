package schema

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// attribute reads the definition of an attribute or, nested, of a value inside
// one. The same keys are known in both, so that one in the wrong place is
// reported as that.
func (p *parser) attribute(e entry, nested bool) model.Attribute {
	a := model.Attribute{Name: e.name}
	if isTextNode(e.node) && model.IsType(model.Type(e.node.Value)) {
		p.wrong(e, "%s must be a mapping with a type: write {type: %s}", e.name, e.node.Value)
		return a
	}
	if isTextNode(e.node) && !nested {
		p.wrong(e, "%s must be a mapping such as {type: string}, but is %s: to refer to a collection of this name, write {references: %s}", e.name, describe(e.node), e.node.Value)
		return a
	}
	given := map[string]entry{}
	for _, e := range p.mapping(e, model.AttributeKeywords) {
		given[e.name] = e
		p.keyword(e, *model.FindKeyword(model.AttributeKeywords, e.name), &a)
	}
	if _, scaled := given["scale"]; a.Format == model.Decimal && !scaled {
		p.wrong(e, "%s is a decimal and needs a scale, the number of digits after the point: add scale: 2, for example", e.name)
	}
	if required, ok := given["required"]; ok { // after the properties, wherever it is written
		p.requireProperties(&a, required, nested)
	}
	return a
}

// keyword reads the value of a keyword into its field.
func (p *parser) keyword(e entry, k model.Keyword, a *model.Attribute) {
	if k.Field == nil {
		return
	}
	switch field := k.Field(a).(type) {
	case *model.Type:
		*field = p.typeName(e)
	case *model.Format:
		*field = model.Format(p.text(e))
	case *string:
		*field = p.text(e)
	case *int:
		*field = p.count(e, k.JSONSchema["minimum"].(int))
	case *json.Number:
		*field = p.number(e)
	case *bool:
		*field = p.boolean(e) != k.Negated
	case *model.Rule:
		*field = p.expression(e)
	case *[]string:
		*field = append([]string{}, p.texts(e, "states")...) // an empty list is not none
	case *map[string][]string:
		*field = map[string][]string{}
		for _, e := range p.mapping(e, nil) {
			(*field)[e.name] = append([]string{}, p.texts(e, "states")...)
		}
	case *any:
		*field = p.constant(e)
	case *[]any:
		*field = p.enum(e)
	case **model.Attribute:
		items := p.attribute(e, true)
		items.Name = ""
		*field = &items
	case *[]model.Attribute:
		*field = []model.Attribute{}
		for _, e := range p.mapping(e, nil) {
			*field = append(*field, p.attribute(e, true))
		}
	case **model.Reference:
		if link := p.parent(e, model.ReferenceKeywords); link != nil {
			*field = &model.Reference{Collection: link.Collection, OnDelete: link.OnDelete}
		} else {
			p.hide(e.at[:len(e.at)-1].To("type")) // which a reference need not have
		}
	default:
		panic("schema: no value of a file fits the field of " + k.Name)
	}
}

// expression reads an expression in CEL.
func (p *parser) expression(e entry) model.Rule {
	switch {
	case p.text(e) != "":
		return p.ruleOf(e.node)
	case isTextNode(e.node):
		p.wrong(e, "%s must be an expression in CEL, but is empty", e.name)
	}
	return model.Rule{}
}

// checks reads the rules that every resource must meet.
func (p *parser) checks(e entry) (checks []model.Check) {
	for _, e := range p.list(e, "checks, each with a rule and a message") {
		check := model.Check{}
		for _, e := range p.mapping(e, checkKeys) {
			switch e.name {
			case "rule":
				check.Rule = p.expression(e)
			case "message":
				check.Message = p.text(e)
			case "attribute":
				check.Attribute = p.text(e)
			}
		}
		checks = append(checks, check)
	}
	return checks
}

func (p *parser) typeName(e entry) model.Type {
	if e.node.Kind == yaml.SequenceNode {
		p.wrong(e, "type must be one type, but is a list: every attribute that is not required can be null anyway, so null need not be listed")
		return ""
	}
	return model.Type(p.text(e))
}

func (p *parser) enum(e entry) []any {
	before := len(p.problems)
	values := []any{}
	for _, item := range p.list(e, "values") {
		values = append(values, p.constant(item))
	}
	if len(p.problems) > before {
		// The indexes in the list would not be those in the file.
		p.hide(e.at)
		p.hide(e.at[:len(e.at)-1].To("default"))
		return nil
	}
	return values
}

// requireProperties applies the list of required members of an object. In JSON
// Schema it is in the definition around a property, never in its own.
func (p *parser) requireProperties(a *model.Attribute, e entry, nested bool) {
	around := "collection"
	if nested {
		around = "object around it"
	}
	if e.node.Kind == yaml.ScalarNode && e.node.ShortTag() == "!!bool" {
		p.wrong(e, "required is a list in JSON Schema: to make %s required, list it in the required of the %s", a.Name, around)
		return
	}
	if a.Type != model.Object && model.IsType(a.Type) {
		p.wrong(e, "required belongs to objects, and this is %s: to make %s itself required, list it in the required of the %s", suggest.Article(string(a.Type)), a.Name, around)
		return
	}
	for _, e := range p.list(e, "properties") {
		name := p.text(e)
		property := a.Property(name)
		switch {
		case p.isHidden(e.at) || p.hidden[e.at[:len(e.at)-2].To("properties").Key()]:
		case property == nil:
			p.wrong(e, "there is no property %q: declare it in properties", name)
		case property.Required:
			p.wrong(e, "%s is listed twice: remove one of them", name)
		default:
			property.Required = true
		}
	}
}
