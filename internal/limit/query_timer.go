package limit

import (
	"context"
	"time"
)

// QueryTimer is a context for the reads of a client that ends when they take too long. Time spent
// waiting for the client does not count. Its cause is the error that the client gets.
type QueryTimer struct {
	context.Context
	reader *Reader
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stop   func() bool // stops waiting for the client to leave; nil: nothing waits
}

// NewQueryTimer returns a context with the timer running.
func NewQueryTimer(ctx context.Context, reader *Reader) *QueryTimer {
	t := &QueryTimer{reader: reader}
	t.Context, t.cancel = context.WithCancelCause(ctx)
	if reader.Limit > 0 {
		t.timer = time.AfterFunc(reader.Limit, func() { t.cancel(reader.tooExpensive()) })
	}
	return t
}

// Value also has the timer, for BoundRead.
func (t *QueryTimer) Value(key any) any {
	if key == (ReaderKey{}) {
		return t
	}
	return t.Context.Value(key)
}

// EndAfter ends the context when so much time has passed since the client left.
func (t *QueryTimer) EndAfter(client context.Context, grace time.Duration) {
	t.stop = context.AfterFunc(client, func() {
		time.AfterFunc(grace, func() { t.cancel(context.Canceled) })
	})
}

// Pause stops the timer, Restart starts it again with the full time.
func (t *QueryTimer) Pause() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

// Restart starts the timer again.
func (t *QueryTimer) Restart() {
	if t.timer != nil {
		t.timer.Reset(t.reader.Limit)
	}
}

// End stops the timer after the last query, and ends the context.
func (t *QueryTimer) End() {
	t.Pause()
	if t.stop != nil {
		t.stop()
	}
	t.cancel(nil)
}
