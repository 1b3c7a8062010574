package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// parameterHints says which parameter to use in place of those of other interfaces.
var parameterHints = suggest.Hints{
	"page p pagenumber": "The third page of 30 is offset=60&limit=30.",
	"perpage pagesize size count top first take rows": "Use limit, such as limit=30.",
	"skip start from":                             "Use offset, such as offset=60.",
	"after before startingafter endingbefore":     "Use cursor, with the id of a resource, and a negative limit to go backwards.",
	"order orderby sortby ordering":               "Use sort, with a minus to sort downwards: sort=-created_at,name.",
	"includes expand embed populate with preload": "Use include, with the names of relations: include=author.",
	"select columns attributes only field":        "Use fields, with the names of attributes: fields=name,created_at.",
	"filter filters where":                        "Write the field in brackets: filter[field]=value, or filter[field][operator]=value.",
}

// searchHints are parameters of other interfaces that search does the work of.
var searchHints = suggest.Hints{"q query find keyword keywords text fulltext fts s": "search"}

// operatorHints says which operator to use in place of those of other interfaces.
var operatorHints = suggest.Hints{
	"= == is equals equal":                    "eq",
	"!= <> neq not isnot":                     "ne",
	"> after":                                 "gt",
	">= ge min from since":                    "gte",
	"< before":                                "lt",
	"<= le max to until":                      "lte",
	"any anyof oneof":                         "in",
	"nin notin noneof":                        "not_in",
	"like ilike icontains match":              "contains",
	"startswith prefix istartswith begins sw": "starts_with",
	"isnull nil empty":                        "null",
}

// maxShown bounds what of a request a hint repeats.
const maxShown = 60

// find looks up a word, "" if it is not there. Some interfaces begin theirs with a dollar sign.
func find(hints suggest.Hints, word string) string {
	return hints.Find(strings.TrimPrefix(word, "$"))
}

// oneHint says what to write in place of a parameter of a request for one resource.
func oneHint(name string) string {
	if hint := find(parameterHints, name); strings.HasPrefix(hint, "Use include") || strings.HasPrefix(hint, "Use fields") {
		return " " + hint
	}
	return ""
}

// parameterHint says what to write in place of an unknown parameter.
func (p *parser) parameterHint(name string) string {
	if hint := p.groupsHint(name); hint != "" {
		return hint
	}
	if hint := find(parameterHints, name); hint != "" {
		return " " + hint
	}
	if find(searchHints, name) != "" && len(p.searchColumns()) > 0 {
		return " Use search, such as search=ada+lov."
	}
	// active=true, priority[gte]=3, filter.priority=3
	field, op, hasOp := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(name, "filter."), "]"), "[")
	if found := p.field(field); found != nil && len(op) <= maxShown {
		written := "filter[" + found.Name + "]"
		if hasOp {
			written += "[" + op + "]"
		}
		return fmt.Sprintf(" To filter by %s, write %s.", found.Name, written)
	}
	return suggested(suggest.Nearest(name, p.parameterNames()))
}

// fieldHint suggests the field that is nearest to a name, among those that the caller may see.
func (p *parser) fieldHint(name string) string {
	return suggested(suggest.Nearest(name, visibleNames(p.collection, p.limits.Visible)))
}

func suggested(name string) string {
	if name == "" {
		return ""
	}
	return " Did you mean " + name + "?"
}

// operatorHint says which operator was meant.
func operatorHint(op string) string {
	hint := find(operatorHints, op)
	switch hint {
	case "":
		return suggested(suggest.Nearest(op, operators))
	case "contains", "starts_with":
		return " Use " + hint + ", which distinguishes upper and lower case, or search, which does not."
	}
	return " Use " + hint + "."
}

// sortHint says how to write an order that was written as elsewhere: priority:desc,
// priority desc, priority.desc, +priority or desc(priority).
func (p *parser) sortHint(text string) string {
	field, direction, _ := strings.Cut(strings.NewReplacer(":", " ", ".", " ").Replace(strings.TrimSpace(text)), " ")
	if before, after, found := strings.Cut(strings.TrimSuffix(text, ")"), "("); found {
		field, direction = after, before
	}
	field = strings.TrimPrefix(field, "+")
	if p.field(field) == nil {
		return p.fieldHint(field)
	}
	switch strings.ToLower(strings.TrimSpace(direction)) {
	case "desc", "descending", "-1":
		return fmt.Sprintf(" To sort downwards, write -%s.", field)
	case "", "asc", "ascending", "1":
		return fmt.Sprintf(" To sort upwards, write %s.", field)
	}
	return ""
}

// comparisons are the signs that are no part of a value, the longest first.
var comparisons = []struct{ sign, op string }{{">=", "gte"}, {"<=", "lte"}, {"!=", "ne"}, {"<>", "ne"}, {"==", "eq"}, {">", "gt"}, {"<", "lt"}, {"=", "eq"}, {"!", "ne"}}

// valueHint says how to write a filter whose value is not valid for the field: >3, gte:3, 1..5, null
// or 1,2.
func valueHint(kind model.Kind, name, text string) string {
	if len(text) > maxShown {
		return ""
	}
	is := func(value string) bool {
		_, problem := kind.Parse(strings.TrimSpace(value))
		return problem == ""
	}
	written := func(op, value string) string {
		return fmt.Sprintf("filter[%s][%s]=%s", name, op, strings.TrimSpace(value))
	}
	for _, c := range comparisons {
		if rest, found := strings.CutPrefix(text, c.sign); found && is(rest) {
			return " Write " + written(c.op, rest) + "."
		}
	}
	if op, rest, found := strings.Cut(text, ":"); found && is(rest) {
		if op = cmp.Or(find(operatorHints, op), op); slices.Contains(Operators(kind, nil, false), op) {
			return " Write " + written(op, rest) + "."
		}
	}
	if least, most, found := strings.Cut(text, ".."); found && is(least) && is(most) {
		return " Write " + written("gte", least) + "&" + written("lte", most) + "."
	}
	if first, rest, found := strings.Cut(text, ","); found && is(first) && is(strings.Split(rest, ",")[0]) {
		return " For any of several values, write " + written("in", text) + "."
	}
	switch suggest.Bare(text) {
	case "null", "nil", "none":
		return " Write " + written("null", "true") + "."
	}
	isNumber := kind.IsDecimal() || kind == model.KindInteger || kind == model.KindNumber
	if plain := plainNumber(text); isNumber && is(plain) {
		return " Write it without leading zeros and without a plus sign: " + plain + "."
	}
	return ""
}

// plainNumber is a number without a plus sign, which is a space in a query string, and without leading zeros.
func plainNumber(text string) string {
	digits, negative := strings.CutPrefix(strings.TrimLeft(text, " +"), "-")
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		digits = "0" + digits
	}
	if negative {
		return "-" + digits
	}
	return digits
}
