package model

import (
	"slices"

	"github.com/plural-go/plural/internal/suggest"
)

// MaxSearched is how many attributes of a collection can be searched, the label included. Each has its
// mark in the index.
const MaxSearched = 16

// searchedNames lists the attributes that are searched.
func (c *Collection) searchedNames() []string {
	if c.Label == "" || slices.Contains(c.Search, c.Label) {
		return c.Search
	}
	return append(slices.Clip(c.Search), c.Label)
}

func (k *Checker) search(c *Collection, at Path) {
	for i, name := range c.Search {
		if slices.Contains(c.Search[:i], name) {
			k.Report(at.To("search").Item(i), "%s is listed twice: remove one of them", name)
			continue
		}
		k.searched(c, name, at.To("search").Item(i))
	}
	if c.Label != "" {
		k.searched(c, c.Label, at.To("label"))
	}
	if n := len(c.searchedNames()); n > MaxSearched {
		k.Report(at.To("search"), "at most %d attributes can be searched, the label included, but these are %d", MaxSearched, n)
	}
}

// searched checks an attribute that is searched.
func (k *Checker) searched(c *Collection, name string, at Path) {
	a := c.Declared(name)
	switch {
	case a == nil:
		k.Report(at, "%s has no attribute %q%s", c.Name, name, suggest.DidYouMean(name, c.AttributeNames()))
	case a.kind != 0 && a.kind != KindText: // 0: not valid itself
		what := Article(string(a.Type))
		if a.Format != "" {
			what = Article(string(a.Format))
		}
		k.Report(at, "%s is %s, and only text can be searched: name an attribute of the type string without the format uuid, date, date-time or decimal", name, what)
	}
}
