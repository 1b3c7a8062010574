package resource

import (
	"context"
	"strconv"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// Groups is a range of the groups of a collection, read from one snapshot, one by one. It must be closed.
type Groups struct {
	*store.Groups
	collection *model.Collection
	wanted     *query.Groups
}

// Groups opens a range of the groups of a collection. Exact: count all groups.
func (r *Resources) Groups(ctx context.Context, path Path, q query.Query, exact bool) (*Groups, error) {
	groups, err := r.store.Groups(ctx, store.GroupQuery{
		Collection: path.Collection,
		Filter:     query.Both(path.Scope(), q.Filter),
		Groups:     q.Groups,
		Range:      q.Range,
		Exact:      exact,
	})
	if err != nil {
		return nil, err
	}
	return &Groups{Groups: groups, collection: path.Collection, wanted: q.Groups}, nil
}

// Append appends the representation of the next group. False: there is none.
func (g *Groups) Append(dst []byte) ([]byte, bool, error) {
	group, err := g.Next()
	if err != nil || group == nil {
		return dst, false, err
	}
	by := []byte("{")
	for i, key := range g.wanted.By {
		if i > 0 {
			by = append(by, ',')
		}
		by = append(append(append(by, '"'), key.Name...), `":`...)
		by = key.Kind.AppendValue(by, group.By, i)
	}
	by = append(by, '}')
	dst = append(dst, `{"id":"`...)
	dst = model.NamedID(groupNamespace, append([]byte(g.collection.Name), by...)).Append(dst)
	dst = append(dst, `","type":"`+query.GroupsType+`","by":`...)
	dst = append(append(dst, by...), `,"count":`...)
	dst = strconv.AppendInt(dst, group.Count, 10)
	return append(g.appendValues(dst, group), '}'), true, nil
}

// groupNamespace is the UUIDv5 namespace of the ids of groups.
var groupNamespace = model.ID{0x0c, 0x5e, 0x3a, 0x91, 0x7d, 0x42, 0x4f, 0x0b, 0xb8, 0x6a, 0x1d, 0xe4, 0x92, 0x57, 0xcf, 0x38}

// appendValues appends the members of the functions, as far as they were asked for.
func (g *Groups) appendValues(dst []byte, group *query.Group) []byte {
	var last query.Function
	for i, value := range g.wanted.Values {
		if value.Function != last {
			if last != "" {
				dst = append(dst, '}')
			}
			dst = append(append(append(dst, `,"`...), value.Function...), `":{`...)
			last = value.Function
		} else {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), value.Name...), `":`...)
		dst = value.ResultKind().AppendValue(dst, group.Values, i)
	}
	if last != "" {
		dst = append(dst, '}')
	}
	return dst
}
