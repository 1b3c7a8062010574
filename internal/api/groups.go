package api

import (
	"net/http"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
)

// groupsPrefix is the path below which the groups of collections are.
const groupsPrefix = "/-/groups"

func (a *API) groupsTarget(name string) (*target, error) {
	c := a.Schema.Collection(name)
	if c == nil {
		return nil, &unknownName{word: name, groups: true}
	}
	return &target{kind: groupsPath, pattern: groupsPrefix + "/" + c.Name, path: reads.Path{Collection: c}}, nil
}

// groups replies with a range of the groups of a collection.
func (a *API) groups(r *http.Request, out *response, t *target) (*reply, error) {
	return a.replyWithList(r, out, t, query.OfGroups, t.path.Collection, a.queryLimits(t), func(p *listPage, q query.Query, exact bool) error {
		groups, err := a.Resources.Groups(r.Context(), t.path, q, exact)
		if err != nil {
			return err
		}
		p.rows = groups
		if exact {
			p.total = &groups.Total
		}
		return nil
	})
}
