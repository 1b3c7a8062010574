package plural

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
)

// Group is what is known of the resources that have the same values. K is a struct, or a map, with the
// fields that By names, and V one with those of Sum, Avg, Min and Max, by their json tags:
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

// Groups groups the resources of a collection by the fields that By names, or all into one group, and
// computes what Sum, Avg, Min and Max ask for. Filters select the resources, Sort orders the groups by "count" and
// what By has, Offset and Limit are a range of the groups. Without a Limit there are Config.DefaultLimit groups at most.
func Groups[K, V, T any](ctx context.Context, c *Collection[T], params ...Param) ([]Group[K, V], error) {
	server, ok := c.backend.(*Server)
	if !ok {
		return nil, callError(errors.New("groups cannot be read in a transaction"))
	}
	p, err := parse(params)
	switch {
	case err != nil:
	case p.since != "" || p.total || p.request.Shows() || p.request.Range.Anchor == query.AtCursor:
		err = errors.New("groups have filters, Search, Sort, Offset and Limit, By, Sum, Avg, Min and Max, and no other parameters")
	}
	if err != nil {
		return nil, callError(err)
	}
	if !p.hasLimit {
		p.request.Range.Limit = c.limit
	}
	all := []Group[K, V]{}
	path := resource.Path{Collection: c.collection}
	err = server.call(ctx, &path, mayList, func() error {
		q, err := query.Build(query.OfGroups, c.collection, p.request, path.Limits())
		if err != nil {
			return err
		}
		groups, err := server.resources.Groups(ctx, path, q, false)
		if err != nil {
			return err
		}
		defer groups.Close()
		for {
			text, more, err := groups.Append(nil)
			if err != nil || !more {
				return err
			}
			var group Group[K, V]
			if err := json.Unmarshal(text, &group); err != nil {
				return err
			}
			all = append(all, group)
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// By groups by fields. A date-time can be truncated, in UTC: By("state", "created_at:month").
func By(fields ...string) Param {
	return givenOnce(func(r *query.Request) *[]string { return &r.By }, fields, "By must be given once, with all fields")
}

// Sum adds up the values of fields.
func Sum(fields ...string) Param { return computed(query.Sum, fields) }

// Avg is the average of the values of fields.
func Avg(fields ...string) Param { return computed(query.Avg, fields) }

// Min is the least value of fields.
func Min(fields ...string) Param { return computed(query.Min, fields) }

// Max is the greatest value of fields.
func Max(fields ...string) Param { return computed(query.Max, fields) }

func computed(function query.Function, fields []string) Param {
	return param(func(p *parameters) error {
		if len(fields) == 0 || p.request.Values[function] != nil {
			return fmt.Errorf("%s must be given once, with all fields", function)
		}
		if p.request.Values == nil {
			p.request.Values = map[query.Function][]string{}
		}
		p.request.Values[function] = fields
		return nil
	})
}
