package api

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/feed"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/include"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
)

// list replies with a range of a collection.
func (a *API) list(r *http.Request, out *response, t *target) (*reply, error) {
	if unchanged, err := unchangedList(r); err != nil || unchanged {
		return &reply{status: http.StatusNotModified}, err
	}
	exact := headers.Prefers(r.Header, "count", "exact")
	q, err := query.Parse(t.path.Collection, r.URL.RawQuery, a.queryLimits(t))
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodHead {
		q.Includes = nil // HEAD has no body
	}
	begun := time.Now()
	found := func() { a.ListFound(r.Context(), out.id, t.path, q, time.Since(begun)) }
	timer := a.startQueryTimer(r.Context())
	page, err := a.Resources.List(timer, t.path, q, resource.ListOptions{Exact: exact, QuotaKey: quotaKeyOf(out)})
	if err != nil {
		defer timer.End()
		found()
		return nil, timer.Explain(err)
	}
	p := &listPage{rows: rowsOf(page, t.path.Collection, q), query: q, neighbours: page.Neighbours, found: found, header: http.Header{}}
	if page.TotalKnown {
		p.setTotal(page.Total)
	}
	if exact {
		p.applied = []string{"count=exact"}
	}
	p.position = func() string {
		if !a.streams(r, t) || query.ReadsRelated(q.Filter) { // which a stream does not take
			return ""
		}
		return a.Feed.Link(feed.Shape{Path: t.path, Filter: q.Filter, Fields: q.Visible}, page.Point.History, page.Point)
	}
	return a.openReply(r, t, timer, p)
}

// unchangedList checks the conditions of a request for a list, which has no ETag.
func unchangedList(r *http.Request) (bool, error) {
	condition, err := conditionOf(r)
	if err != nil {
		return false, err
	}
	return condition.AllowsReading("")
}

// startQueryTimer bounds the time of the queries of a list.
func (a *API) startQueryTimer(ctx context.Context) *limit.QueryTimer {
	return limit.NewQueryTimer(ctx, a.QueryTimeout, "The database takes too long for this request. Ask for a smaller range, or filter and sort by indexed fields.")
}

// listPage is a range that was opened.
type listPage struct {
	rows       rows
	query      query.Query
	neighbours func() (previous, next *query.Range, err error)
	// position is where a stream of the list begins; empty: it has none. It is called after neighbours,
	// which may read on: a list of changes begins its stream after the last change that was read.
	position func() string
	found    func()   // called with the first piece, or when reading it has failed; nil: nothing to do
	applied  []string // preferences
	header   http.Header
}

func (p *listPage) setTotal(total int64) { p.header.Set("X-Total-Count", strconv.FormatInt(total, 10)) }

// openReply reads the first piece of a range, and returns the reply that sends it and the rest. The timer is
// running; it is ended with the range.
func (a *API) openReply(r *http.Request, t *target, timer *limit.QueryTimer, p *listPage) (*reply, error) {
	list := a.newListWriter(p.rows)
	list.timer = timer
	reply := &reply{status: http.StatusOK, list: list}
	defer func() {
		if reply.header == nil { // an error or a panic: nobody else closes the list
			list.close()
		}
	}()
	err := list.begin(r)
	if p.found != nil {
		p.found()
	}
	if err != nil {
		return nil, timer.Explain(err)
	}
	previous, next, err := p.neighbours()
	if err != nil {
		return nil, timer.Explain(err)
	}
	if links := links(a.addressOf(t), p.query, p.position(), previous, next); links != "" {
		p.header.Set("Link", links)
	}
	timer.Pause()
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

// queryLimits bounds what the caller may ask for at a path.
func (a *API) queryLimits(t *target) query.Limits {
	limits := a.QueryLimits
	limits.Visible, limits.Related = t.path.By.Visible(t.path.Collection), t.path.By.Related
	return limits
}

var acceptEncoding = []string{"Accept-Encoding"}

// begin reads the first piece of a list, or for HEAD the first row.
func (w *listWriter) begin(r *http.Request) error {
	size := pieceSize
	if r.Method == http.MethodHead {
		size = 0
	}
	return w.fill(size)
}

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

// pieceSize is how much of a list is buffered before it is sent. A range that fits is sent
// whole, and the row after it has been read by then.
const pieceSize = 32 << 10

// rows is what a list is made of.
type rows interface {
	// Append appends the next representation. False means that there is none.
	Append(dst []byte) ([]byte, bool, error)
	// Extend lets the rows be read for as long as the client takes.
	Extend() error
	Close()
}

// pageRows is the rows of a collection.
type pageRows struct {
	*resource.Page
	collection *model.Collection
	visible    model.ColumnSet
}

func (p pageRows) Append(dst []byte) ([]byte, bool, error) {
	row, err := p.Next()
	if err != nil || row == nil {
		return dst, false, err
	}
	return p.collection.AppendSome(dst, row, p.visible), true, nil
}

func rowsOf(page *resource.Page, c *model.Collection, q query.Query) rows {
	if len(q.Includes) > 0 {
		return include.NewPage(page, c, q)
	}
	return pageRows{page, c, q.Visible}
}

// listWriter writes a range as it is read.
type listWriter struct {
	rows      rows // nil: all were read
	abandoned <-chan struct{}
	timer     *limit.QueryTimer
	slowest   int64 // bytes per second, on average, that a client must receive; zero: no minimum
	buffer    []byte
	count     int
	ended     bool
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, pieceSize+4<<10)) }}

func (a *API) newListWriter(rows rows) *listWriter {
	buffer := *buffers.Get().(*[]byte)
	return &listWriter{rows: rows, abandoned: a.Abandoned, slowest: a.MinThroughput, buffer: append(buffer[:0], `{"data":[`...)}
}

// close ends the list. A buffer that a large resource has grown is not reused.
func (w *listWriter) close() {
	w.endRows()
	if cap(w.buffer) <= 4*pieceSize {
		buffers.Put(&w.buffer)
	}
}

func (w *listWriter) endRows() {
	if w.rows != nil {
		w.rows.Close()
		w.rows = nil
		w.timer.End()
	}
}

// fill reads rows until the buffer has the size, or to the end.
func (w *listWriter) fill(size int) error {
	for {
		before := len(w.buffer)
		if w.count > 0 {
			w.buffer = append(w.buffer, ',')
		}
		buffer, ok, err := w.rows.Append(w.buffer)
		w.buffer = buffer
		if err != nil {
			return err
		}
		if !ok {
			w.buffer = append(w.buffer[:before], "]}"...)
			w.ended = true
			return nil
		}
		w.count++
		if len(w.buffer) >= size {
			return nil
		}
	}
}

// send writes the list, with gzip if zipped. An error aborts the response, so that the
// client notices that it is incomplete.
func (w *listWriter) send(out *response, headOnly, zipped bool) error {
	if w.ended && !headOnly && !zipped {
		out.Header()["Content-Length"] = []string{strconv.Itoa(len(w.buffer))}
	}
	out.WriteHeader(http.StatusOK)
	switch {
	case headOnly:
		return nil
	case zipped:
		return zip(out, func(zipper *gzip.Writer) error { return w.sendPieces(out, zipper, zipper.Flush) })
	}
	return w.sendPieces(out, out, func() error { return nil })
}

// sendPieces writes piece by piece, as fast as the client receives them.
func (w *listWriter) sendPieces(out *response, to io.Writer, flush func() error) error {
	flusher := http.NewResponseController(out.ResponseWriter)
	for sent := int64(0); ; {
		sent += int64(len(w.buffer))
		if w.slowest > 0 && !w.ended {
			// A slow client keeps a snapshot open, and the database keeps its write-ahead log or old rows for it.
			out.latest = out.started.Add(out.timeout + time.Duration(float64(sent)/float64(w.slowest)*float64(time.Second)))
		}
		if _, err := to.Write(w.buffer); err != nil {
			return tooSlow(err)
		}
		if w.ended {
			return nil
		}
		if err := errors.Join(flush(), flusher.Flush()); err != nil {
			return tooSlow(err)
		}
		select {
		case <-w.abandoned:
			return errors.New("the server is shutting down")
		default:
		}
		w.buffer = w.buffer[:0]
		w.timer.Restart()
		if err := w.fill(pieceSize); err != nil {
			return w.timer.Explain(err)
		}
		w.timer.Pause()
	}
}

// tooSlow explains a write that exceeded its deadline.
func tooSlow(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the client received the response too slowly: %w", err)
	}
	return err
}
