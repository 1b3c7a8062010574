package compile

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// MaxSearched is how many attributes of a collection can be searched, the label included. Each has its
// mark in the index.
const MaxSearched = 16

func (k *Checker) search(c *model.Collection, at Path) {
	for i, name := range c.Search {
		if slices.Contains(c.Search[:i], name) {
			k.Report(at.To("search").Item(i), "%s is listed twice: remove one of them", name)
			continue
		}
		k.searched(c, name, at.To("search").Item(i))
	}
	if c.Label != "" {
		k.searched(c, c.Label, at.To("label"))
		if a := c.Declared(c.Label); a != nil && a.Until > 0 {
			k.Report(at.To("label"), "%s is only in the versions up to %d, but the label names resources in the newest one: name another attribute, or remove until", a.Name, a.Until)
		}
	}
	n := len(c.Search)
	if c.Label != "" && !slices.Contains(c.Search, c.Label) {
		n++
	}
	if n > MaxSearched {
		k.Report(at.To("search"), "at most %d attributes can be searched, the label included, but these are %d", MaxSearched, n)
	}
}

// searched checks an attribute that is searched.
func (k *Checker) searched(c *model.Collection, name string, at Path) {
	a := c.Declared(name)
	switch {
	case a == nil:
		k.Report(at, "%s has no attribute %q%s", c.Name, name, suggest.DidYouMean(name, c.AttributeNames()))
	case a.Kind() != 0 && a.Kind() != model.KindText: // 0: not valid itself
		what := suggest.Article(string(a.Type))
		if a.Format != "" {
			what = suggest.Article(string(a.Format))
		}
		k.Report(at, "%s is %s, and only text can be searched: name an attribute of the type string without the format uuid, date, date-time or decimal", name, what)
	}
}
