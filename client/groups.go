package client

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/plural-go/plural/params"
)

// GroupPage is a range of groups.
type GroupPage[K, V any] struct {
	Items []params.Group[K, V]

	// Total is how many groups there are in all; -1 unless WithTotal was given.
	Total int64

	// Links are the query strings of other pages: first, prev, next and last, as far as there are such
	// pages.
	Links map[string]string

	client  *Client
	request Request
	query   params.Query
	size    int64 // of the range that was asked for; 0: the server decided
	start   int64 // offset of the first group, -1 if it is unknown
}

// Groups groups the resources of a collection by the fields that By names, or all into one group, and
// computes what Sum, Avg, Min, Max and Distinct ask for. Filters select the resources and Having the groups, Sort
// sorts the groups by "count", what By has and what is computed, Include embeds what references in By lead to, and Offset and
// Limit are a range of the groups.
func Groups[K, V, T any](ctx context.Context, c *Collection[T], given ...params.Param) (*GroupPage[K, V], error) {
	q, err := params.Of(given...)
	switch {
	case err != nil:
		return nil, err
	case q.Cursor != "" || q.Since != "" || q.FromNow || q.OnConnection != nil:
		return nil, fmt.Errorf("groups have an offset and a limit, and no Cursor, Since, FromNow or OnConnection")
	case c.err != nil:
		return nil, c.err
	case c.path != "/"+c.name:
		return nil, fmt.Errorf("groups are of a whole collection: filter by the parent in place of Under")
	}
	request := c.listing(q.Encode(), q.Total)
	request.Path = "/-/groups/" + c.name
	page := &GroupPage[K, V]{client: c.client, request: request, query: *q}
	anchor := int64(0)
	if q.Limit != nil {
		page.size = max(*q.Limit, -*q.Limit)
	}
	switch {
	case q.Offset != nil:
		anchor = *q.Offset
	case q.Limit != nil && *q.Limit < 0:
		anchor = -1 // the end
	}
	return page.read(ctx, request.Query, anchor)
}

// Next is the page after this one, nil if it is the last.
func (p *GroupPage[K, V]) Next(ctx context.Context) (*GroupPage[K, V], error) {
	return p.follow(ctx, "next")
}

// Prev is the page before this one, nil if it is the first.
func (p *GroupPage[K, V]) Prev(ctx context.Context) (*GroupPage[K, V], error) {
	return p.follow(ctx, "prev")
}

// follow reads the next or previous page. If the query is very long, the server returns no links: then the range is computed from
// this page.
func (p *GroupPage[K, V]) follow(ctx context.Context, rel string) (*GroupPage[K, V], error) {
	if link, ok := p.Links[rel]; ok {
		return p.read(ctx, link, p.neighbour(rel))
	}
	if _, whole := p.Links["first"]; whole || len(p.Items) == 0 {
		return nil, nil
	}
	switch at := p.neighbour(rel); {
	case at == 0 && rel == "prev", int64(len(p.Items)) < p.size && rel == "next":
		return nil, nil
	case at < 0:
		return nil, fmt.Errorf("the query is too long for the server to link to other groups: give an offset")
	default:
		limit := cmp.Or(p.size, int64(len(p.Items)))
		if rel == "prev" {
			limit = -limit
		}
		q := p.query
		q.Offset, q.Limit = &at, &limit
		page, err := p.read(ctx, q.Encode(), at)
		if err != nil || len(page.Items) == 0 {
			return nil, err
		}
		return page, nil
	}
}

// neighbour is the offset that a link in a direction has, -1 if it is unknown.
func (p *GroupPage[K, V]) neighbour(rel string) int64 {
	if rel == "next" && p.start >= 0 {
		return p.start + int64(len(p.Items))
	}
	return p.start
}

// read reads a range that counts from an offset, or from the end if that is -1.
func (p *GroupPage[K, V]) read(ctx context.Context, query string, anchor int64) (*GroupPage[K, V], error) {
	request := p.request
	request.Query = query
	back := strings.Contains("&"+query, "&limit=-")
	items, header, err := readList[params.Group[K, V]](ctx, p.client, request)
	if err != nil {
		return nil, err
	}
	page := &GroupPage[K, V]{Items: items, Total: totalOf(header), Links: links(header), client: p.client, request: request, query: p.query, size: p.size, start: anchor}
	if back && anchor >= 0 {
		page.start = max(0, anchor-int64(len(page.Items)))
	}
	return page, nil
}
