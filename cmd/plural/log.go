package main

import (
	"io"
	"runtime"
	"sync"
)

// logWriter writes lines in the background, in batches: a system call for each request would
// take as long as the request. It is at most a moment late.
type logWriter struct {
	out     io.Writer
	mutex   sync.Mutex
	changed sync.Cond // pending, or closed
	pending []byte
	closed  bool
	ended   chan struct{}
}

// maxPending bounds the buffer. Writers wait when it is full.
const maxPending = 1 << 20

func newLogWriter(out io.Writer) *logWriter {
	w := &logWriter{out: out, ended: make(chan struct{})}
	w.changed.L = &w.mutex
	go w.loop()
	return w
}

// Write buffers a line. Errors are ignored: there is no other place to report them.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for len(w.pending) > maxPending && !w.closed {
		w.changed.Wait()
	}
	if w.closed {
		return w.out.Write(line)
	}
	w.pending = append(w.pending, line...)
	w.changed.Broadcast()
	return len(line), nil
}

func (w *logWriter) loop() {
	defer close(w.ended)
	var taken []byte
	for {
		w.mutex.Lock()
		for len(w.pending) == 0 && !w.closed {
			w.changed.Wait()
		}
		if len(w.pending) == 0 {
			w.mutex.Unlock()
			return
		}
		w.mutex.Unlock()
		runtime.Gosched() // on one core, let other writers run first
		w.mutex.Lock()
		taken, w.pending = w.pending, taken[:0]
		w.changed.Broadcast()
		w.mutex.Unlock()
		_, _ = w.out.Write(taken)
	}
}

// Close flushes the buffer. Later lines are written synchronously.
func (w *logWriter) Close() {
	w.mutex.Lock()
	w.closed = true
	w.changed.Broadcast()
	w.mutex.Unlock()
	<-w.ended
}
