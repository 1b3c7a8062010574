package api

import "context"

// untilStop returns a context that also ends when the server stops.
func (a *API) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(a.stopped, func() { cancel(errStopping) })
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

// detached returns a context that does not end with its request. clientOf returns the context
// of the request.
func detached(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), clientContextKey{}, ctx)
}

func clientOf(ctx context.Context) context.Context {
	return ctx.Value(clientContextKey{}).(context.Context)
}
