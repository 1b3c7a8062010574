package suite

import (
	"strings"
)

// AnyName is the name of some member.
func (p *Probe) AnyName(members map[string]any) string {
	for _, a := range p.Collection.Attributes {
		if _, has := members[a.Name]; has {
			return a.Name
		}
	}
	// A body without attributes can still have an id.
	members["id"] = NewUUID()
	return "id"
}

// TextAttribute is an attribute that accepts any text.
func (p *Probe) TextAttribute() Attribute {
	return p.Attribute("string attribute for any text", func(a Attribute) bool {
		return a.Plain() && !p.constant[place{p.Collection.Name, a.Name}] && a.MinLength <= 10 && (a.MaxLength == 0 || a.MaxLength >= 20)
	})
}

// MalformedText is a body with a text inside a string, unescaped. The server must report that the
// body is malformed before it checks constraints of the string.
func (p *Probe) MalformedText(text string) string {
	return p.WithText(p.Attribute("string attribute", func(a Attribute) bool { return a.Type == "string" }), text)
}

func (p *Probe) WithText(a Attribute, text string) string {
	return strings.Replace(p.Body(map[string]any{a.Name: "conform-placeholder"}), "conform-placeholder", text, 1)
}
