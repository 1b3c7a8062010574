package limit

import (
	"context"
	"time"

	"github.com/plural-go/plural/problem"
)

// Reader is the client for whom a context reads from the database. The store takes the place of each read transaction
// from the share of its key, and bounds the time. A context without a Reader is that of the program, which has neither quota nor limit.
type Reader struct {
	Key    string        // whose share of the reads it uses; empty: none, it is the server that reads
	Limit  time.Duration // for each transaction, or with a QueryTimer for each piece; 0: no limit
	Detail string        // what the client is told if that is exceeded
}

// ReaderKey is the key of the *Reader, or of the *QueryTimer, in a context. Nil means the program.
type ReaderKey struct{}

// WithReader returns a context in which a client reads, or with nil the program.
func WithReader(ctx context.Context, reader *Reader) context.Context {
	return context.WithValue(ctx, ReaderKey{}, reader)
}

// BoundRead returns the context of a read transaction, and whose share it uses; empty: none. End is called after
// the transaction.
func BoundRead(ctx context.Context) (bounded context.Context, key string, end context.CancelFunc) {
	switch reader := ctx.Value(ReaderKey{}).(type) {
	case *QueryTimer: // it bounds all transactions of a request together
		return ctx, reader.reader.Key, func() {}
	case *Reader:
		switch {
		case reader == nil:
		case reader.Limit <= 0:
			return ctx, reader.Key, func() {}
		default:
			bounded, end = context.WithTimeoutCause(ctx, reader.Limit, reader.tooExpensive())
			return bounded, reader.Key, end
		}
	}
	return ctx, "", func() {}
}

// KeyOf is the key of the client for whom a context is; empty: that of the program.
func KeyOf(ctx context.Context) string {
	switch reader := ctx.Value(ReaderKey{}).(type) {
	case *QueryTimer:
		return reader.reader.Key
	case *Reader:
		if reader != nil {
			return reader.Key
		}
	}
	return ""
}

func (r *Reader) tooExpensive() error {
	return &problem.Error{Code: problem.CodeTooExpensive, Detail: r.Detail}
}

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
