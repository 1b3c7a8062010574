package client

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fieldPath is the name of a field: one of the collection, or one after the names of relations or
// inside an object: "author.address.city".
var fieldPath = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}(\.[^.\[\]"\\\x00]+){0,63}$`)

// filter is filter[field][op]=text, once for each text.
func filter(field, op string, texts func() ([]string, error)) Param {
	return func(q *query) error {
		if err := checkField(fieldPath, field); err != nil {
			return err
		}
		values, err := texts()
		if err != nil {
			return fmt.Errorf("the filter %s of %s: %w", op, field, err)
		}
		for _, value := range values {
			q.filters = append(q.filters, "["+url.QueryEscape(field)+"]["+op+"]="+url.QueryEscape(value))
		}
		return nil
	}
}

func compare(field, op string, value any) Param {
	return filter(field, op, func() ([]string, error) { return valueTexts([]any{value}) })
}

// valueText is a value as it stands in a URL.
func valueText(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", fmt.Errorf("nothing compares with null: use Null or NotNull")
	case string:
		return value, nil
	case json.Number:
		return value.String(), nil
	case bool:
		return strconv.FormatBool(value), nil
	case time.Time:
		return value.UTC().Format("2006-01-02T15:04:05.000Z"), nil
	case float64:
		return floatText(value, 64)
	case float32:
		return floatText(float64(value), 32)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(value), nil
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		return string(text), err
	}
	return "", fmt.Errorf("a %T cannot be compared with: use a string, number, boolean or time", value)
}

// valueTexts is the texts of the values of a list.
func valueTexts[V any](values []V) ([]string, error) {
	if len(values) == 0 {
		return nil, fmt.Errorf("there must be at least one value")
	}
	texts := make([]string, len(values))
	for i, value := range values {
		text, err := valueText(value)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}

func floatText(value float64, bits int) (string, error) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "", fmt.Errorf("%v is no number of JSON's", value)
	}
	return strconv.FormatFloat(value, 'g', -1, bits), nil
}

// Is selects what is equal to a value.
func Is(field string, value any) Param { return compare(field, "eq", value) }

// Not selects what is not equal to a value, null included.
func Not(field string, value any) Param { return compare(field, "ne", value) }

// Less selects what is less than a value.
func Less(field string, value any) Param { return compare(field, "lt", value) }

// AtMost selects what is a value or less.
func AtMost(field string, value any) Param { return compare(field, "lte", value) }

// More selects what is more than a value.
func More(field string, value any) Param { return compare(field, "gt", value) }

// AtLeast selects what is a value or more.
func AtLeast(field string, value any) Param { return compare(field, "gte", value) }

// Contains selects strings that have a text in them.
func Contains(field, text string) Param { return compare(field, "contains", text) }

// StartsWith selects strings that begin with a text.
func StartsWith(field, text string) Param { return compare(field, "starts_with", text) }

// Null selects what has no value.
func Null(field string) Param { return compare(field, "null", true) }

// NotNull selects what has a value.
func NotNull(field string) Param { return compare(field, "null", false) }

// In selects what is one of the values.
func In[V any](field string, values ...V) Param {
	return filter(field, "in", func() ([]string, error) { return listText(values) })
}

// NotIn selects what is none of the values, null included.
func NotIn[V any](field string, values ...V) Param {
	return filter(field, "not_in", func() ([]string, error) { return listText(values) })
}

// Has selects arrays that have a value, or one of several.
func Has[V any](field string, values ...V) Param {
	return filter(field, "has", func() ([]string, error) { return valueTexts(values) })
}

// HasAll selects arrays that have all of the values.
func HasAll[V any](field string, values ...V) Param {
	return filter(field, "has_all", func() ([]string, error) { return listText(values) })
}

// Any selects what one of the alternatives selects. Each is a filter, or And of several:
//
//	client.Any(client.And(client.Is("state", "open"), client.AtLeast("priority", 3)), client.Null("assignee_id"))
//
// It can be given once.
func Any(alternatives ...Param) Param {
	return func(q *query) error {
		switch {
		case q.hasAny:
			return fmt.Errorf("Any must be given once, with all alternatives")
		case len(alternatives) == 0:
			return fmt.Errorf("Any needs at least one alternative")
		}
		for i, alternative := range alternatives {
			inner, err := onlyFilters("an alternative of Any", alternative)
			switch {
			case err != nil:
				return err
			case inner.hasAny:
				return fmt.Errorf("an alternative of Any cannot have Any")
			case len(inner.filters) == 0:
				return fmt.Errorf("an alternative of Any needs at least one filter")
			}
			for _, filter := range inner.filters {
				q.filters = append(q.filters, "[any]["+strconv.Itoa(i)+"]"+filter)
			}
		}
		q.hasAny = true
		return nil
	}
}

// And selects what all of the filters select. Filters of a list are combined in this way already: And is for
// the alternatives of Any.
func And(filters ...Param) Param {
	return func(q *query) error {
		inner, err := onlyFilters("And", filters...)
		if err != nil {
			return err
		}
		if inner.hasAny && q.hasAny {
			return fmt.Errorf("Any must be given once, with all alternatives")
		}
		q.filters, q.hasAny = append(q.filters, inner.filters...), q.hasAny || inner.hasAny
		return nil
	}
}

// onlyFilters is a query of filters on fields and nothing else.
func onlyFilters(what string, params ...Param) (*query, error) {
	q, err := parse(params)
	if err != nil {
		return nil, err
	}
	rest := *q
	rest.filters = nil
	if rest.encode() != "" || q.exact || q.fromNow || q.onConnection != nil {
		return nil, fmt.Errorf("%s has filters of fields only", what)
	}
	return q, nil
}

// Search selects the resources in which each of the words is the beginning of a word, in the attributes that
// the schema declares for search: Search("ada lov"). It can be given once.
func Search(words string) Param {
	return func(q *query) error {
		if words == "" || q.search != "" {
			return fmt.Errorf("Search must be given once, with all words")
		}
		q.search = words
		return nil
	}
}

// listText is one text, in which values are joined by commas. A backslash at the end of a value would take the
// comma after it for itself, so such a value comes last.
func listText[V any](values []V) ([]string, error) {
	all, err := valueTexts(values)
	if err != nil {
		return nil, err
	}
	var texts, last []string
	for _, text := range all {
		if text = strings.ReplaceAll(text, ",", `\,`); strings.HasSuffix(text, `\`) {
			last = append(last, text)
		} else {
			texts = append(texts, text)
		}
	}
	if last = slices.Compact(last); len(last) > 1 {
		return nil, fmt.Errorf("only one value may end with a backslash")
	}
	return []string{strings.Join(append(texts, last...), ",")}, nil
}
