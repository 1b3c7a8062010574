package limit

import (
	"context"
	"errors"
	"time"

	"github.com/plural-go/plural/problem"
)

// QueryTimer is a context for the queries of a client that ends when they take too long. Time spent
// waiting for the client does not count.
type QueryTimer struct {
	context.Context
	limit  time.Duration
	detail string
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

var errTooExpensive = errors.New("the queries took too long")

// NewQueryTimer returns a context with the timer running; a limit of zero is none. Detail is what
// the client is told when the time is over.
func NewQueryTimer(ctx context.Context, limit time.Duration, detail string) *QueryTimer {
	t := &QueryTimer{limit: limit, detail: detail}
	t.Context, t.cancel = context.WithCancelCause(ctx)
	if limit > 0 {
		t.timer = time.AfterFunc(limit, func() { t.cancel(errTooExpensive) })
	}
	return t
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
		t.timer.Reset(t.limit)
	}
}

// End stops the timer after the last query, and ends the context.
func (t *QueryTimer) End() {
	t.Pause()
	t.cancel(nil)
}

// Explain returns the error of a query, as too_expensive if the timer cancelled it.
func (t *QueryTimer) Explain(err error) error {
	if err == nil || !errors.Is(context.Cause(t.Context), errTooExpensive) {
		return err
	}
	return &problem.Error{Code: problem.CodeTooExpensive, Cause: err, Detail: t.detail}
}
