// Package slowlog reads the slow lists in logs of servers, and suggests indexes for them.
package slowlog

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

// list is what a log says of the lists of one shape, or of a relation that they include.
type list struct {
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

// message is the message of log lines about slow lists.
const message = "slow list"

// maxLogLine bounds a line of a log; the server writes shorter ones.
const maxLogLine = 1 << 20

// Report reads a log and prints the slow lists in it, the slowest first, with an index that would serve them.
func Report(in io.Reader, out io.Writer, s *model.Schema) error {
	found := map[[5]string]*list{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLogLine)
	for lines.Scan() {
		read, ok := parse(lines.Text())
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
	all := slices.SortedFunc(maps.Values(found), func(a, b *list) int {
		return cmp.Or(cmp.Compare(b.Ms, a.Ms), cmp.Compare(a.Collection+a.Filter+a.Sort, b.Collection+b.Filter+b.Sort))
	})
	for _, each := range all {
		each.print(out, s.Collection(each.Collection))
	}
	return nil
}

// parse reads a line of a log in text or JSON, to which other programs may have added a prefix.
func parse(line string) (s list, ok bool) {
	if start := strings.Index(line, `{"time":`); start >= 0 {
		parsed := struct {
			Message string `json:"msg"`
			*list
		}{list: &s}
		err := json.Unmarshal([]byte(line[start:]), &parsed)
		return s, err == nil && parsed.Message == message
	}
	values := map[string]string{}
	_, rest, ok := strings.Cut(line, " msg="+strconv.Quote(message)+" ")
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
	return list{Collection: values["collection"], List: values["list"], Relation: values["relation"], Piece: piece, Filter: values["filter"], Sort: values["sort"], Plan: values["plan"], Ms: ms}, ok
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
func (s *list) print(out io.Writer, c *model.Collection) {
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
	group, rest := s.index(c)
	name := strings.Join(group, ", ")
	switch {
	case c == nil:
		fmt.Fprintln(out, "  The schema has no such collection.")
		return
	case len(group) == 0:
		fmt.Fprintln(out, "  No index of the schema helps: one serves filters of attributes for equal values, and sorts by attributes. Ask for smaller ranges, or filter by an indexed attribute.")
		return
	case hasIndex(c, group, len(s.equal())):
		fmt.Fprintf(out, "  The schema has an index for it: [%s]. %s\n", name, s.smaller())
	case len(group) == 1:
		fmt.Fprintf(out, "  In the schema, add to %s: index: [%s]\n", s.Collection, name)
	default:
		fmt.Fprintf(out, "  In the schema, add to %s: index: [[%s]]\n", s.Collection, name)
	}
	if len(rest) > 0 {
		fmt.Fprintf(out, "  No index has the whole order: resources with the same values of %s are sorted by %s. If these are many, sort by attributes of the collection itself.\n", name, strings.Join(rest, ", "))
	}
}

// smaller is what helps where an index does not.
func (s *list) smaller() string {
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
func (s *list) equal() (fields []string) {
	for condition := range strings.SplitSeq(s.Filter, ",") {
		if field, ok := strings.CutSuffix(condition, "[eq]"); ok && !strings.Contains(field, " ") && !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	return fields
}

// index is the group of an index that serves the list: the fields that must have one value, and then those that it is sorted
// by, up to the first that is no attribute of the collection. Rest is the sort keys from there on. The group is empty if no index
// helps. An index can be read backwards, so that only keys of different directions have a minus in it.
func (s *list) index(c *model.Collection) (group, rest []string) {
	group = s.equal()
	if slices.ContainsFunc(group, func(field string) bool { return !isIndexable(c, field) }) {
		return nil, nil
	}
	keys := slices.DeleteFunc(strings.Split(s.Sort, ","), func(key string) bool { return key == "" || key == "id" })
	if last := slices.IndexFunc(keys, func(key string) bool { return !isIndexable(c, strings.TrimPrefix(key, "-")) }); last >= 0 {
		keys, rest = keys[:last], keys[last:]
	}
	descends := func(key string) bool { return strings.HasPrefix(key, "-") }
	oneDirection := !slices.ContainsFunc(keys, func(key string) bool { return descends(key) != descends(keys[0]) })
	for _, key := range keys {
		field := strings.TrimPrefix(key, "-")
		switch {
		case slices.Contains(group, field):
		case oneDirection:
			group = append(group, field)
		default:
			group = append(group, key)
		}
	}
	return group, rest
}

// isIndexable reports whether an index of a collection can have a field. It can if the collection is not known.
func isIndexable(c *model.Collection, field string) bool {
	if slices.Contains([]string{"id", "type", "created_at", "updated_at"}, field) {
		return false
	}
	first, _, _ := strings.Cut(field, ".")
	return c == nil || c.Declared(first) != nil
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
	backwards := func(name string) string {
		if field, descends := strings.CutPrefix(name, "-"); descends {
			return field
		}
		return "-" + name
	}
	return slices.ContainsFunc(indexes, func(index []string) bool {
		if len(index) < len(group) {
			return false
		}
		for i := range equal {
			index[i] = strings.TrimPrefix(index[i], "-")
		}
		first := slices.Sorted(slices.Values(index[:equal]))
		if !slices.Equal(first, slices.Sorted(slices.Values(group[:equal]))) {
			return false
		}
		order, wanted := index[equal:len(group)], group[equal:]
		return slices.Equal(order, wanted) || slices.EqualFunc(order, wanted, func(a, b string) bool { return a == backwards(b) })
	})
}
