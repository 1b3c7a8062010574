package mcp

import (
	"bytes"
	"errors"
	"net/http"
)

// recorder is the response of a handler in the same process, up to a bound.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	most   int
}

// Header is that of an http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader is that of an http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

var errFull = errors.New("the agent reads no more")

// Write keeps what is below the bound. A longer response ends there.
func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	room := w.most - w.body.Len()
	if len(p) > room {
		w.body.Write(p[:room])
		return room, errFull
	}
	return w.body.Write(p)
}

// record has the handler respond. A handler that could not go on panics, as net/http wants it.
func (w *recorder) record(api http.Handler, r *http.Request) (err error) {
	defer func() {
		reason := recover()
		switch {
		case reason == nil:
		case reason != http.ErrAbortHandler:
			panic(reason)
		case w.body.Len() < w.most:
			err = errAborted
		}
	}()
	api.ServeHTTP(w, r)
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return nil
}

// Flush is that of an http.Flusher, which long lists need.
func (w *recorder) Flush() { w.WriteHeader(http.StatusOK) }
