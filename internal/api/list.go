package api

import (
	"net/http"

	"github.com/plural-go/plural/internal/feed"
	"github.com/plural-go/plural/internal/query"
)

// list replies with a range of a collection.
func (a *API) list(r *http.Request, out *response, t *target) (*reply, error) {
	return a.replyWithList(r, out, t, query.OfList, t.path.Collection, a.queryLimits(t), func(p *listPage, q query.Query, exact bool) error {
		page, err := a.Resources.List(r.Context(), t.path, q, exact)
		if err != nil {
			return err
		}
		p.rows = page
		if len(q.Includes) > 0 {
			p.parts = page.Parts
		}
		if page.TotalKnown {
			p.total = &page.Total
		}
		if a.isStreamable(r, t) && !query.ReadsRelated(q.Filter) { // which a stream does not take
			p.position = func() string {
				return a.Feed.Link(feed.Shape{Schema: a.Schema, Path: t.path, Filter: q.Filter, Fields: q.Visible}, page.Point.History, page.Point)
			}
		}
		return nil
	})
}

// queryLimits bounds what the caller may ask for at a path.
func (a *API) queryLimits(t *target) query.Limits {
	limits := t.path.Limits()
	limits.DefaultLimit, limits.MaxLimit = a.QueryLimits.DefaultLimit, a.QueryLimits.MaxLimit
	limits.InBody = t.query
	return limits
}
