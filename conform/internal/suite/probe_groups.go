package suite

import (
	"regexp"
	"strings"
)

// Divide finds an attribute, one of its parts, and a value of that part that some resources have, and
// others do not.
func (p *Probe) Divide(parts func(Attribute) []string, of func(value any, part string) any) (name, part string, value any) {
	for _, a := range p.Collection.Attributes {
		for _, part := range parts(a) {
			for _, each := range p.Reference {
				value := of(each.Members[a.Name], part)
				text, isText := value.(string)
				if value == nil || isText && text == "" {
					continue
				}
				count := len(p.Where(func(other Resource) bool { return EqualJSON(of(other.Members[a.Name], part), value) }))
				if count < len(p.Reference) {
					return a.Name, part, value
				}
			}
		}
	}
	p.Skip("the collection has no attribute for this, with different values")
	return "", "", nil
}

// plainWords is text whose words everybody sees alike.
var plainWords = regexp.MustCompile(`^[A-Za-z0-9 ]*$`)

// Words are those of the searched attributes, in lower case.
func (p *Probe) Words(each Resource) (words []string) {
	for _, name := range p.Collection.Search {
		text := each.Text(name)
		if !plainWords.MatchString(text) {
			p.Skip("the values of %s are not plain words", name)
		}
		words = append(words, strings.Fields(strings.ToLower(text))...)
	}
	return words
}

// Groups asks for groups of the collection.
func (p *Probe) Groups(query string) *Reply {
	return p.OK(p.Get("/-/groups" + p.Collection.Path() + "?" + query))
}
