package api

import (
	"context"
	"net/http"
	"time"

	"github.com/plural-go/plural/internal/bodies"
	"github.com/plural-go/plural/internal/limit"
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

// requestContext is a context that does not end with its client, but when the server does not wait any more, with the values of the
// request's context, the request for logs, its reader, and that context itself for clientOf. One struct, to save allocations.
type requestContext struct {
	context.Context // Config.Abandoned
	client          context.Context
	origin          observe.Origin
	reader          limit.Reader
}

func (c *requestContext) Value(key any) any {
	switch key {
	case clientContextKey{}:
		return c.client
	case observe.RequestKey{}:
		return c.origin
	case limit.ReaderKey{}:
		return &c.reader
	}
	if value := c.Context.Value(key); value != nil {
		return value
	}
	return c.client.Value(key)
}

// goneAfter is for how long a GET goes on after its client has disconnected. One that has only closed its sending side
// looks the same, and gets the response to a request that takes less.
const goneAfter = time.Second

// begin gives a request the context in which it is executed. Every read of it is one of the caller, whose key is set when the caller
// is known. A GET ends some time after its client has left, and a write does not.
func (a *API) begin(r *http.Request, out *response) *http.Request {
	out.context = requestContext{Context: a.Abandoned, client: r.Context(), origin: out.origin(), reader: limit.Reader{Limit: a.QueryTimeout, Detail: tooExpensive}}
	if !isRead(r.Method) {
		return r.WithContext(&out.context)
	}
	out.timer.Begin(&out.context, &out.context.reader, out.started)
	out.timer.EndAfter(r.Context(), goneAfter)
	return r.WithContext(&out.timer)
}

const tooExpensive = "The database takes too long for this request. Ask for a smaller range, or filter and sort by indexed fields."

// clientOf returns the context of a request, from its requestContext or one made from that.
func clientOf(ctx context.Context) context.Context {
	return ctx.Value(clientContextKey{}).(context.Context)
}

// readBody reads a body of at most some bytes.
func (a *API) readBody(r *http.Request, out *response, most int64) ([]byte, error) {
	deadline := http.NewResponseController(out.ResponseWriter)
	out.upload = a.bodies.Begin(out.context.reader.Key, func() { _ = deadline.SetReadDeadline(time.Unix(1, 0)) }) // in the past
	return bodies.Read(out, r, out.upload, most)
}
