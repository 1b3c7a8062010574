package api

import (
	"net/http"

	"github.com/plural-go/plural/internal/feed"
	"github.com/plural-go/plural/internal/query"
)

// list replies with a range of a collection.
func (a *API) list(r *http.Request, out *response, t *target) (*reply, error) {
	return a.replyWithList(r, out, t, query.OfList, t.path.Collection, a.queryLimits(t), func(q query.Query, exact bool) (listPage, error) {
		if r.Method == http.MethodHead {
			q.Includes = nil // HEAD has no body
		}
		page, err := a.Resources.List(r.Context(), t.path, q, exact)
		if err != nil {
			return listPage{}, err
		}
		p := listPage{rows: page, neighbours: page.Neighbours, header: http.Header{}}
		if len(q.Includes) > 0 {
			p.parts = page.Parts
		}
		if page.TotalKnown {
			p.setTotal(page.Total)
		}
		if exact {
			p.applied = []string{"count=exact"}
		}
		p.position = func() string {
			if !a.isStreamable(r, t) || query.ReadsRelated(q.Filter) { // which a stream does not take
				return ""
			}
			return a.Feed.Link(feed.Shape{Path: t.path, Filter: q.Filter, Fields: q.Visible}, page.Point.History, page.Point)
		}
		return p, nil
	})
}

// queryLimits bounds what the caller may ask for at a path.
func (a *API) queryLimits(t *target) query.Limits {
	limits := t.path.Limits()
	limits.DefaultLimit, limits.MaxLimit = a.QueryLimits.DefaultLimit, a.QueryLimits.MaxLimit
	return limits
}
