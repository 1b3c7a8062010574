package compile

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/format"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// An index entry must fit into every database. PostgreSQL has the smallest limit: a third of its
// page of 8 KiB, less some overhead.
const (
	maxIndexBytes   = 2600
	maxIndexColumns = 31 // and the id after them
	maxRuneBytes    = utf8.UTFMax
)

// group is a list of attributes that share an index.
type group struct {
	names   []string
	keyword string // unique or index
	at      Path
}

func (k *Checker) groups(c *model.Collection, at Path) {
	k.groupsOf(c, "unique", c.Unique, func(a *model.Attribute) bool { return a.Unique }, at)
	k.groupsOf(c, "index", c.Index, func(a *model.Attribute) bool { return a.Index }, at)
}

func (k *Checker) groupsOf(c *model.Collection, keyword string, listed [][]string, short func(*model.Attribute) bool, at Path) {
	for i, names := range listed {
		g := group{names, keyword, at.To(keyword).Item(i)}
		if slices.ContainsFunc(listed[:i], func(earlier []string) bool { return sameGroup(keyword, earlier, names) }) {
			k.Report(g.at, "this is listed twice: remove one of them")
			continue
		}
		k.group(c, g, at)
	}
	for i := range c.Attributes {
		if a := &c.Attributes[i]; short(a) {
			k.group(c, group{[]string{a.Name}, keyword, at.To("attributes", a.Name, keyword)}, at)
		}
	}
}

// sameGroup reports whether two groups are equal. The order of attributes matters for an index, but
// not for uniqueness.
func sameGroup(keyword string, a, b []string) bool {
	if keyword == "unique" {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	return slices.Equal(a, b)
}

func (k *Checker) group(c *model.Collection, g group, at Path) {
	if len(g.names) == 0 {
		k.Report(g.at, "name at least one attribute")
	}
	if len(g.names) > maxIndexColumns {
		k.Report(g.at, "a group can have at most %d attributes, but this one has %d", maxIndexColumns, len(g.names))
		return
	}
	var members []*model.Attribute
	for i, name := range g.names {
		descends := false
		if g.keyword == "index" {
			name, descends = strings.CutPrefix(name, "-")
		}
		a := c.Declared(name)
		if attribute, path, inside := strings.Cut(name, "."); inside && g.keyword == "index" {
			if a = k.insideOf(c, attribute, path, g.at.Item(i)); a == nil {
				continue
			}
		}
		switch {
		case a == nil:
			k.Report(g.at.Item(i), "%s has no attribute %q%s", c.Name, name, suggest.DidYouMean(name, c.AttributeNames()))
		case slices.Contains(members, a):
			k.Report(g.at.Item(i), "%s is twice in this group: remove one of them", name)
		case descends && a.Type == model.Array && c.Declared(name) == a:
			k.Report(g.at.Item(i), "%s is an array, whose index has no order: list it without the minus", name)
		case g.keyword == "index" && a.ScalarItems() != nil && len(g.names) == 1 && !strings.Contains(name, "."):
			return // each item is found by itself, however long it is
		case g.keyword == "index" && a.Type == model.Array && c.Declared(name) == a && len(g.names) > 1:
			k.Report(g.at.Item(i), "%s is an array, which has an index of its own: list it alone", name)
		case g.keyword == "index" && a.Type == model.Array && c.Declared(name) == a:
			k.Report(g.at, "%s is an array whose items can be anything or are no scalars: declare items with a scalar type, or remove it", name)
		case g.keyword == "index" && a.Type == model.Object && c.Declared(name) == a:
			k.Report(g.at, "%s is an object: list the paths of its properties, such as %s.city, in the index of the collection", name, name)
		case a.Kind() == model.KindJSON:
			k.Report(g.at, "%s is %s, which cannot be in %s: remove it", name, suggest.Article(string(a.Type)), g.keyword)
		default:
			members = append(members, a)
		}
	}
	if len(members) == len(g.names) {
		k.indexable(c, members, g, at)
		k.repeated(members, g)
	}
}

// insideOf finds the property of an object that an index names, or reports that there is none.
func (k *Checker) insideOf(c *model.Collection, attribute, path string, at Path) *model.Attribute {
	object := c.Declared(attribute)
	if object == nil {
		k.Report(at, "%s has no attribute %q%s", c.Name, attribute, suggest.DidYouMean(attribute, c.AttributeNames()))
		return nil
	}
	inside := object.Inside(strings.Split(path, "."))
	switch {
	case inside != nil:
	case object.Property(path) != nil:
		k.Report(at, "the property %q of %s cannot be indexed: %s: give it another name", path, attribute, model.Unaddressable)
	default:
		k.Report(at, "%s has no declared property %q: declare it in properties", attribute, path)
	}
	return inside
}

// indexable checks, by the maximum lengths of the strings, that all values of the group fit into an
// index.
func (k *Checker) indexable(c *model.Collection, members []*model.Attribute, g group, at Path) {
	lengthOf := func(a *model.Attribute) Path {
		if c.Declared(a.Name) != a {
			return g.at // a property
		}
		return at.To("attributes", a.Name, "maxLength")
	}
	room := maxIndexBytes
	var bounded, unbounded []*model.Attribute
	var characters int
	for _, a := range members {
		switch {
		case a.Kind() == 0 || a.MaxLength < 0:
			return // the attribute itself is invalid
		case a.Kind() != model.KindText || len(a.Enum) > 0 || a.Format == model.Email:
			room -= indexBytes(a)
		case a.MaxLength == 0:
			unbounded = append(unbounded, a)
		default:
			bounded = append(bounded, a)
			characters += a.MaxLength
		}
	}
	limit := max(room, 0) / maxRuneBytes
	switch {
	case len(unbounded) > 0:
		each := (limit - characters) / len(unbounded)
		if each < 1 {
			each = limit / (len(bounded) + len(unbounded))
		}
		for _, a := range unbounded {
			k.Report(lengthOf(a), "%s is in %s and needs a maxLength of at most %d, as an index has room for %d bytes and a character can take %d", a.Name, g.keyword, each, maxIndexBytes, maxRuneBytes)
		}
	case characters <= limit && room >= 0:
	case len(bounded) == 1 && len(members) == 1:
		k.Report(lengthOf(bounded[0]), "%s is in %s, so maxLength can be at most %d, as an index has room for %d bytes and a character can take %d", bounded[0].Name, g.keyword, limit, maxIndexBytes, maxRuneBytes)
	case len(bounded) > 0:
		k.Report(g.at, "%s can be at most %d here, but is %d, as an index has room for %d bytes and a character can take %d", lengthsOf(bounded), limit, characters, maxIndexBytes, maxRuneBytes)
	default:
		k.Report(g.at, "the values of this group take up to %d bytes, but an index has room for %d: remove an attribute", maxIndexBytes-room, maxIndexBytes)
	}
}

func lengthsOf(attributes []*model.Attribute) string {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = a.Name
	}
	if len(names) == 1 {
		return fmt.Sprintf("the maxLength of %s", names[0])
	}
	return fmt.Sprintf("the maxLength of %s together", strings.Join(names, " and "))
}

// indexBytes is the maximum size in an index of a value of bounded size.
func indexBytes(a *model.Attribute) int {
	switch a.Kind() {
	case model.KindUUID:
		return 16
	case model.KindDate:
		return 10
	case model.KindDateTime:
		return 24
	case model.KindText:
		if len(a.Constraints().Enum) == 0 { // an email, which is ASCII
			if a.MaxLength > 0 {
				return min(a.MaxLength, format.MaxEmail)
			}
			return format.MaxEmail
		}
		longest := 0
		for _, value := range a.Constraints().Enum {
			longest = max(longest, len(value.Text()))
		}
		return longest
	}
	return 8
}
