package api

import (
	"context"

	"github.com/plural-go/plural/internal/observe"
)

// untilStop returns a context that also ends when the server stops.
func (a *API) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(a.Stopping, func() { cancel(errStopping) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// untilDisconnectedOrStopped returns a context that ends when the client disconnects or the server stops.
func (a *API) untilDisconnectedOrStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	waiting, cancel := a.untilStop(ctx)
	stop := context.AfterFunc(clientOf(ctx), cancel)
	return waiting, func() {
		stop()
		cancel()
	}
}

type clientContextKey struct{}

// requestContext is a context that does not end with its request, with the values of the request's context, its
// id, and that context itself for clientOf. It is one value, as every request makes it.
type requestContext struct {
	context.Context
	client context.Context
	id     string
}

func (c *requestContext) Value(key any) any {
	switch key {
	case clientContextKey{}:
		return c.client
	case observe.RequestKey{}:
		return c.id
	}
	return c.Context.Value(key)
}

// clientOf returns the context of a request, from its requestContext or one made from that.
func clientOf(ctx context.Context) context.Context {
	return ctx.Value(clientContextKey{}).(context.Context)
}
