package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Group is the resources that have the same values. K is a struct, or a map, with the fields that By names and the relations
// that Include names, and V one with the fields of Sum, Avg, Min and Max, by their json tags:
//
//	type key struct {
//		CustomerID string    `json:"customer_id"`
//		Customer   *Customer `json:"customer"`
//		Week       time.Time `json:"created_at:week"`
//	}
//
// Numbers in an any or a map are json.Number.
type Group[K, V any] struct {
	ID    string `json:"id"`
	By    K      `json:"by"`
	Count int64  `json:"count"`

	// Sum of no values is zero. Avg, Min and Max of no values are null.
	Sum V `json:"sum"`
	Avg V `json:"avg"`
	Min V `json:"min"`
	Max V `json:"max"`

	// Distinct has the fields of Distinct with the number of their different values.
	Distinct map[string]int64 `json:"distinct"`
}

// groupMembers are the members of a group that are no relations.
var groupMembers = []string{"id", "type", "by", "count", "sum", "avg", "min", "max", "distinct"}

// UnmarshalJSON reads a group as a server sends it.
func (g *Group[K, V]) UnmarshalJSON(text []byte) error {
	type plain Group[K, V]
	if err := decode(text, (*plain)(g)); err != nil {
		return err
	}
	var members, key map[string]json.RawMessage
	if err := decode(text, &members); err != nil {
		return err
	}
	by := members["by"]
	for _, name := range groupMembers {
		delete(members, name)
	}
	if len(members) == 0 {
		return nil
	}
	if err := decode(by, &key); err != nil {
		return err
	}
	maps.Copy(members, key)
	both, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return decode(both, &g.By)
}

func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// By groups by fields, also of related resources through references. A date-time can be truncated, in UTC:
// By("customer.country", "created_at:week").
func By(fields ...string) Param { return grouping("By", fields) }

// Sum adds up the values of fields.
func Sum(fields ...string) Param { return grouping("Sum", fields) }

// Avg is the average of the values of fields.
func Avg(fields ...string) Param { return grouping("Avg", fields) }

// Min is the least value of fields.
func Min(fields ...string) Param { return grouping("Min", fields) }

// Max is the greatest value of fields.
func Max(fields ...string) Param { return grouping("Max", fields) }

// Distinct is how many different values fields have. Null does not count.
func Distinct(fields ...string) Param { return grouping("Distinct", fields) }

// Having selects groups by "count" and by values that are asked for: Having(Where("sum.total").AtLeast(1000)). The filters
// begin with Where and compare.
func Having(filters ...Filter) Param {
	return param(func(q *Query) error {
		inner, err := Of(And(filters...))
		switch {
		case err != nil:
			return err
		case slices.ContainsFunc(q.groups, func(each string) bool { return strings.HasPrefix(each, "having[") }):
			return errors.New("Having must be given once, with all filters")
		case len(inner.filters) == 0 || len(inner.numbered) > 0 || inner.search != "":
			return errors.New("Having takes filters that begin with Where, or And of such filters")
		}
		for _, filter := range inner.filters {
			q.groups = append(q.groups, "having"+filter)
		}
		return nil
	})
}

func grouping(function string, fields []string) Param {
	return param(func(q *Query) error {
		parameter := strings.ToLower(function)
		again := slices.ContainsFunc(q.groups, func(each string) bool { return strings.HasPrefix(each, parameter+"=") })
		if len(fields) == 0 || again || slices.Contains(fields, "") {
			return fmt.Errorf("%s must be given once, with all fields", function)
		}
		q.groups = append(q.groups, list(parameter, fields)...)
		return nil
	})
}
