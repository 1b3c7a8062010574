package plural

import (
	"context"
	"log/slog"

	"github.com/plural-go/plural/internal/tracing"
)

// Tracer records what a server does, as spans of traces: requests, operations, statements, waits for commits, hooks,
// and changes that it sends to streams. Package otel implements it with OpenTelemetry. It is used by many goroutines at once,
// and must not make them wait for where the spans are sent.
type Tracer interface {
	// Continue returns a context that continues the trace of another program, as the headers traceparent and tracestate of the
	// W3C describe it. If they are absent or malformed, it returns the context as it is.
	Continue(ctx context.Context, traceparent, tracestate string) context.Context

	// Start starts a span within that of the context, and returns the context of the span. The kind is server, client,
	// producer, consumer or internal. The span is nil if it is not sampled: then it needs no end, but its context has a trace
	// nevertheless.
	Start(ctx context.Context, kind, name string, attributes ...slog.Attr) (context.Context, Span)

	// Traceparent describes the span of a context as the header traceparent does. It is empty if there is none. A span that is
	// not sampled has one too, which says so.
	Traceparent(ctx context.Context) string
}

// Span is a part of a trace. Its methods are called by one goroutine at a time.
type Span interface {
	// Rename changes the name.
	Rename(name string)
	// Set adds attributes.
	Set(attributes ...slog.Attr)
	// End ends the span, which has failed if there is an error.
	End(failed error)
}

// innerTracer is the tracer of a configuration as the packages of the server have it; nil if there is none.
func (c *Config) innerTracer() tracing.Tracer {
	if c.Tracer == nil {
		return nil
	}
	return outerTracer{c.Tracer}
}

type outerTracer struct{ Tracer }

func (t outerTracer) Start(ctx context.Context, kind, name string, attributes ...slog.Attr) (context.Context, tracing.Span) {
	ctx, span := t.Tracer.Start(ctx, kind, name, attributes...)
	return ctx, span
}
