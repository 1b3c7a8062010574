package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/plural-go/plural/params"
)

// Page is a range of a collection.
type Page[T any] struct {
	Items []T

	// Total is how many resources there are in all, whatever the range; -1 if the list
	// is filtered and WithTotal was not given.
	Total int64

	// Links are the query strings of other pages: first, prev, next and last, as far as there are such pages, and changes, at
	// which the changes since this page can be watched. If the query is very long, the server leaves links out. The methods of
	// the page work without them.
	Links map[string]string

	// Position is a position for Since: a Watch with the filters of this list returns the changes after the list was read, and a
	// list of changes continues after this one. Empty: the query is too long for the server to return it.
	Position string

	collection  *Collection[T]
	query       params.Query // what selects and orders; not the range
	size        int64        // of the range that was asked for; 0: the server decided
	full        bool         // the range came with as many resources as it can have
	first, last string       // ids, empty if there are no items
}

// List reads a range of the collection into memory, in the order of positions. Without
// a Limit the server decides how many.
func (c *Collection[T]) List(ctx context.Context, given ...params.Param) (*Page[T], error) {
	q, err := c.newQuery(given)
	if err != nil {
		return nil, err
	}
	selection, size := *q, int64(0)
	if q.Limit != nil {
		size = max(*q.Limit, -*q.Limit)
	}
	selection.Offset, selection.Cursor, selection.Since, selection.Limit = nil, "", "", nil
	return (&Page[T]{collection: c, query: selection, size: size}).read(ctx, q.Encode(), "")
}

// Next is the page after this one, nil if it is the last. Where the server gave no link,
// the page can have one resource less than the others.
func (p *Page[T]) Next(ctx context.Context) (*Page[T], error) {
	if link, ok := p.Links["next"]; ok {
		return orNone(p.read(ctx, link, "")) // the server may not have known that nothing follows a long range
	}
	if p.last == "" || !p.full || p.hasLinks() {
		return nil, nil
	}
	// It begins with the last one of this page, which is left out.
	limit := p.size
	if limit == 1 {
		limit = 2
	}
	return orNone(p.read(ctx, p.at(p.last, limit), p.last))
}

// Prev is the page before this one, nil if it is the first.
func (p *Page[T]) Prev(ctx context.Context) (*Page[T], error) {
	if link, ok := p.Links["prev"]; ok {
		return p.read(ctx, link, "")
	}
	if p.first == "" || p.hasLinks() {
		return nil, nil
	}
	return orNone(p.read(ctx, p.at(p.first, -p.length()), ""))
}

// First is the page at the start of the collection.
func (p *Page[T]) First(ctx context.Context) (*Page[T], error) { return p.end(ctx, "first", p.size) }

// Last is the page at the end of the collection.
func (p *Page[T]) Last(ctx context.Context) (*Page[T], error) { return p.end(ctx, "last", -p.length()) }

func (p *Page[T]) end(ctx context.Context, rel string, limit int64) (*Page[T], error) {
	link, ok := p.Links[rel]
	switch {
	case ok:
		return p.read(ctx, link, "")
	case p.length() == 0: // an empty range
		return nil, nil
	}
	return p.read(ctx, p.at("", limit), "")
}

// hasLinks reports whether the response has all links: the server leaves out the links to the ends before the others.
func (p *Page[T]) hasLinks() bool {
	_, ok := p.Links["first"]
	return ok
}

// length is how many resources a page has, as far as that is known.
func (p *Page[T]) length() int64 {
	return cmp.Or(p.size, int64(len(p.Items)))
}

// at is the query of another range. A limit of zero is the server's.
func (p *Page[T]) at(cursor string, limit int64) string {
	q := p.query
	q.Cursor = cursor
	if limit != 0 {
		q.Limit = &limit
	}
	return q.Encode()
}

func orNone[T any](p *Page[T], err error) (*Page[T], error) {
	if err != nil || p.last == "" {
		return nil, err
	}
	return p, nil
}

// read reads another page of the same collection, without the resource at which it
// begins if that is known already.
func (p *Page[T]) read(ctx context.Context, query, known string) (*Page[T], error) {
	c := p.collection
	if c.err != nil {
		return nil, c.err
	}
	items, header, err := readList[json.RawMessage](ctx, c.client, c.listing(query, p.query.Total))
	if err != nil {
		return nil, err
	}
	page := &Page[T]{Items: make([]T, 0, len(items)), Total: totalOf(header), Links: links(header), collection: c, query: p.query, size: p.size}
	page.Position = positionOf(page.Links)
	page.full = int64(len(items)) >= p.size
	for _, item := range items {
		id, err := idOf(item)
		if err != nil {
			return nil, fmt.Errorf("a resource of %s: %w", c.name, err)
		}
		if id == known {
			continue
		}
		var value T
		if err := decode(item, &value); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", c.name, id, err)
		}
		if page.first == "" {
			page.first = id
		}
		page.last = id
		page.Items = append(page.Items, value)
	}
	return page, nil
}

// totalOf is how many resources or groups there are in all, -1 if the server does not say.
func totalOf(header http.Header) int64 {
	total, err := strconv.ParseInt(header.Get("X-Total-Count"), 10, 64)
	if err != nil {
		return -1
	}
	return total
}

// positionOf is the position that the link to the changes has.
func positionOf(links map[string]string) string {
	values, err := url.ParseQuery(links["changes"])
	if err != nil {
		return ""
	}
	return values.Get("since")
}

var link = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="([^"]*)"`)

// links reads the Link headers (RFC 8288): of each target the query, as that is
// all in which pages of one collection differ.
func links(header http.Header) map[string]string {
	found := map[string]string{}
	for _, each := range link.FindAllStringSubmatch(strings.Join(header.Values("Link"), ","), -1) {
		if target, err := url.Parse(each[1]); err == nil {
			found[each[2]] = target.RawQuery
		}
	}
	return found
}
