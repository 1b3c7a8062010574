package api

import (
	"context"
	"errors"
	"time"

	"github.com/plural-go/plural/problem"
)

// queryTimer cancels the queries of a request that take too long. Time spent waiting for the
// client does not count.
type queryTimer struct {
	context.Context
	limit  time.Duration
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

var errTooExpensive = errors.New("the queries of a request took too long")

// startQueryTimer returns a context for the queries of a request, with the timer running.
func (a *API) startQueryTimer(ctx context.Context) *queryTimer {
	p := &queryTimer{limit: a.QueryTimeout}
	p.Context, p.cancel = context.WithCancelCause(ctx)
	if p.limit > 0 {
		p.timer = time.AfterFunc(p.limit, func() { p.cancel(errTooExpensive) })
	}
	return p
}

// pause stops the timer, restart starts it again with the full time.
func (p *queryTimer) pause() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *queryTimer) restart() {
	if p.timer != nil {
		p.timer.Reset(p.limit)
	}
}

// end stops the timer after the last query.
func (p *queryTimer) end() {
	p.pause()
	p.cancel(nil)
}

// explain returns the error of a query, as too_expensive if the timer cancelled it.
func (p *queryTimer) explain(err error) error {
	if err == nil || !errors.Is(context.Cause(p.Context), errTooExpensive) {
		return err
	}
	return &problem.Error{Code: problem.CodeTooExpensive, Cause: err,
		Detail: "The database takes too long for this request. Ask for a smaller range, or filter and sort by indexed fields."}
}
