package schema

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// syntaxHints says what would be right, for the errors of the YAML library
// that people run into.
var syntaxHints = map[string]string{
	"did not find expected key":                             "this line does not fit the indentation of those above it",
	"did not find expected ',' or ']'":                      "the list that begins with [ must be closed with ]",
	"did not find expected ',' or '}'":                      "the mapping that begins with { must be closed with }",
	"could not find expected ':'":                           "a colon is missing behind a key, or the indentation is wrong",
	"mapping values are not allowed in this context":        "put text that has a colon in quotes, or start a new line with more indentation",
	"found character that cannot start any token":           "put text that begins with a special character in quotes",
	"did not find expected alphabetic or numeric character": "put text that begins with * or & in quotes",
	"found unexpected end of stream":                        "a quote is not closed",
}

// read parses the YAML document and resolves its aliases. It reports false when
// there is nothing to go on with.
func (p *parser) read(data []byte) (*yaml.Node, bool) {
	if at := invalidUTF8(data); at >= 0 {
		line, column := lineAndColumn(data, at)
		p.reportAt(nil, place{line, column}, "the file must be text in UTF-8")
		return nil, false
	}
	p.source = slices.Collect(bytes.Lines(data))
	lines := &lineReader{lines: p.source}
	decoder := yaml.NewDecoder(lines)
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if err == io.EOF || err == nil && isNullNode(document.Content[0]) {
		p.reportAt(nil, place{1, 1}, "the file is empty: declare collections: with at least one collection")
		return nil, false
	}
	if err == nil {
		err = decoder.Decode(&second)
	}
	switch {
	case err == io.EOF:
	case err != nil:
		p.syntax(lines.lines, lines.next, err)
		return nil, false
	default:
		p.reportAt(nil, place{second.Line, second.Column}, "a second document begins here: the file must be one YAML document, so remove the ---")
		return nil, false
	}
	root := p.resolve(document.Content[0], map[*yaml.Node]bool{})
	return root, len(p.problems) == 0
}

func invalidUTF8(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

func lineAndColumn(data []byte, at int) (line, column int) {
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	return bytes.Count(data[:at], []byte("\n")) + 1, utf8.RuneCount(data[start:at]) + 1
}

// lineReader hands out one line at a time. So when a parser fails, it is known
// how far it had come.
type lineReader struct {
	lines  [][]byte
	next   int
	offset int // in the line
}

func (r *lineReader) Read(dst []byte) (int, error) {
	if r.next == len(r.lines) {
		return 0, io.EOF
	}
	n := copy(dst, r.lines[r.next][r.offset:])
	r.offset += n
	if r.offset == len(r.lines[r.next]) {
		r.next, r.offset = r.next+1, 0
	}
	return n, nil
}

var syntaxError = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)`)

// syntax reports an error of the YAML library, after it has read a number of lines.
func (p *parser) syntax(lines [][]byte, read int, err error) {
	line := 1
	message := err.Error()
	if parts := syntaxError.FindStringSubmatch(message); parts != nil {
		message = parts[2]
		if n, err := strconv.Atoi(parts[1]); err == nil {
			line = n
		}
	}
	line = max(1, min(firstBadLine(lines, read, line), len(lines)))
	text := lines[line-1]
	indentation := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
	column := len(indentation) + 1
	hint := ""
	if tab := bytes.IndexByte(indentation, '\t'); tab >= 0 {
		column, hint = tab+1, ": indent with spaces, as YAML does not allow tabs here"
	} else if known := syntaxHints[message]; known != "" {
		hint = ": " + known
	}
	p.reportAt(nil, place{line, column}, "this is not YAML (%s)%s", message, hint)
}

// firstBadLine finds the line before which all is well. The library names the
// line where the surrounding block began, which can be far above.
func firstBadLine(lines [][]byte, read, named int) int {
	const attempts = 20
	for good := min(read, len(lines)) - 1; good >= max(0, read-attempts); good-- {
		if isYAML(bytes.Join(lines[:good], nil)) {
			return good + 1
		}
	}
	return named
}

func isYAML(data []byte) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return err == io.EOF
		}
	}
}

// maxNodes bounds what aliases can multiply a small file to.
const maxNodes = 100_000

var coreTags = map[string]bool{
	"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!timestamp": true, "!!map": true, "!!seq": true,
}

// resolve copies a document with every alias replaced by its value.
// What is beyond plain YAML is reported.
func (p *parser) resolve(n *yaml.Node, open map[*yaml.Node]bool) *yaml.Node {
	here := place{n.Line, n.Column}
	if p.nodes++; p.nodes > maxNodes {
		if p.nodes == maxNodes+1 {
			p.reportAt(nil, here, "the file has more than %d values, counting what aliases repeat: make it smaller", maxNodes)
		}
		return n
	}
	if n.Kind == yaml.AliasNode {
		if open[n.Alias] {
			p.reportAt(nil, here, "the alias *%s contains itself: write out what is meant", n.Value)
			return n
		}
		return p.resolve(n.Alias, open)
	}
	switch tag := n.ShortTag(); {
	case tag == "!!merge":
		p.reportAt(nil, here, "merge keys (<<) are not supported: write out the keys, or use an alias for a whole value")
	case !coreTags[tag]:
		p.reportAt(nil, here, "the tag %s is not supported: remove it", tag)
	}
	clone := *n
	clone.Content = make([]*yaml.Node, len(n.Content))
	open[n] = true
	for i, child := range n.Content {
		clone.Content[i] = p.resolve(child, open)
	}
	delete(open, n)
	return &clone
}

// isNullNode reports whether nothing, or null, was written.
func isNullNode(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// describe says what a node is, in words that need no knowledge of YAML.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNullNode(n) && n.Value == "":
		return "empty"
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!bool":
		return "the boolean " + n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	}
	return fmt.Sprintf("the text %q", n.Value[:min(len(n.Value), 60)])
}
