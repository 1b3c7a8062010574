package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// maxEvent bounds the memory of one event. A resource and its former values are far smaller.
const maxEvent = 64 << 20

// frame is one event of a stream as it is sent, before its data is decoded.
type frame struct {
	name string
	id   string
	data []byte // valid until the next frame is read
}

// eventReader reads a stream of events (text/event-stream, as in the HTML standard; lines end
// with LF or CRLF).
type eventReader struct {
	lines *bufio.Reader
	line  []byte
	data  []byte
	retry time.Duration // the latest that the server asked for
}

func newEventReader(stream io.Reader) *eventReader {
	return &eventReader{lines: bufio.NewReader(stream)}
}

// next reads the next event. An event without an empty line after it is incomplete, and is not
// returned.
func (r *eventReader) next() (frame, error) {
	f, some := frame{}, false
	r.data = r.data[:0]
	for {
		line, err := r.readLine()
		if err != nil {
			return frame{}, err
		}
		if len(line) == 0 {
			if some {
				f.data = r.data
				return f, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":")) // a comment has an empty name
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			f.name, some = string(value), true
		case "id":
			f.id, some = string(value), true
		case "data":
			if len(r.data) > 0 {
				r.data = append(r.data, '\n')
			}
			if r.data, some = append(r.data, value...), true; len(r.data) > maxEvent {
				return frame{}, errLongEvent
			}
		case "retry":
			if milliseconds, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				r.retry = time.Duration(milliseconds) * time.Millisecond
			}
		}
	}
}

var errLongEvent = fmt.Errorf("the server has sent an event of more than %d MiB", maxEvent>>20)

// readLine reads a line without its end. It is valid until the next call.
func (r *eventReader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		part, err := r.lines.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case len(r.line) > maxEvent:
			return nil, errLongEvent
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, &lostError{err}
		}
		return bytes.TrimSuffix(r.line[:len(r.line)-1], []byte("\r")), nil
	}
}

// maxSilence is how long a stream may send nothing. Servers send a comment every 15 seconds, so a longer
// silence means that the connection is lost although it was not closed.
const maxSilence = time.Minute

var errSilent = fmt.Errorf("nothing has come for %v", maxSilence)

// timedReader calls a function if one Read takes longer than maxSilence. The time between two calls
// does not count, because the loop of the program may be slow.
type timedReader struct {
	io.Reader
	timer *time.Timer
}

func newTimedReader(stream io.Reader, silent func()) *timedReader {
	timer := time.AfterFunc(maxSilence, silent)
	timer.Stop()
	return &timedReader{stream, timer}
}

func (r *timedReader) Read(p []byte) (int, error) {
	r.timer.Reset(maxSilence)
	defer r.timer.Stop()
	return r.Reader.Read(p)
}
