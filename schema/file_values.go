package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// parser turns a YAML document into declarations and collects what is wrong
// with its structure. What the declarations mean is checked afterwards, as for
// those made in Go.
type parser struct {
	problems Problems
	hidden   map[string]bool // places that are wrong already, so that more would only confuse
	places   map[string]place
	source   [][]byte // the lines of the file
	nodes    int
	required []requirement
}

// place is a line and a column of the file, from 1.
type place struct{ line, column int }

// entry is a value in the document, with the key or the item that holds it.
type entry struct {
	name  string // "this item" in a list
	node  *yaml.Node
	at    compile.Path
	place place
	key   place // of the name, in a mapping
}

// reportAt notes a problem at a place.
func (p *parser) reportAt(at compile.Path, where place, format string, args ...any) {
	p.problems = append(p.problems, Problem{Path: at, Line: where.line, Column: where.column, Message: fmt.Sprintf(format, args...)})
}

// wrong notes that a value is not what it must be.
func (p *parser) wrong(e entry, format string, args ...any) {
	p.hide(e.at)
	p.reportAt(e.at, e.place, format, args...)
}

// hide keeps quiet about problems at a compile.Path, and below it.
func (p *parser) hide(at compile.Path) {
	p.hidden[at.Key()] = true
	// Without its attributes, most of a collection would seem to be wrong; the
	// parent is one of them.
	if len(at) == 3 && (at[2] == "attributes" || at[2] == "parent") {
		p.hidden[at[:2].Key()] = true
	}
}

func (p *parser) isHidden(at compile.Path) bool {
	for end := range len(at) + 1 {
		if p.hidden[at[:end].Key()] {
			return true
		}
	}
	return false
}

// adopt gives problems that were found in the declarations their places in
// the file: see nearest. Those in an expression have one already.
func (p *parser) adopt(problems Problems) {
	for _, problem := range problems {
		if p.isHidden(problem.Path) {
			continue
		}
		where := place{problem.Line, problem.Column}
		if problem.Line == 0 {
			where = p.nearest(problem.Path)
		}
		p.reportAt(problem.Path, where, "%s", problem.Message)
	}
}

// nearest is the place of a path or, if something is missing there, of the nearest thing around it.
func (p *parser) nearest(path compile.Path) place {
	for end := len(path); end > 0; end-- {
		if known, ok := p.places[path[:end].Key()]; ok {
			return known
		}
	}
	return place{1, 1}
}

// mapping lists the entries of a mapping in their order. With keys, it can have
// those and no others. An empty value is an empty mapping.
func (p *parser) mapping(e entry, keys []model.Keyword) []entry {
	if isNullNode(e.node) {
		return nil
	}
	if e.node.Kind != yaml.MappingNode {
		p.wrong(e, "%s must be a mapping (lines of key: value, indented), but is %s", e.name, describe(e.node))
		return nil
	}
	var entries []entry
	lines := map[string]int{}
	for i := 0; i < len(e.node.Content); i += 2 {
		name, value := e.node.Content[i], e.node.Content[i+1]
		key := place{name.Line, name.Column}
		if name.Kind != yaml.ScalarNode {
			p.reportAt(e.at, key, "a key must be a name, but this is %s", describe(name))
			continue
		}
		at := e.at.To(name.Value)
		if first, ok := lines[name.Value]; ok {
			p.reportAt(at, key, "the key %s is here twice, first in line %d: remove one of them", name.Value, first)
			continue
		}
		lines[name.Value] = name.Line
		if keys != nil && model.FindKeyword(keys, name.Value) == nil {
			p.unknownKey(e, name.Value, key, keys)
			continue
		}
		here := key
		if value.Kind == yaml.ScalarNode && !(isNullNode(value) && value.Value == "") {
			here = place{value.Line, value.Column}
		}
		p.places[at.Key()] = here
		entries = append(entries, entry{name.Value, value, at, here, key})
	}
	return entries
}

// unknownKey also hides that the key which was meant is missing.
func (p *parser) unknownKey(e entry, name string, here place, keys []model.Keyword) {
	known := model.KeywordNames(keys)
	table := keyHints[known[0]]
	if near := suggest.Nearest(name, known); near != "" && table.Find(name) == "" {
		p.hide(e.at.To(near))
	}
	p.reportAt(e.at.To(name), here, "there is no key %q here%s", name, suggest.Instead(name, table, known))
}

// list lists the items of a list.
func (p *parser) list(e entry, of string) []entry {
	if e.node.Kind != yaml.SequenceNode {
		p.wrong(e, "%s must be a list of %s, but is %s", e.name, of, describe(e.node))
		return nil
	}
	entries := make([]entry, len(e.node.Content))
	for i, item := range e.node.Content {
		entries[i] = entry{name: "this item", node: item, at: e.at.Item(i), place: place{item.Line, item.Column}}
		p.places[entries[i].at.Key()] = entries[i].place
	}
	return entries
}

// texts reads a list of text. It is nil if that is empty.
func (p *parser) texts(e entry, of string) (all []string) {
	for _, e := range p.list(e, of) {
		all = append(all, p.text(e))
	}
	return all
}

func isTextNode(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!str" || n.ShortTag() == "!!timestamp")
}

func (p *parser) text(e entry) string {
	if isTextNode(e.node) {
		return e.node.Value
	}
	hint := ""
	if e.node.Kind == yaml.ScalarNode && !isNullNode(e.node) {
		hint = fmt.Sprintf(": write it in quotes, %q", e.node.Value)
	}
	p.wrong(e, "%s must be text, but is %s%s", e.name, describe(e.node), hint)
	return ""
}

func (p *parser) boolean(e entry) bool {
	if e.node.Kind == yaml.ScalarNode && e.node.ShortTag() == "!!bool" {
		if value, err := strconv.ParseBool(e.node.Value); err == nil {
			return value
		}
	}
	hint := booleanHints.Find(e.node.Value)
	if hint != "" {
		hint = ": " + hint
	}
	p.wrong(e, "%s must be true or false, but is %s%s", e.name, describe(e.node), hint)
	return false
}

// count reads a length, which has a least value.
func (p *parser) count(e entry, least int) int {
	if e.node.Kind == yaml.ScalarNode && e.node.ShortTag() == "!!int" && compile.NumberSyntax.MatchString(e.node.Value) {
		if value, err := strconv.ParseInt(e.node.Value, 10, 32); err == nil && int(value) >= least {
			return int(value)
		}
	}
	p.wrong(e, "%s must be an integer that is %d or more, but is %s", e.name, least, describe(e.node))
	return 0
}

func isNumberNode(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!int" || n.ShortTag() == "!!float")
}

// number keeps the decimal text, so that no digit is lost.
func (p *parser) number(e entry) json.Number {
	if isNumberNode(e.node) && len(e.node.Value) <= compile.MaxNumberText && compile.NumberSyntax.MatchString(e.node.Value) {
		return json.Number(e.node.Value)
	}
	hint := ""
	if e.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && compile.NumberSyntax.MatchString(e.node.Value) {
		hint = ": write it without quotes, " + e.node.Value
	}
	p.wrong(e, "%s must be a decimal number such as 10 or 0.5, but is %s%s", e.name, describe(e.node), hint)
	return ""
}

// constant reads any value but null. It is nil when it was wrong.
func (p *parser) constant(e entry) any {
	switch {
	case isNullNode(e.node):
		p.wrong(e, "%s cannot be null: remove it, as every attribute that is not required can be null and is null by default", e.name)
		return nil
	case e.node.Kind == yaml.ScalarNode:
		return p.scalar(e)
	}
	before := len(p.problems)
	text := p.appendJSON(nil, e)
	if len(p.problems) > before {
		p.hide(e.at)
		return nil
	}
	return json.RawMessage(text)
}

func (p *parser) scalar(e entry) any {
	switch {
	case isNumberNode(e.node):
		if number := p.number(e); number != "" {
			return number
		}
		return nil
	case e.node.ShortTag() == "!!bool":
		return p.boolean(e)
	case e.node.Style == 0 && slices.Contains(oldBooleans, strings.ToLower(e.node.Value)):
		p.wrong(e, "%s is %s without quotes, which some programs read as text and some as a boolean: write it in quotes, %q, or write true or false", e.name, e.node.Value, e.node.Value)
		return nil
	}
	return e.node.Value
}

// oldBooleans were booleans until YAML 1.2, and are text since.
var oldBooleans = []string{"yes", "no", "on", "off"}

// appendJSON appends a value as JSON, with its members in their order.
func (p *parser) appendJSON(dst []byte, e entry) []byte {
	switch {
	case isNullNode(e.node):
		return append(dst, "null"...)
	case e.node.Kind == yaml.MappingNode:
		dst = append(dst, '{')
		for i, member := range p.mapping(e, nil) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(model.AppendQuoted(dst, member.name), ':')
			dst = p.appendJSON(dst, member)
		}
		return append(dst, '}')
	case e.node.Kind == yaml.SequenceNode:
		dst = append(dst, '[')
		for i, item := range p.list(e, "values") {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = p.appendJSON(dst, item)
		}
		return append(dst, ']')
	}
	text, err := model.Marshal(p.scalar(e))
	if err != nil {
		panic(err) // a string, boolean or number that was checked
	}
	return append(dst, text...)
}
