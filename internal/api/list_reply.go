package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
)

// Lists of resources, of changes and of groups are sent in the same way. The first piece is read before anything is sent,
// because the headers depend on it. list_writer.go sends it, and reads and sends the rest.

// listPage is a range that was opened.
type listPage struct {
	rows  rows
	total *int64 // nil: not known
	// position is where a stream of the list begins; empty: it has none. It is called after Neighbours of the rows,
	// which may read on: a list of changes begins its stream after the last change that was read.
	position func() string
	parts    func(reads.ListPart) []reads.ListPart // of a piece of a list that includes relations
	applied  []string                              // preferences
	header   http.Header
}

// replyWithList replies with a range of what a query asks for. Open opens the range; exact says that its total is to be
// counted.
func (a *API) replyWithList(r *http.Request, out *response, t *target, mode query.Mode, c *model.Collection, limits query.Limits,
	open func(p *listPage, q query.Query, exact bool) error) (*reply, error) {
	condition, err := conditionOf(r)
	if err != nil {
		return nil, err
	}
	q, err := query.Parse(mode, c, r.URL.RawQuery, limits)
	if err != nil {
		return nil, err
	}
	pieces := &pieceTimer{begun: time.Now(), last: reads.ListPart{Path: t.path, Query: q}}
	if mode == query.OfList {
		pieces.report = func(part reads.ListPart) { a.ListFound(clientOf(r.Context()), out.origin(), part) }
	}
	p, opened, exact := &listPage{header: http.Header{}, position: func() string { return "" }}, q, headers.PrefersExactCount(r.Header)
	if r.Method == http.MethodHead {
		opened.Includes = nil // HEAD has no body
	}
	if err := open(p, opened, exact); err != nil {
		pieces.endFirst()
		return nil, err
	}
	pieces.parts = p.parts
	if p.total != nil {
		p.header.Set("X-Total-Count", strconv.FormatInt(*p.total, 10))
		if exact {
			p.applied = append(p.applied, "count=exact")
		}
	}
	// A list has no ETag. The condition is checked last: an invalid query is 400 and an unknown parent 404, whatever the condition.
	if unchanged, err := condition.AllowsReading(""); err != nil || unchanged {
		p.rows.Close()
		pieces.endFirst()
		return &reply{status: http.StatusNotModified}, err
	}
	return a.openReply(r, out, t, q, p, pieces)
}

// pieceTimer reports the time that each piece of a list of resources took, also if reading it has failed.
type pieceTimer struct {
	begun  time.Time                             // when the request was understood, so that waiting for a connection counts
	last   reads.ListPart                        // the piece reported last
	parts  func(reads.ListPart) []reads.ListPart // of a piece; nil: it has none
	report func(reads.ListPart)                  // nil: nobody wants to know
}

// endFirst reports the first piece.
func (t *pieceTimer) endFirst() { t.end(time.Since(t.begun)) }

// end reports the next piece.
func (t *pieceTimer) end(took time.Duration) {
	if t.report == nil {
		return
	}
	t.last.Piece++
	t.last.Took = took
	if t.parts == nil {
		t.report(t.last)
		return
	}
	for _, each := range t.parts(t.last) {
		t.report(each)
	}
}

// openReply reads the first piece of a range, and returns the reply that sends it and the rest.
func (a *API) openReply(r *http.Request, out *response, t *target, q query.Query, p *listPage, pieces *pieceTimer) (*reply, error) {
	list := a.newListWriter(p.rows, &out.timer, pieces)
	opened := false
	defer func() {
		if !opened { // an error or a panic: nobody else closes the list
			list.close()
		}
	}()
	size := pieceSize
	if r.Method == http.MethodHead {
		size = 0 // one row is enough
	}
	err := list.fill(size)
	pieces.endFirst()
	if err != nil {
		return nil, err
	}
	previous, next, err := p.rows.Neighbours()
	if err != nil {
		return nil, err
	}
	if !t.query { // a link would not have the parameters
		if links := links(a.listAddress(t), q, p.position(), previous, next); links != "" {
			p.header.Set("Link", links)
		}
	}
	t.addAcceptQuery(p.header)
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
	reply := &reply{status: http.StatusOK, list: list, header: p.header}
	if p.header["Vary"] != nil && headers.AcceptsGzip(r.Header) {
		reply.zipped = true
		p.header.Set("Content-Encoding", "gzip")
	}
	opened = true
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
