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
			timer := NewQueryTimer(ctx, reader)
			return timer, reader.Key, timer.End
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
