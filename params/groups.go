package params

import (
	"fmt"
	"slices"
	"strings"
)

// Group is the resources that have the same values. K is a struct, or a map, with the fields that By names, and V one
// with those of Sum, Avg, Min and Max, by their json tags:
//
//	type key struct {
//		State *string   `json:"state"`
//		Month time.Time `json:"created_at:month"`
//	}
type Group[K, V any] struct {
	ID    string `json:"id"`
	By    K      `json:"by"`
	Count int64  `json:"count"`

	// Sum of no values is zero. The others of no values are null.
	Sum V `json:"sum"`
	Avg V `json:"avg"`
	Min V `json:"min"`
	Max V `json:"max"`
}

// By groups by fields. A date-time can be truncated, in UTC: By("state", "created_at:month").
func By(fields ...string) Param { return grouping("By", fields) }

// Sum adds up the values of fields.
func Sum(fields ...string) Param { return grouping("Sum", fields) }

// Avg is the average of the values of fields.
func Avg(fields ...string) Param { return grouping("Avg", fields) }

// Min is the least value of fields.
func Min(fields ...string) Param { return grouping("Min", fields) }

// Max is the greatest value of fields.
func Max(fields ...string) Param { return grouping("Max", fields) }

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
