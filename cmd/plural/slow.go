package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// slowList is what a log says of the lists of one shape, or of a relation that they include.
type slowList struct {
	Collection string  `json:"collection"` // of the resources
	List       string  `json:"list"`       // the collection that is listed
	Relation   string  `json:"relation"`   // of the list; empty: it is the list itself
	Piece      int     `json:"piece"`      // of the response, of the slowest
	Filter     string  `json:"filter"`
	Sort       string  `json:"sort"`
	Plan       string  `json:"plan"`
	Ms         float64 `json:"ms"` // of the slowest
	times      int
}

// slowListMessage is the message of log lines about slow lists.
const slowListMessage = "slow list"

// maxLogLine bounds a line of a log; the server writes shorter ones.
const maxLogLine = 1 << 20

// reportSlow reads a log and prints the slow lists in it, the slowest first, with an index that would serve them.
func reportSlow(in io.Reader, out io.Writer, s *model.Schema) error {
	found := map[[5]string]*slowList{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLogLine)
	for lines.Scan() {
		read, ok := parseSlowLine(lines.Text())
		if !ok {
			continue
		}
		key := [5]string{read.Collection, read.List, read.Relation, read.Filter, read.Sort}
		if found[key] == nil {
			found[key] = &read
		}
		known := found[key]
		known.times++
		if read.Ms >= known.Ms {
			known.Ms, known.Plan, known.Piece = read.Ms, read.Plan, read.Piece
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the log cannot be read: %w", err)
	}
	if len(found) == 0 {
		fmt.Fprintln(out, "The log has no slow lists.")
		return nil
	}
	all := slices.SortedFunc(maps.Values(found), func(a, b *slowList) int {
		return cmp.Or(cmp.Compare(b.Ms, a.Ms), cmp.Compare(a.Collection+a.Filter+a.Sort, b.Collection+b.Filter+b.Sort))
	})
	for _, each := range all {
		each.print(out, s.Collection(each.Collection))
	}
	return nil
}

// parseSlowLine reads a line of a log in text or JSON, to which other programs may have added a prefix.
func parseSlowLine(line string) (s slowList, ok bool) {
	if start := strings.Index(line, `{"time":`); start >= 0 {
		parsed := struct {
			Message string `json:"msg"`
			*slowList
		}{slowList: &s}
		err := json.Unmarshal([]byte(line[start:]), &parsed)
		return s, err == nil && parsed.Message == slowListMessage
	}
	values := map[string]string{}
	_, rest, ok := strings.Cut(line, " msg="+strconv.Quote(slowListMessage)+" ")
	for ok && rest != "" {
		var name, value string
		if name, rest, ok = strings.Cut(rest, "="); !ok {
			return s, false
		}
		if value, rest, ok = cutValue(rest); !ok {
			return s, false
		}
		values[name] = value
	}
	ms, _ := strconv.ParseFloat(values["ms"], 64) // zero if somebody has changed the line
	piece, _ := strconv.Atoi(values["piece"])
	return slowList{Collection: values["collection"], List: values["list"], Relation: values["relation"], Piece: piece, Filter: values["filter"], Sort: values["sort"], Plan: values["plan"], Ms: ms}, ok
}

// cutValue reads a value, which may be quoted, and what follows it.
func cutValue(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, " ")
		return value, rest, true
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", false
	}
	value, err = strconv.Unquote(quoted)
	return value, strings.TrimPrefix(text[len(quoted):], " "), err == nil
}

// print writes a shape with what can be done about it. The collection is nil if the schema has none of that name.
func (s *slowList) print(out io.Writer, c *model.Collection) {
	what := s.Collection
	if s.Relation != "" {
		what += " that " + s.List + " includes as " + s.Relation
	}
	if s.Filter != "" {
		what += " with filters " + strings.ReplaceAll(s.Filter, ",", ", ")
	}
	if s.Sort != "" {
		what += " sorted by " + strings.ReplaceAll(s.Sort, ",", ", ")
	}
	piece := ""
	if s.Piece > 1 {
		piece = fmt.Sprintf(" for piece %d of the response", s.Piece)
	}
	fmt.Fprintf(out, "%s: up to %.0f ms%s, logged %s\n  plan: %s\n", what, s.Ms, piece, timesText(s.times), s.Plan)
	group, rest := s.index()
	name := strings.Join(group, ", ")
	switch {
	case c == nil:
		fmt.Fprintln(out, "  The schema has no such collection.")
		return
	case len(group) == 0:
		fmt.Fprintln(out, "  No index of the schema helps: one serves filters of attributes for equal values, and sorts by attributes in one direction. Ask for smaller ranges, or filter by an indexed attribute.")
		return
	case hasIndex(c, group, len(s.equal())):
		fmt.Fprintf(out, "  The schema has an index for it: [%s]. %s\n", name, s.smaller())
	case len(group) == 1:
		fmt.Fprintf(out, "  In the schema, add to %s: index: [%s]\n", s.Collection, name)
	default:
		fmt.Fprintf(out, "  In the schema, add to %s: index: [[%s]]\n", s.Collection, name)
	}
	if len(rest) > 0 {
		fmt.Fprintf(out, "  No index has the whole order: resources with the same values of %s are sorted by %s. If these are many, sort by attributes in one direction.\n", name, strings.Join(rest, ", "))
	}
}

// smaller is what helps where an index does not.
func (s *slowList) smaller() string {
	if s.Relation != "" {
		return "Include fewer resources: include[" + s.Relation + "][limit]."
	}
	return "Ask for smaller ranges, or use cursors instead of large offsets."
}

func timesText(times int) string {
	if times == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", times)
}

// equal are the fields that must have one value.
func (s *slowList) equal() (fields []string) {
	for condition := range strings.SplitSeq(s.Filter, ",") {
		if field, ok := strings.CutSuffix(condition, "[eq]"); ok && !strings.Contains(field, " ") && !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	return fields
}

// index is the group of an index that serves the list: the fields that must have one value, and then those that it is sorted
// by, up to the first that is no attribute or has another direction. Rest is the sort keys from there on. The group is empty if
// no index helps.
func (s *slowList) index() (group, rest []string) {
	own := []string{"id", "type", "created_at", "updated_at"} // an index has attributes
	group = s.equal()
	if slices.ContainsFunc(group, func(field string) bool { return slices.Contains(own, field) }) {
		return nil, nil
	}
	keys := slices.DeleteFunc(strings.Split(s.Sort, ","), func(key string) bool { return key == "" || key == "id" })
	for i, key := range keys {
		field, descending := strings.CutPrefix(key, "-")
		if slices.Contains(own, field) || descending != strings.HasPrefix(keys[0], "-") {
			return group, keys[i:]
		}
		if !slices.Contains(group, field) {
			group = append(group, field)
		}
	}
	return group, nil
}

// hasIndex reports whether a collection has an index that begins with a group, whose first fields can be in any
// order.
func hasIndex(c *model.Collection, group []string, equal int) bool {
	var indexes [][]string
	for _, index := range c.IndexGroups() {
		var names []string
		for _, part := range index {
			names = append(names, part.Name(c))
		}
		indexes = append(indexes, names)
	}
	for _, index := range c.UniqueGroups() {
		var names []string
		for _, column := range index {
			names = append(names, c.Columns()[column].Name)
		}
		indexes = append(indexes, names)
	}
	for _, link := range c.Links() {
		indexes = append(indexes, []string{c.Columns()[link.Column].Name})
	}
	return slices.ContainsFunc(indexes, func(index []string) bool {
		if len(index) < len(group) || !slices.Equal(index[equal:len(group)], group[equal:]) {
			return false
		}
		first := slices.Sorted(slices.Values(index[:equal]))
		return slices.Equal(first, slices.Sorted(slices.Values(group[:equal])))
	})
}
