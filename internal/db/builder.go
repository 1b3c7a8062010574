package db

import (
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Builder is a piece of SQL under construction with its arguments. Names come
// from the schema and values go through Arg, so that no text of a client ever
// becomes SQL.
type Builder struct {
	strings.Builder
	Args []model.Value
}

// Write adds text.
func (s *Builder) Write(parts ...string) {
	for _, part := range parts {
		_, _ = s.WriteString(part)
	}
}

// Arg adds a placeholder for a value.
func (s *Builder) Arg(value model.Value) {
	s.Args = append(s.Args, value)
	s.Write("$", strconv.Itoa(len(s.Args)))
}

// Placeholder returns a placeholder for a value. It must be written before the next Arg.
func (s *Builder) Placeholder(value model.Value) string {
	s.Args = append(s.Args, value)
	return "$" + strconv.Itoa(len(s.Args))
}

// List writes n items with a separator, or the text empty if there are none.
func (s *Builder) List(n int, separator, empty string, item func(i int)) {
	if n == 0 {
		s.Write(empty)
		return
	}
	for i := range n {
		if i > 0 {
			s.Write(separator)
		}
		item(i)
	}
}

// InIDs writes that what precedes it is one of some ids, at least one. The last id is repeated, so that
// there are few different statements. For a few ids, SQLite takes less time for this than for Dialect.InIDs.
func (s *Builder) InIDs(ids []model.ID) {
	n := 1
	for n < len(ids) {
		n *= 2
	}
	s.Write(" IN (")
	s.List(n, ", ", "", func(i int) { s.Arg(model.IDValue(ids[min(i, len(ids)-1)])) })
	s.Write(")")
}

// Choose is one of two texts.
func Choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// Successor is the smallest string by code point that is larger than every string with the
// prefix. A prefix of the largest characters has none.
func Successor(prefix string) (string, bool) {
	runes := []rune(prefix)
	for len(runes) > 0 {
		last := len(runes) - 1
		switch runes[last] {
		case 0x10FFFF:
			runes = runes[:last]
			continue
		case 0xD7FF:
			runes[last] = 0xE000 // after the surrogates, which are no characters
		default:
			runes[last]++
		}
		return string(runes), true
	}
	return "", false
}
