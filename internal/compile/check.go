package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// Path is a place in a schema: the keys that lead to it in YAML.
type Path []string

func (p Path) To(steps ...string) Path { return slices.Concat(p, steps) }

// Key is the Path as a comparable value. No name in a file contains its separator.
func (p Path) Key() string { return strings.Join(p, "\x00") }

func (p Path) Item(index int) Path { return p.To(strconv.Itoa(index)) }

// Checker checks a whole schema and collects the problems.
type Checker struct {
	Problems Problems
	declared []model.Collection
	versions model.Versions
	reported map[string]bool // paths
}

// Report adds a problem. It ignores further problems at the same place, which are mostly
// consequences of the first.
func (k *Checker) Report(at Path, format string, args ...any) {
	if key := at.Key(); !k.reported[key] {
		if k.reported == nil {
			k.reported = map[string]bool{}
		}
		k.reported[key] = true
		k.Problems = append(k.Problems, Problem{Path: at, Message: fmt.Sprintf(format, args...)})
	}
}

func (k *Checker) schema() {
	k.checkVersions()
	root := Path{"collections"}
	if len(k.declared) == 0 {
		k.Report(root, "there must be at least one collection, for example users with the attribute name")
	}
	for i := range k.declared {
		c := &k.declared[i]
		at := root.To(c.Name)
		if c.Name == "" {
			at = root.Item(i)
		}
		k.collectionName(c, k.declared[:i], at)
		k.singular(c, k.declared[:i], at.To("singular"))
		k.attributes(c, at)
		k.parent(c, at.To("parent"))
		k.async(c, at.To("async"))
		k.groups(c, at)
		k.search(c, at)
		k.checks(c, at.To("checks"))
	}
	k.relations()
	k.renamed(CollectionNames, len(k.declared), func(i int) (string, string, Path) {
		c := &k.declared[i]
		return c.Name, c.RenamedFrom, root.To(c.Name, "renamed_from")
	})
}

// renamed checks the former names of n declarations: no two may have the same former name, and no
// former name may still be declared.
func (k *Checker) renamed(rule NameRule, n int, names func(i int) (now, before string, at Path)) {
	declared, taken := map[string]bool{}, map[string]string{}
	for i := range n {
		now, _, _ := names(i)
		declared[now] = true
	}
	for i := range n {
		now, before, at := names(i)
		if before == "" {
			continue
		}
		if problem := rule.Problem(before); problem != "" {
			k.Report(at, "%s", problem)
		} else if declared[before] {
			k.Report(at, "there is still %s %s, so this one cannot have been renamed from it: remove renamed_from, or the other one", suggest.Article(rule.What), before)
		} else if taken[before] != "" {
			k.Report(at, "%s is renamed from %s already: remove one renamed_from", taken[before], before)
		}
		taken[before] = now
	}
}

// NameRule is the rule for the names of collections, attributes or roles.
type NameRule struct {
	What     string
	Pattern  *regexp.Regexp
	Allowed  string
	Reserved []string
}

const MaxName = 63

var (
	CollectionNames = NameRule{
		What:     "collection",
		Pattern:  regexp.MustCompile(`^[a-z]([a-z0-9_-]*[a-z0-9_])?$`),
		Allowed:  "a lower-case letter, then lower-case letters, digits, _ and (not at the end) -",
		Reserved: []string{"operations", "collections", "changes", "webhooks", "webhook-deliveries"},
	}
	AttributeNames = NameRule{
		What:     "attribute",
		Pattern:  regexp.MustCompile(`^[a-z][a-z0-9_]*$`),
		Allowed:  "a lower-case letter, then lower-case letters, digits and _",
		Reserved: []string{"id", "type", "created_at", "updated_at"},
	}
	RelationNames = NameRule{What: "relation", Pattern: AttributeNames.Pattern, Allowed: AttributeNames.Allowed, Reserved: AttributeNames.Reserved}
)

// Problem returns what is wrong with a name, empty if it is valid.
func (rule NameRule) Problem(name string) string {
	switch {
	case slices.Contains(rule.Reserved, name):
		return fmt.Sprintf("the name %s is reserved: choose another one", name)
	case !rule.Pattern.MatchString(name):
		return fmt.Sprintf("%q cannot be the name of %s: use %s", name, suggest.Article(rule.What), rule.Allowed)
	case len(name) > MaxName:
		return fmt.Sprintf("the name of %s can have at most %d characters, but this one has %d", suggest.Article(rule.What), MaxName, len(name))
	}
	return ""
}

// JSONSchema describes a name that follows the rule.
func (rule NameRule) JSONSchema() map[string]any {
	schema := map[string]any{"type": "string", "pattern": rule.Pattern.String(), "maxLength": MaxName}
	if len(rule.Reserved) > 0 {
		schema["not"] = map[string]any{"enum": rule.Reserved}
	}
	return schema
}

// reservedSingulars are those of the reserved names of collections.
var reservedSingulars = []string{"operation", "collection", "change", "webhook", "webhook-delivery"}

func (k *Checker) collectionName(c *model.Collection, earlier []model.Collection, at Path) {
	if problem := CollectionNames.Problem(c.Name); problem != "" {
		k.Report(at, "%s", problem)
	}
	if find(earlier, c.Name) != nil {
		k.Report(at, "the collection %s is declared twice: remove one of them, or rename it", c.Name)
	}
}

func (k *Checker) singular(c *model.Collection, earlier []model.Collection, at Path) {
	if CollectionNames.Problem(c.Name) != "" {
		return
	}
	if c.Singular == "" {
		k.Report(at, "no singular can be derived from %s: add singular: with a name for one of them", c.Name)
		return
	}
	if problem := CollectionNames.Problem(c.Singular); problem != "" {
		k.Report(at, "%s", problem)
		return
	}
	if slices.Contains(reservedSingulars, c.Singular) {
		k.Report(at, "the singular %s is reserved: add singular: with another name", c.Singular)
		return
	}
	if find(k.declared, c.Singular) != nil {
		k.Report(at, "the singular %s is also the name of a collection: add singular: with another name", c.Singular)
	}
	for i := range earlier {
		if c.Singular == earlier[i].Singular && c.Name != earlier[i].Name {
			k.Report(at, "the singular %s is also that of %s: add singular: with another name", c.Singular, earlier[i].Name)
		}
	}
}

// maxAttributes is below the number of columns that every database allows.
const maxAttributes = 1000

func (k *Checker) attributes(c *model.Collection, at Path) {
	if n := len(c.Attributes); n > maxAttributes {
		k.Report(at.To("attributes"), "there are %d attributes, and no database holds so many: declare at most %d, and put the rest into objects", n, maxAttributes)
		return
	}
	for i := range c.Attributes {
		a := &c.Attributes[i]
		place := at.To("attributes", a.Name)
		if a.Name == "" {
			place = at.To("attributes").Item(i)
		}
		if problem := AttributeNames.Problem(a.Name); problem != "" {
			k.Report(place, "%s", problem)
		}
		if c.Declared(a.Name) != a {
			k.Report(place, "the attribute %s is declared twice: remove one of them, or rename it", a.Name)
		}
		if a.References != nil {
			k.reference(c, a, at)
		}
		k.attribute(a, place, 1)
		k.attributeRules(a, place)
		k.until(c, a, place)
	}
	k.renamed(AttributeNames, len(c.Attributes), func(i int) (string, string, Path) {
		a := &c.Attributes[i]
		return a.Name, a.RenamedFrom, at.To("attributes", a.Name, "renamed_from")
	})
}

func (k *Checker) reference(c *model.Collection, a *model.Attribute, at Path) {
	place := at.To("attributes", a.Name)
	if a.Type != model.String && model.IsType(a.Type) {
		k.Report(place.To("type"), "%s holds the id of another resource: leave out type, or write string", a.Name)
	} else if a.Format != model.UUID && isFormat(a.Format) {
		k.Report(place.To("format"), "%s holds the id of another resource: leave out format, or write uuid", a.Name)
	}
	if a.Default != nil {
		k.Report(place.To("default"), "a reference cannot have a default: remove it")
	}
	link := place.To("references")
	if c.Parent != nil && c.Parent.Attribute == a.Name {
		if a.References.Collection != c.Parent.Collection {
			k.Report(link.To("collection"), "%s holds the id of the parent, so it must refer to %s and not to %s: change it, or the attribute of the parent", a.Name, c.Parent.Collection, a.References.Collection)
			return
		}
		if a.References.OnDelete != c.Parent.OnDelete {
			k.Report(at.To("parent", "on_delete"), "the parent says %s, but the attribute %s says %s: keep one of them", c.Parent.OnDelete, a.Name, a.References.OnDelete)
			return
		}
		link = at.To("parent")
	}
	k.collectionExists(a.References.Collection, link.To("collection"))
	k.onDelete(a.References.OnDelete, link.To("on_delete"))
	if a.References.OnDelete == model.SetNull && a.Required {
		k.Report(link.To("on_delete"), "set_null needs an attribute that can be null, and %s is required: use restrict or cascade, or make it not required", a.Name)
	}
}

func (k *Checker) onDelete(choice model.OnDelete, at Path) {
	if !slices.Contains(model.OnDeletes, choice) {
		k.Report(at, "on_delete must be %s, but is %q%s", suggest.OneOf(model.OnDeletes), choice, suggest.DidYouMean(string(choice), model.OnDeletes))
	}
}

// parent checks the declaration of a parent. The attribute that FillIn made of it is checked like
// any other.
func (k *Checker) parent(c *model.Collection, at Path) {
	if c.Parent == nil || c.Declared(c.Parent.Attribute) != nil {
		return
	}
	if c.Parent.OnDelete != "" {
		k.onDelete(c.Parent.OnDelete, at.To("on_delete"))
	}
	// Without a name of the parent, or with one that has no singular, there is
	// no name for the attribute either.
	if k.collectionExists(c.Parent.Collection, at.To("collection")) && c.Parent.Attribute != "" {
		k.Report(at.To("attribute"), "%s", AttributeNames.Problem(c.Parent.Attribute))
	}
}

func (k *Checker) collectionExists(name string, at Path) bool {
	var names []string
	for i := range k.declared {
		names = append(names, k.declared[i].Name)
	}
	switch {
	case slices.Contains(names, name):
		return true
	case name == "":
		k.Report(at, "name a collection: %s", suggest.OneOf(names))
	default:
		k.Report(at, "there is no collection %q%s", name, suggest.DidYouMean(name, names))
	}
	return false
}

func (k *Checker) async(c *model.Collection, at Path) {
	for i, method := range c.Async {
		if !slices.Contains(model.WriteMethods(), method) {
			k.Report(at.Item(i), "%q is no method that writes: use %s", method, suggest.OneOf(model.WriteMethods()))
		} else if slices.Contains(c.Async[:i], method) {
			k.Report(at.Item(i), "%s is listed twice: remove one of them", method)
		}
	}
}
