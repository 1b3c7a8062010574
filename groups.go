package plural

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/params"
)

// Groups groups the resources of a collection by the fields that By names, or all into one group, and
// computes what Sum, Avg, Min, Max and Distinct ask for. Filters select the resources and Having the groups, Sort orders the
// groups by "count", what By has and what is computed, Include embeds what references in By lead to, and Offset and Limit are
// a range of the groups. Without a Limit there are Config.DefaultLimit groups at most.
func Groups[K, V, T any](ctx context.Context, c *Collection[T], given ...params.Param) ([]params.Group[K, V], error) {
	server, ok := c.backend.(*Server)
	if !ok {
		return nil, callError(errors.New("groups cannot be read in a transaction"))
	}
	wanted, err := params.Of(given...)
	switch {
	case err != nil:
	case wanted.Since != "" || wanted.FromNow || wanted.OnConnection != nil || wanted.Total || wanted.Cursor != "":
		err = errors.New("groups have no Cursor, Since, FromNow, OnConnection and WithTotal")
	}
	if err != nil {
		return nil, callError(err)
	}
	all := []params.Group[K, V]{}
	path := reads.Path{Collection: c.collection}
	err = server.call(ctx, &path, mayList, func() error {
		q, err := path.Parse(query.OfGroups, wanted.Encode(), c.limit)
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
			var group params.Group[K, V]
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
