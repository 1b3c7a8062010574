package params

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Raw takes filters, search, sort, range and what is shown as they stand in a URL: "filter[active]&sort=-created_at".
func Raw(text string) Param {
	return param(func(q *Query) error {
		for part := range strings.SplitSeq(text, "&") {
			if part == "" {
				continue
			}
			if err := q.addRaw(part); err != nil {
				return err
			}
		}
		return nil
	})
}

// addRaw adds one parameter of a URL.
func (q *Query) addRaw(part string) error {
	name, given, hasValue := strings.Cut(part, "=")
	name, err := url.QueryUnescape(name)
	if err != nil {
		return fmt.Errorf("the parameter %q: %w", part, err)
	}
	value, err := url.QueryUnescape(given)
	if err != nil {
		return fmt.Errorf("the parameter %q: %w", part, err)
	}
	switch name {
	case "sort":
		q.sort = append(q.sort, strings.Split(value, ",")...)
		return nil
	case "search":
		return Search(value).apply(q)
	case "cursor":
		return Cursor(value).apply(q)
	case "offset", "o", "limit", "l":
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("the parameter %s must be an integer, but is %q", name, value)
		}
		if name[0] == 'o' {
			return Offset(number).apply(q)
		}
		return Limit(number).apply(q)
	}
	first, rest, bracketed := strings.Cut(name, "[")
	if bracketed {
		rest = "[" + rest
	}
	encoded := bracketsKept.Replace(url.QueryEscape(rest))
	if hasValue {
		encoded += "=" + url.QueryEscape(value)
	}
	switch {
	case first == "filter" && bracketed:
		q.filters = append(q.filters, encoded)
		q.numberRaw(rest)
	case first == "include" || first == "fields":
		q.raw = append(q.raw, first+encoded)
	default:
		return fmt.Errorf("there is no parameter %q: there are filter[…], search, sort, offset, limit, cursor, include and fields", name)
	}
	return nil
}

// numberRaw notes the number of a condition in a group, so that Any, Some and None do not use it again.
func (q *Query) numberRaw(rest string) {
	group, after, _ := strings.Cut(rest[1:], "][")
	text, _, _ := strings.Cut(after, "]")
	number, err := strconv.Atoi(text)
	if err == nil && number >= 0 && (group == groupAny || group == groupSome || group == groupNone) {
		q.number(group, number)
	}
}

// bracketsKept has brackets as servers read them.
var bracketsKept = strings.NewReplacer("%5B", "[", "%5D", "]")
