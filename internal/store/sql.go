package store

import (
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// statement is a piece of SQL under construction with its arguments. Names come
// from the schema and values go through arg, so that no text of a client ever
// becomes SQL.
type statement struct {
	strings.Builder
	args    []model.Value
	dialect dialect
	table   *table // whose columns the statement names
}

func (s *statement) write(parts ...string) {
	for _, part := range parts {
		_, _ = s.WriteString(part)
	}
}

func (s *statement) arg(value model.Value) {
	s.args = append(s.args, value)
	s.write("$", strconv.Itoa(len(s.args)))
}

func (s *statement) placeholder(value model.Value) string {
	s.args = append(s.args, value)
	return "$" + strconv.Itoa(len(s.args))
}

// list writes n things with a separator, or the empty text when there are none.
func (s *statement) list(n int, separator, empty string, item func(i int)) {
	if n == 0 {
		s.write(empty)
		return
	}
	for i := range n {
		if i > 0 {
			s.write(separator)
		}
		item(i)
	}
}

// condition writes a filter, or its negation. Negations are carried down to the
// comparisons, because NOT in SQL knows a third value and filters do not.
func (s *statement) condition(filter query.Filter, holds bool) {
	switch f := filter.(type) {
	case query.Not:
		s.condition(f.Filter, !holds)
	case query.And:
		s.junction(f, holds, holds)
	case query.Or:
		s.junction(f, holds, !holds)
	case query.IsNull:
		s.write(s.table.columns[f.Column], choose(holds, " IS NULL", " IS NOT NULL"))
	case query.In:
		if len(f.Values) == 0 {
			s.junction(nil, holds, !holds) // of no values it has none, as an Or of nothing
			return
		}
		s.orNull(f.Column, holds, func(column string) {
			s.write(column, choose(holds, " IN (", " NOT IN ("))
			s.list(len(f.Values), ", ", "", func(i int) { s.arg(f.Values[i]) })
			s.write(")")
		})
	case query.Compare:
		s.orNull(f.Column, holds, func(column string) { s.compare(column, f, holds) })
	default:
		panic("store: a filter of an unknown type")
	}
}

// junction joins filters by AND or by OR. Without any, AND holds and OR does not.
func (s *statement) junction(filters []query.Filter, holds, and bool) {
	s.write("(")
	s.list(len(filters), choose(and, " AND ", " OR "), choose(and, "1=1", "1=0"), func(i int) {
		s.condition(filters[i], holds)
	})
	s.write(")")
}

// orNull adds the null values to a comparison that must not hold.
func (s *statement) orNull(column int, holds bool, comparison func(column string)) {
	name := s.table.columns[column]
	if holds {
		comparison(name)
		return
	}
	s.write("(")
	comparison(name)
	s.write(" OR ", name, " IS NULL)")
}

func (s *statement) compare(column string, f query.Compare, holds bool) {
	operators := map[query.Op][2]string{
		query.Equal:          {" <> ", " = "},
		query.Less:           {" >= ", " < "},
		query.LessOrEqual:    {" > ", " <= "},
		query.Greater:        {" <= ", " > "},
		query.GreaterOrEqual: {" < ", " >= "},
	}
	switch f.Op {
	case query.Contains:
		s.write(choose(holds, "", "NOT "), s.dialect.contains(column, s.placeholder(f.Value)))
	case query.StartsWith:
		s.startsWith(column, f.Value.Text(), holds)
	default:
		operator := operators[f.Op]
		s.write(column, choose(holds, operator[1], operator[0]))
		s.arg(f.Value)
	}
}

// startsWith is a range of strings, so that an index can serve it.
func (s *statement) startsWith(column, prefix string, holds bool) {
	s.write(choose(holds, "", "NOT "), "(", column, " >= ")
	s.arg(model.TextValue(prefix))
	if end, ok := successor(prefix); ok {
		s.write(" AND ", column, " < ")
		s.arg(model.TextValue(end))
	}
	s.write(")")
}

// successor is the smallest string by code point that is larger than every
// string with the prefix. There is none for a prefix of the largest characters.
func successor(prefix string) (string, bool) {
	runes := []rune(prefix)
	for len(runes) > 0 {
		last := len(runes) - 1
		switch runes[last] {
		case 0x10FFFF:
			runes = runes[:last]
			continue
		case 0xD7FF:
			runes[last] = 0xE000 // behind the surrogates, which are no characters
		default:
			runes[last]++
		}
		return string(runes), true
	}
	return "", false
}

// where writes which resources a selection is of.
func (s *statement) where(selection Selection) {
	separator := " WHERE "
	and := func() {
		s.write(separator)
		separator = " AND "
	}
	if selection.Filter != nil {
		and()
		s.condition(selection.Filter, true)
	}
	if selection.From != nil {
		and()
		s.beyond(selection.Order, selection.From, !selection.Behind, selection.withoutNulls)
	}
	if selection.Until != nil {
		and()
		s.beyond(selection.Order.reversed(), selection.Until, false, false)
	}
}

// order writes an ORDER BY.
func (s *statement) order(keys []query.Key) {
	s.write(" ORDER BY ")
	s.list(len(keys), ", ", "", func(i int) {
		s.write(s.table.columns[keys[i].Column], choose(keys[i].Descending, " DESC", ""))
		if keys[i].Column != model.IDColumn {
			s.write(choose(keys[i].Descending, s.dialect.nullsLast(), s.dialect.nullsFirst()))
		}
	})
}

// beyond writes that a row stands behind a place in an order, or, if inclusive,
// at it. The first keys are bounded by themselves as well, so that an index on
// them leads to the place: those that go the same way, up to where null is
// behind a value, which no bound can say.
func (s *statement) beyond(keys []query.Key, place []model.Value, inclusive, withoutNulls bool) {
	bounded := 0
	for i, key := range keys[:len(keys)-1] {
		nullsBehind := key.Descending && s.nullable(key) && !(withoutNulls && i == 0)
		if key.Descending != keys[0].Descending || place[i].IsNull() || nullsBehind {
			break
		}
		bounded++
	}
	if bounded > 0 {
		s.tuple(bounded, func(i int) { s.write(s.table.columns[keys[i].Column]) })
		s.write(choose(keys[0].Descending, " <= ", " >= "))
		s.tuple(bounded, func(i int) { s.arg(place[i]) })
		s.write(" AND ")
	}
	s.behind(keys, place, inclusive)
}

// tuple writes one thing, or several in parentheses.
func (s *statement) tuple(n int, item func(i int)) {
	s.write(choose(n > 1, "(", ""))
	s.list(n, ", ", "", item)
	s.write(choose(n > 1, ")", ""))
}

// behind compares key by key: behind in the first, or equal in it and behind in
// the rest. Null is smallest.
func (s *statement) behind(keys []query.Key, place []model.Value, inclusive bool) {
	first, value, last := keys[0], place[0], len(keys) == 1
	column := s.table.columns[first.Column]
	operator := choose(first.Descending, " < ", " > ")
	if last {
		s.write(column, choose(inclusive, strings.TrimSuffix(operator, " ")+"= ", operator))
		s.arg(value) // the id, which is never null
		return
	}
	s.write("(")
	switch {
	case value.IsNull() && first.Descending:
		s.write("1=0") // nothing stands behind null
	case value.IsNull():
		s.write(column, " IS NOT NULL")
	default:
		s.write(column, operator)
		s.arg(value)
		if first.Descending && s.nullable(first) {
			s.write(" OR ", column, " IS NULL")
		}
	}
	s.write(" OR ", column)
	if value.IsNull() {
		s.write(" IS NULL")
	} else {
		s.write(" = ")
		s.arg(value)
	}
	s.write(" AND ")
	s.behind(keys[1:], place[1:], inclusive)
	s.write(")")
}

func (s *statement) nullable(key query.Key) bool {
	return !s.table.collection.Columns()[key.Column].NotNull
}

func choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
