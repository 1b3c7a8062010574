package schema

import (
	"cmp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// File is what a schema file says.
type File struct {
	Schema   *Schema
	Info     Info
	Access   *Access   // nil: it says nothing of access
	Settings []Setting // of the server, in the order of the file
}

// Setting is one entry under "server". Whether there is such a setting, and
// what its values are, is for the server to know.
type Setting struct {
	Name, Value          string
	Line, Column         int // of the value, from 1
	NameLine, NameColumn int // of its name, from 1
}

// Parse reads a schema file. All mistakes are reported at once, as Problems with
// line and column, in the order of the file. A file with mistakes has no Schema,
// but the Settings that could be read, so that these can be checked as well; one
// that is not YAML at all is nil.
func Parse(data []byte) (*File, error) {
	p := &parser{hidden: map[string]bool{}, places: map[string]place{}}
	file := p.file(data)
	if len(p.problems) == 0 {
		return file, nil
	}
	slices.SortStableFunc(p.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	// What an alias repeats is wrong in one place only.
	return file, slices.CompactFunc(p.problems, func(a, b Problem) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Message == b.Message
	})
}

func (p *parser) file(data []byte) *File {
	root, ok := p.read(data)
	if !ok {
		return nil
	}
	file := &File{}
	var declared []model.Collection
	var versions model.Versions
	for _, e := range p.mapping(entry{name: "the file", node: root, place: place{root.Line, root.Column}}, rootKeys) {
		switch e.name {
		case "collections":
			for i, e := range p.mapping(e, nil) {
				declared = append(declared, p.collection(e, i))
			}
		case "info":
			file.Info = p.info(e)
		case "version":
			versions.Newest = p.version(e)
		case "deprecated":
			versions.Deprecated = p.deprecated(e)
		case "access":
			file.Access = p.access(e)
		case "server":
			file.Settings = p.settings(e)
		}
	}
	// The attributes of parents must be there before they can be required.
	compile.FillIn(declared)
	p.require(declared)
	if p.isHidden(compile.Path{"version"}) {
		versions.Newest = compile.WrongVersion
	}
	compiled, err := compile.Versioned(versions, declared...)
	if err != nil {
		p.adopt(problemsOf(err))
	}
	p.adopt(file.Info.Check())
	if len(p.problems) == 0 {
		file.Schema = (*Schema)(compiled)
		if file.Access != nil {
			p.adopt(file.Access.Check(file.Schema))
		}
	}
	if len(p.problems) > 0 {
		file.Schema = nil
	}
	return file
}

// version reads the number of the newest version.
func (p *parser) version(e entry) int {
	if e.node.Kind == yaml.ScalarNode && (isTextNode(e.node) || e.node.ShortTag() == "!!float") {
		p.wrong(e, "version must be an integer such as 1, which clients name in API-Version, but is %s: write a text for people under info", describe(e.node))
		return 0
	}
	return p.count(e, 1)
}

// deprecated reads the date on which each deprecated version ends.
func (p *parser) deprecated(e entry) map[int]string {
	ends := map[int]string{}
	for _, e := range p.mapping(e, nil) {
		number, err := strconv.Atoi(e.name)
		switch {
		case err != nil || strconv.Itoa(number) != e.name:
			p.reportAt(e.at, e.key, "%q is not the number of a version: write one such as {2: 2027-01-01}", e.name)
		case !isTextNode(e.node):
			p.wrong(e, "the date on which version %d ends must be written as 2027-01-01, but is %s", number, describe(e.node))
		default:
			ends[number] = e.node.Value
		}
	}
	return ends
}

func (p *parser) settings(e entry) []Setting {
	var settings []Setting
	for _, e := range p.mapping(e, nil) {
		if e.node.Kind != yaml.ScalarNode || isNullNode(e.node) {
			p.wrong(e, "%s must be text, a number or a boolean, but is %s", e.name, describe(e.node))
			continue
		}
		settings = append(settings, Setting{Name: e.name, Value: e.node.Value, Line: e.place.line, Column: e.place.column, NameLine: e.key.line, NameColumn: e.key.column})
	}
	return settings
}

func (p *parser) collection(e entry, index int) model.Collection {
	c := model.Collection{Name: e.name}
	texts := map[string]*string{"description": &c.Description, "label": &c.Label, "singular": &c.Singular, "renamed_from": &c.RenamedFrom}
	for _, e := range p.mapping(e, collectionKeys) {
		switch e.name {
		case "attributes":
			for _, e := range p.mapping(e, nil) {
				c.Attributes = append(c.Attributes, p.attribute(e, false))
			}
		case "required":
			for _, e := range p.list(e, "attributes") {
				p.required = append(p.required, requirement{index, p.text(e), e})
			}
		case "unique":
			c.Unique = p.groups(e)
		case "index":
			c.Index = p.groups(e)
		case "search":
			c.Search = p.texts(e, "attributes")
		case "parent":
			c.Parent = p.parent(e, parentKeys)
		case "timestamps":
			c.NoTimestamps = !p.boolean(e)
		case "require_if_match":
			c.RequireIfMatch = p.boolean(e)
		case "async":
			c.Async = p.methods(e)
		case "checks":
			c.Checks = p.checks(e)
		default:
			*texts[e.name] = p.text(e)
		}
	}
	return c
}

// methods reads a list of methods, or a boolean for all or none of them.
func (p *parser) methods(e entry) []string {
	if e.node.Kind == yaml.SequenceNode {
		return p.texts(e, "methods")
	}
	if e.node.Kind != yaml.ScalarNode || e.node.ShortTag() != "!!bool" {
		p.wrong(e, "%s must be true, false or a list of methods, but is %s", e.name, describe(e.node))
		return nil
	}
	if p.boolean(e) {
		return model.WriteMethods()
	}
	return nil
}

// requirement is an item of a collection's list of required attributes.
type requirement struct {
	collection int
	name       string
	entry      entry
}

func (p *parser) require(declared []model.Collection) {
	listed := map[*model.Attribute]bool{} // what has a lifecycle can be required already
	for _, r := range p.required {
		c := &declared[r.collection]
		a := c.Declared(r.name)
		switch {
		case p.isHidden(r.entry.at):
		case a == nil:
			p.wrong(r.entry, "%s has no attribute %q%s", c.Name, r.name, suggest.DidYouMean(r.name, c.AttributeNames()))
		case listed[a]:
			p.wrong(r.entry, "%s is listed twice: remove one of them", r.name)
		default:
			a.Required, listed[a] = true, true
		}
	}
}

// groups reads a list of attributes and of lists of attributes; one attribute
// alone will do.
func (p *parser) groups(e entry) [][]string {
	if isTextNode(e.node) {
		return [][]string{{e.node.Value}}
	}
	groups := [][]string{}
	for _, e := range p.list(e, "attributes, or of lists of them") {
		if e.node.Kind == yaml.SequenceNode {
			groups = append(groups, p.texts(e, "attributes"))
		} else {
			groups = append(groups, []string{p.text(e)})
		}
	}
	return groups
}

// parent reads the name of a collection, or a mapping that says more. A
// reference is read the same way, with fewer keys.
func (p *parser) parent(e entry, keys []model.Keyword) *model.Parent {
	if isTextNode(e.node) {
		return &model.Parent{Collection: e.node.Value}
	}
	if e.node.Kind != yaml.MappingNode {
		p.wrong(e, "%s must be the name of a collection, or a mapping with %s, but is %s", e.name, suggest.OneOf(model.KeywordNames(keys)), describe(e.node))
		return nil
	}
	parent := &model.Parent{}
	fields := map[string]*string{
		"collection": &parent.Collection, "attribute": &parent.Attribute, "on_delete": (*string)(&parent.OnDelete), "as": &parent.As, "inverse": &parent.Inverse,
	}
	for _, e := range p.mapping(e, keys) {
		*fields[e.name] = p.text(e)
	}
	return parent
}
