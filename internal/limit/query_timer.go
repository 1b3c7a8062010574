package limit

import (
	"context"
	"sync"
	"time"
)

// QueryTimer is a context for the reads of a client that ends when they take too long, or some time after the client has left. Time
// spent waiting for the client does not count. Its cause is the error that the client gets.
//
// Timers, and functions that wait for other contexts, would cost more than a tenth of a short read. So they begin with the first
// Done, when something waits for the end. Until then, Err looks at the clock.
type QueryTimer struct {
	parent context.Context
	reader *Reader
	client context.Context // nil: nobody can leave
	grace  time.Duration   // after the client has left

	mutex    sync.Mutex
	deadline time.Time // of the running timer; zero: there is none
	ended    bool
	waiting  context.Context // whose end others wait for; nil: nobody has waited yet. The rest is nil with it
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	stop     func() bool // stops waiting for the client to leave
}

// NewQueryTimer returns a context with the timer running.
func NewQueryTimer(ctx context.Context, reader *Reader) *QueryTimer {
	t := &QueryTimer{}
	t.Begin(ctx, reader, time.Now())
	return t
}

// Begin makes a zero QueryTimer a context with the timer running since a moment.
func (t *QueryTimer) Begin(ctx context.Context, reader *Reader, since time.Time) {
	t.parent, t.reader = ctx, reader
	if reader.Limit > 0 {
		t.deadline = since.Add(reader.Limit)
	}
}

// EndAfter ends the context when so much time has passed since the client left. It is called before the context is used.
func (t *QueryTimer) EndAfter(client context.Context, grace time.Duration) {
	t.client, t.grace = client, grace
}

// Deadline is that of the context from which this one was made: the timer may be restarted.
func (t *QueryTimer) Deadline() (time.Time, bool) { return t.parent.Deadline() }

// Done lets the caller wait for the end.
func (t *QueryTimer) Done() <-chan struct{} {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.wait().Done()
}

// Err also notices an end for which nobody waits.
func (t *QueryTimer) Err() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.waiting == nil && !t.ended && t.parent.Err() == nil && (t.client == nil || t.client.Err() == nil) && !t.late() {
		return nil
	}
	return t.wait().Err()
}

// Value also has the timer, for BoundRead.
func (t *QueryTimer) Value(key any) any {
	if key == (ReaderKey{}) {
		return t
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.waiting != nil { // it knows the cause of the end
		return t.waiting.Value(key)
	}
	return t.parent.Value(key)
}

// Pause stops the timer, Restart starts it again with the full time.
func (t *QueryTimer) Pause() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.pause()
}

// Restart starts the timer again.
func (t *QueryTimer) Restart() {
	if t.reader.Limit <= 0 {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.deadline = time.Now().Add(t.reader.Limit)
	if t.waiting != nil {
		t.run()
	}
}

// End stops the timer after the last query, and ends the context.
func (t *QueryTimer) End() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.pause()
	t.ended = true
	if t.waiting == nil {
		return
	}
	if t.stop != nil {
		t.stop()
	}
	t.cancel(nil)
}

// The mutex is locked in all of the following.

func (t *QueryTimer) late() bool { return !t.deadline.IsZero() && !time.Now().Before(t.deadline) }

func (t *QueryTimer) pause() {
	t.deadline = time.Time{}
	if t.timer != nil {
		t.timer.Stop()
	}
}

func (t *QueryTimer) run() {
	left := time.Until(t.deadline)
	if t.timer != nil {
		t.timer.Reset(left)
		return
	}
	t.timer = time.AfterFunc(left, func() { t.cancel(t.reader.tooExpensive()) })
}

// wait returns the context whose end others can wait for.
func (t *QueryTimer) wait() context.Context {
	if t.waiting != nil {
		return t.waiting
	}
	t.waiting, t.cancel = context.WithCancelCause(t.parent)
	switch {
	case t.ended:
		t.cancel(nil)
	case t.late():
		t.cancel(t.reader.tooExpensive())
	default:
		if !t.deadline.IsZero() {
			t.run()
		}
		if t.client != nil {
			t.stop = context.AfterFunc(t.client, func() { time.AfterFunc(t.grace, func() { t.cancel(context.Canceled) }) })
		}
	}
	return t.waiting
}
