package api

import (
	"net/http"

	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/query"
)

// read replies with one resource.
func (a *API) read(r *http.Request, t *target) (*reply, error) {
	condition, err := conditionOf(r)
	if err != nil {
		return nil, err
	}
	q, err := query.Parse(query.OfOne, t.path.Collection, r.URL.RawQuery, a.queryLimits(t))
	if err != nil {
		return nil, err
	}
	found, err := a.Resources.Get(r.Context(), t.path, t.id, q)
	if err != nil {
		return nil, err
	}
	return a.replyWithOne(condition, t, found.ETag, found.Representation)
}

// replyWithOne replies with one resource or change, also under its singular path, or with 304 if the client has it already.
func (a *API) replyWithOne(condition headers.Condition, t *target, etag string, representation []byte) (*reply, error) {
	unchanged, err := condition.AllowsReading(etag)
	if err != nil {
		return nil, err
	}
	reply := enveloped(http.StatusOK, representation)
	if unchanged {
		reply.status, reply.body = http.StatusNotModified, nil
	}
	if !t.query {
		reply.etag = etag // related resources have revisions of their own, and it is empty
	}
	if t.kind == singularPath {
		reply.header.Set("Content-Location", a.resourceAddress(t.path.Collection, t.id))
	}
	return reply, nil
}

// conditionOf reads the conditions of a request.
func conditionOf(r *http.Request) (headers.Condition, error) {
	return headers.ParseCondition(r.Header["If-Match"], r.Header["If-None-Match"])
}
