package include

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// OfGroups adds the included relations of a query to its groups: each leads to what the values of a key of the groups refer to.
func OfGroups(groups *store.Groups, c *model.Collection, q query.Query) *Renderer {
	k, keys := newChunk(c, nil, q.Includes), make([]int, len(q.Includes))
	for i, include := range q.Includes {
		keys[i] = slices.IndexFunc(q.Groups.By, func(key query.GroupKey) bool { return key.Is(include.Relation.Column) })
	}
	return newRenderer(k, groups.Run, func() (bool, error) {
		group, err := groups.Next()
		if err != nil || group == nil {
			return false, err
		}
		k.buffer = q.Groups.Append(k.buffer[:0], c, group)
		k.addText()
		for i, at := range keys {
			k.addKey(i, group.By[at])
		}
		return true, nil
	})
}
