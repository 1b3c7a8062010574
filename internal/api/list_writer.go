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
	"sync"
	"time"

	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/query"
)

// pieceSize is how much of a list is buffered before it is sent. A range that fits is sent
// whole, and the row after it has been read by then.
const pieceSize = 32 << 10

// rows is what a list is made of.
type rows interface {
	// Append appends the next representation. False means that there is none.
	Append(dst []byte) ([]byte, bool, error)
	// Neighbours returns the previous and the next range, nil where there is none.
	Neighbours() (previous, next *query.Range, err error)
	// Extend lets the rows be read for as long as the client takes.
	Extend() error
	Close()
}

// listWriter writes a range as it is read.
type listWriter struct {
	rows      rows // nil: all were read
	abandoned context.Context
	timer     *limit.QueryTimer
	pieces    *pieceTimer
	slowest   int64 // bytes per second, on average, that a client must receive; zero: no minimum
	buffer    []byte
	count     int
	ended     bool
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, pieceSize+4<<10)) }}

func (a *API) newListWriter(rows rows, timer *limit.QueryTimer, pieces *pieceTimer) *listWriter {
	buffer := *buffers.Get().(*[]byte)
	return &listWriter{rows: rows, abandoned: a.Abandoned, timer: timer, pieces: pieces, slowest: a.MinThroughput, buffer: append(buffer[:0], `{"data":[`...)}
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
		if w.abandoned.Err() != nil {
			return errStopping
		}
		w.buffer = w.buffer[:0]
		w.timer.Restart()
		begun := time.Now()
		err := w.fill(pieceSize)
		took := time.Since(begun)
		if err == nil {
			w.timer.Pause()
		}
		w.pieces.end(took)
		if err != nil {
			return err
		}
	}
}

// tooSlow explains a write that exceeded its deadline.
func tooSlow(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the client received the response too slowly: %w", err)
	}
	return err
}
