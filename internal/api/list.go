package api

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
)

// list replies with a range of a collection.
func (a *API) list(r *http.Request, out *response, t *target) (*reply, error) {
	condition, err := conditionOf(r)
	if err != nil {
		return nil, err
	}
	if unchanged, err := condition.AllowsReading(""); err != nil || unchanged { // a collection has no ETag
		return &reply{status: http.StatusNotModified}, err
	}
	exact := prefers(r, "count", "exact")
	limits := a.Query
	limits.Visible = t.path.By.Visible(t.path.Collection)
	q, err := query.Parse(t.path.Collection, r.URL.RawQuery, limits)
	if err != nil {
		return nil, err
	}
	patience := a.startQueryTimer(r.Context())
	listing, err := a.Resources.List(patience, t.path, q, resource.ListOptions{Exact: exact, Caller: shareOf(out)})
	if err != nil {
		defer patience.end()
		return nil, patience.explain(err)
	}
	stream := newListStream(listing, t.path.Collection, limits.Visible, a.Abandoned)
	stream.patience, stream.slowest = patience, a.MinThroughput
	reply := &reply{status: http.StatusOK, stream: stream}
	defer func() {
		if reply.header == nil { // an error or a panic: the stream was not handed over
			stream.close()
		}
	}()
	head, err := a.listHeader(r, t, q, stream)
	if err != nil {
		return nil, patience.explain(err)
	}
	patience.pause()
	if exact {
		head.Set("Preference-Applied", "count=exact")
	}
	if r.Method == http.MethodGet && (!stream.ended || len(stream.buffer) >= minZipped) {
		head["Vary"] = acceptEncoding
	}
	switch {
	case stream.ended:
		stream.endListing() // release the snapshot: all rows are in memory
	case r.Method == http.MethodGet:
		if err := listing.Extend(); err != nil {
			return nil, err
		}
	}
	reply.header = head
	if head["Vary"] != nil && wantsGzip(r) {
		reply.zipped = true
		head.Set("Content-Encoding", "gzip")
	}
	return reply, nil
}

var acceptEncoding = []string{"Accept-Encoding"}

// listHeader reads the first piece of a stream, or for HEAD the first row, and returns the
// headers.
func (a *API) listHeader(r *http.Request, t *target, q query.Query, stream *listStream) (http.Header, error) {
	size := pieceSize
	if r.Method == http.MethodHead {
		size = 0
	}
	if err := stream.fill(size); err != nil {
		return nil, err
	}
	previous, next, err := stream.listing.Neighbours()
	if err != nil {
		return nil, err
	}
	head := http.Header{}
	if links := links(a.address(t.path), q, previous, next); links != "" {
		head.Set("Link", links)
	}
	if stream.listing.Known {
		head.Set("X-Total-Count", strconv.FormatInt(stream.listing.Total, 10))
	}
	return head, nil
}

// maxEcho is how many bytes of a request one response header may repeat. Many proxies refuse
// responses with more than a few KiB of headers.
const maxEcho = 2 << 10

// links returns the Link header of a range (RFC 8288). Relations that would make it longer
// than maxEcho are left out.
func links(address string, q query.Query, previous, next *query.Range) string {
	size := q.Range.Size()
	if size == 0 {
		return ""
	}
	// In the order in which they are sent. The smallest rank is left out first.
	relations := []struct {
		name string
		to   *query.Range
		rank int
	}{
		{"first", &query.Range{Limit: size}, 1},
		{"prev", previous, 2},
		{"next", next, 3},
		{"last", &query.Range{Limit: -size}, 1},
	}
	for least := range 4 {
		var all []string
		for _, relation := range relations {
			if relation.to != nil && relation.rank >= least {
				all = append(all, "<"+address+"?"+q.Link(*relation.to)+`>; rel="`+relation.name+`"`)
			}
		}
		if text := strings.Join(all, ", "); len(text) <= maxEcho {
			return text
		}
	}
	return ""
}

// pieceSize is how much of a stream is buffered before it is sent. A range that fits is sent
// whole, and the row after it has been read by then.
const pieceSize = 32 << 10

// listStream writes a range as it is read.
type listStream struct {
	listing    *resource.Listing
	collection *model.Collection
	visible    model.ColumnSet
	abandoned  <-chan struct{}
	patience   *queryTimer
	slowest    int64 // bytes per second, on average, that a client must receive; zero: no minimum
	buffer     []byte
	rows       int
	ended      bool
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, pieceSize+4<<10)) }}

func newListStream(listing *resource.Listing, c *model.Collection, visible model.ColumnSet, abandoned <-chan struct{}) *listStream {
	buffer := *buffers.Get().(*[]byte)
	return &listStream{listing: listing, collection: c, visible: visible, abandoned: abandoned, buffer: append(buffer[:0], `{"data":[`...)}
}

// close ends the listing. A buffer that a large resource has grown is not reused.
func (s *listStream) close() {
	s.endListing()
	if cap(s.buffer) <= 4*pieceSize {
		buffers.Put(&s.buffer)
	}
}

func (s *listStream) endListing() {
	if s.listing != nil {
		s.listing.Close()
		s.listing = nil
		s.patience.end()
	}
}

// fill reads rows until the buffer has the size, or to the end.
func (s *listStream) fill(size int) error {
	for {
		row, err := s.listing.Next()
		if err != nil {
			return err
		}
		if row == nil {
			s.buffer = append(s.buffer, "]}"...)
			s.ended = true
			return nil
		}
		if s.rows > 0 {
			s.buffer = append(s.buffer, ',')
		}
		s.buffer = s.collection.AppendSome(s.buffer, row, s.visible)
		s.rows++
		if len(s.buffer) >= size {
			return nil
		}
	}
}

// send writes the stream, with gzip if zipped. An error aborts the response, so that the
// client notices that it is incomplete.
func (s *listStream) send(out *response, headOnly, zipped bool) error {
	if s.ended && !headOnly && !zipped {
		out.Header()["Content-Length"] = []string{strconv.Itoa(len(s.buffer))}
	}
	out.WriteHeader(http.StatusOK)
	switch {
	case headOnly:
		return nil
	case zipped:
		return zip(out, func(zipper *gzip.Writer) error { return s.sendPieces(out, zipper, zipper.Flush) })
	}
	return s.sendPieces(out, out, func() error { return nil })
}

// sendPieces writes piece by piece, as fast as the client receives them.
func (s *listStream) sendPieces(out *response, to io.Writer, flush func() error) error {
	flusher := http.NewResponseController(out.ResponseWriter)
	for sent := int64(0); ; {
		sent += int64(len(s.buffer))
		if s.slowest > 0 && !s.ended {
			// A slow client keeps a snapshot open, and with it the log of the database.
			out.latest = out.started.Add(out.timeout + time.Duration(float64(sent)/float64(s.slowest)*float64(time.Second)))
		}
		if _, err := to.Write(s.buffer); err != nil {
			return tooSlow(err)
		}
		if s.ended {
			return nil
		}
		if err := errors.Join(flush(), flusher.Flush()); err != nil {
			return tooSlow(err)
		}
		select {
		case <-s.abandoned:
			return errors.New("the server is shutting down")
		default:
		}
		s.buffer = s.buffer[:0]
		s.patience.restart()
		if err := s.fill(pieceSize); err != nil {
			return s.patience.explain(err)
		}
		s.patience.pause()
	}
}

// tooSlow explains a write that exceeded its deadline.
func tooSlow(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the client received the response too slowly: %w", err)
	}
	return err
}
