package reads

import (
	"context"

	"github.com/plural-go/plural/internal/include"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// Groups is a range of the groups of a collection, read from one snapshot, one by one. It must be closed.
type Groups struct {
	*store.Groups
	collection *model.Collection
	wanted     *query.Groups
	including  *include.Renderer // nil: nothing is included
}

// Groups opens a range of the groups of a collection. Exact: count all groups.
func (r *Reader) Groups(ctx context.Context, path Path, q query.Query, exact bool) (*Groups, error) {
	groups, err := r.store.Groups(ctx, store.GroupQuery{
		Collection: path.Collection,
		Filter:     query.Both(path.Scope(), q.Filter),
		Groups:     q.Groups,
		Range:      q.Range,
		Exact:      exact,

		Interleaved: len(q.Includes) > 0,
	})
	if err != nil {
		return nil, err
	}
	g := &Groups{Groups: groups, collection: path.Collection, wanted: q.Groups}
	if len(q.Includes) > 0 {
		g.including = include.OfGroups(groups, path.Collection, q)
	}
	return g, nil
}

// Append appends the representation of the next group. False: there is none.
func (g *Groups) Append(dst []byte) ([]byte, bool, error) {
	if g.including != nil {
		return g.including.Append(dst)
	}
	group, err := g.Next()
	if err != nil || group == nil {
		return dst, false, err
	}
	return g.wanted.Append(dst, g.collection, group), true, nil
}
