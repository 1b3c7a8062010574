package api

import (
	"context"
	"errors"
	"time"

	"github.com/plural-go/plural/problem"
)

// patience ends the queries of a request that take too long. The time that a client
// takes does not count.
type patience struct {
	context.Context
	limit  time.Duration
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

var errTooExpensive = errors.New("the queries of a request took too long")

// patient is a context for the queries of a request, with the time running.
func (a *API) patient(ctx context.Context) *patience {
	p := &patience{limit: a.QueryTimeout}
	p.Context, p.cancel = context.WithCancelCause(ctx)
	if p.limit > 0 {
		p.timer = time.AfterFunc(p.limit, func() { p.cancel(errTooExpensive) })
	}
	return p
}

// pause stops the time, and again has it run from the start.
func (p *patience) pause() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *patience) again() {
	if p.timer != nil {
		p.timer.Reset(p.limit)
	}
}

// end says that there are no more queries.
func (p *patience) end() {
	p.pause()
	p.cancel(nil)
}

// explain is the error of a query, which may be that it took too long.
func (p *patience) explain(err error) error {
	if err == nil || !errors.Is(context.Cause(p.Context), errTooExpensive) {
		return err
	}
	return &problem.Error{Code: problem.CodeTooExpensive, Cause: err,
		Detail: "This takes the database longer than a request may. Ask for less: a smaller range, or a filter and a sort for which there is an index."}
}
