package api

import (
	"net/http"

	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
)

// groupsPrefix is the path below which the groups of collections are.
const groupsPrefix = "/-/groups"

func (a *API) groupsTarget(name string) (*target, error) {
	c := a.Schema.Collection(name)
	if c == nil {
		return nil, &unknownName{word: name, groups: true}
	}
	return &target{kind: groupsPath, pattern: groupsPrefix + "/" + c.Name, path: resource.Path{Collection: c}}, nil
}

// groups replies with a range of the groups of a collection.
func (a *API) groups(r *http.Request, out *response, t *target) (*reply, error) {
	if unchanged, err := unchangedList(r); err != nil || unchanged {
		return &reply{status: http.StatusNotModified}, err
	}
	exact := headers.PrefersExactCount(r.Header)
	q, err := query.ParseAs(query.OfGroups, t.path.Collection, r.URL.RawQuery, a.queryLimits(t))
	if err != nil {
		return nil, err
	}
	timer := a.startQueryTimer(r.Context())
	groups, err := a.Resources.Groups(timer, t.path, q, resource.ListOptions{Exact: exact, QuotaKey: quotaKeyOf(out)})
	if err != nil {
		defer timer.End()
		return nil, timer.Explain(err)
	}
	p := &listPage{rows: groups, query: q, neighbours: groups.Neighbours, position: func() string { return "" }, header: http.Header{}}
	if exact {
		p.setTotal(groups.Total)
		p.applied = []string{"count=exact"}
	}
	return a.openReply(r, t, timer, p)
}
