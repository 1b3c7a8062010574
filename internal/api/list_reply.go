package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
)

// Lists of resources, of changes and of groups are sent in the same way. The first piece is read before anything is sent,
// because the headers depend on it. list_writer.go sends it, and reads and sends the rest.

// listPage is a range that was opened.
type listPage struct {
	rows       rows
	neighbours func() (previous, next *query.Range, err error)
	// position is where a stream of the list begins; empty: it has none. It is called after neighbours,
	// which may read on: a list of changes begins its stream after the last change that was read.
	position func() string
	parts    func(resource.ListPart) []resource.ListPart // of a piece of a list of resources
	applied  []string                                    // preferences
	header   http.Header
}

func (p *listPage) setTotal(total int64) { p.header.Set("X-Total-Count", strconv.FormatInt(total, 10)) }

// replyWithList replies with a range of what a query asks for. Open opens the range; exact says that its total is to be
// counted.
func (a *API) replyWithList(r *http.Request, out *response, t *target, mode query.Mode, c *model.Collection, limits query.Limits,
	open func(q query.Query, exact bool) (listPage, error)) (*reply, error) {
	condition, err := conditionOf(r)
	if err != nil {
		return nil, err
	}
	q, err := query.Parse(mode, c, r.URL.RawQuery, limits)
	if err != nil {
		return nil, err
	}
	begun, p := time.Now(), listPage{}
	part := resource.ListPart{Path: t.path, Query: q}
	found := func(took time.Duration) {
		if mode != query.OfList {
			return
		}
		part.Piece++
		part.Took = took
		parts := []resource.ListPart{part}
		if p.parts != nil {
			parts = p.parts(part)
		}
		for _, each := range parts {
			a.ListFound(clientOf(r.Context()), out.id, each)
		}
	}
	p, err = open(q, headers.PrefersExactCount(r.Header))
	if err != nil {
		found(time.Since(begun))
		return nil, err
	}
	// A list has no ETag. The condition is checked last: an invalid query is 400 and an unknown parent 404, whatever the condition.
	if unchanged, err := condition.AllowsReading(""); err != nil || unchanged {
		p.rows.Close()
		found(time.Since(begun))
		return &reply{status: http.StatusNotModified}, err
	}
	return a.openReply(r, out, a.listAddress(t), q, &p, begun, found)
}

// openReply reads the first piece of a range, and returns the reply that sends it and the rest. Found is called with the time
// that each piece took, also if reading it has failed: of the first one, since the request was understood, so that waiting for a
// connection counts.
func (a *API) openReply(r *http.Request, out *response, address string, q query.Query, p *listPage, begun time.Time, found func(took time.Duration)) (*reply, error) {
	list := a.newListWriter(p.rows, out.timer, found)
	reply := &reply{status: http.StatusOK, list: list}
	defer func() {
		if reply.header == nil { // an error or a panic: nobody else closes the list
			list.close()
		}
	}()
	size := pieceSize
	if r.Method == http.MethodHead {
		size = 0 // one row is enough
	}
	err := list.fill(size)
	found(time.Since(begun))
	if err != nil {
		return nil, err
	}
	previous, next, err := p.neighbours()
	if err != nil {
		return nil, err
	}
	if links := links(address, q, p.position(), previous, next); links != "" {
		p.header.Set("Link", links)
	}
	out.timer.Pause()
	if len(p.applied) > 0 {
		p.header.Set("Preference-Applied", strings.Join(p.applied, ", "))
	}
	if r.Method == http.MethodGet && (!list.ended || len(list.buffer) >= minZipped) {
		p.header["Vary"] = acceptEncoding
	}
	switch {
	case list.ended:
		list.endRows() // release the snapshot: all rows are in memory
	case r.Method == http.MethodGet:
		if err := p.rows.Extend(); err != nil {
			return nil, err
		}
	}
	reply.header = p.header
	if p.header["Vary"] != nil && headers.AcceptsGzip(r.Header) {
		reply.zipped = true
		p.header.Set("Content-Encoding", "gzip")
	}
	return reply, nil
}

var acceptEncoding = []string{"Accept-Encoding"}

// maxEcho is how many bytes of a request one response header may repeat. Many proxies refuse
// responses with more than a few KiB of headers.
const maxEcho = 2 << 10

// links returns the Link header of a range (RFC 8288). Relations that would make it longer
// than maxEcho are left out.
func links(address string, q query.Query, position string, previous, next *query.Range) string {
	size := q.Range.Size()
	// In the order in which they are sent. The smallest rank is left out first.
	relations := [...]struct {
		name  string
		rank  int
		known bool
		to    *query.Range // nil: the stream
	}{
		{"changes", 1, position != "", nil},
		{"first", 2, size > 0, &query.Range{Limit: size}},
		{"prev", 3, size > 0 && previous != nil, previous},
		{"next", 4, size > 0 && next != nil, next},
		{"last", 2, size > 0, &query.Range{Limit: -size}},
	}
	text := make([]byte, 0, maxEcho/4)
	for least := range 5 {
		text = text[:0]
		for _, relation := range relations {
			if !relation.known || relation.rank < least {
				continue
			}
			if len(text) > 0 {
				text = append(text, ", "...)
			}
			text = append(append(append(text, '<'), address...), '?')
			if relation.to == nil {
				text = q.AppendChangesLink(text, position)
			} else {
				text = q.AppendLink(text, *relation.to)
			}
			text = append(append(append(text, `>; rel="`...), relation.name...), '"')
		}
		if len(text) <= maxEcho {
			return string(text)
		}
	}
	return ""
}
