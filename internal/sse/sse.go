// Package sse reads streams of events: text/event-stream, as in the HTML standard. Lines end with LF or CRLF.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// maxEvent bounds the memory of one event. A resource and its former values are far smaller. Tests reduce it.
var maxEvent = 64 << 20

// ErrLongEvent is the error of an event that is too large to be read.
var ErrLongEvent = errors.New("the server has sent an event of more than 64 MiB")

// Event is one event of a stream.
type Event struct {
	Name string
	ID   string
	Data []byte // valid until the next event is read
}

// Reader reads a stream.
type Reader struct {
	Retry time.Duration // the latest pause before a new connection that the server asked for

	lines *bufio.Reader
	line  []byte
	data  []byte
}

// NewReader returns a reader of a stream.
func NewReader(stream io.Reader) *Reader { return &Reader{lines: bufio.NewReader(stream)} }

// Next reads the next event. An event without an empty line after it is incomplete, and is not
// returned. The error is ErrLongEvent, or that of the stream.
func (r *Reader) Next() (Event, error) {
	e, some, hasData := Event{}, false, false
	r.data = r.data[:0]
	for {
		line, err := r.readLine()
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if some {
				e.Data = r.data
				return e, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":")) // a comment has an empty name
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Name, some = string(value), true
		case "id":
			e.ID, some = string(value), true
		case "data":
			if hasData {
				r.data = append(r.data, '\n')
			}
			r.data, some, hasData = append(r.data, value...), true, true
			if len(r.data) > maxEvent {
				return Event{}, ErrLongEvent
			}
		case "retry":
			if milliseconds, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				r.Retry = time.Duration(milliseconds) * time.Millisecond
			}
		}
	}
}

// readLine reads a line without its end. It is valid until the next call.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		part, err := r.lines.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case len(r.line) > maxEvent:
			return nil, ErrLongEvent
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		}
		return bytes.TrimSuffix(r.line[:len(r.line)-1], []byte("\r")), nil
	}
}
