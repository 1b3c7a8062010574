package main

import (
	"io"
	"runtime"
	"sync"
)

// logWriter writes lines in the background, many at once when many come: each request has
// one, and a system call for each would take as long as to answer it. It is at most
// a moment behind.
type logWriter struct {
	out     io.Writer
	mutex   sync.Mutex
	changed sync.Cond // pending, or closed
	pending []byte
	closed  bool
	ended   chan struct{}
}

// maxPending is how much may wait to be written. Whoever has more to say waits too.
const maxPending = 1 << 20

func newLogWriter(out io.Writer) *logWriter {
	w := &logWriter{out: out, ended: make(chan struct{})}
	w.changed.L = &w.mutex
	go w.loop()
	return w
}

// Write takes a line. That it could not be written is nobody's business: there is no
// other place to say so.
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
		runtime.Gosched() // on one core, the others who are about to say something must get to run
		w.mutex.Lock()
		taken, w.pending = w.pending, taken[:0]
		w.changed.Broadcast()
		w.mutex.Unlock()
		_, _ = w.out.Write(taken)
	}
}

// Close writes what is left. Later lines are written at once.
func (w *logWriter) Close() {
	w.mutex.Lock()
	w.closed = true
	w.changed.Broadcast()
	w.mutex.Unlock()
	<-w.ended
}
