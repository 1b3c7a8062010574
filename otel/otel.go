// Package otel sends the traces of a server with OpenTelemetry. A program that does not import it has no code of OpenTelemetry.
//
//	traces, err := otel.FromEnvironment(ctx, logger)        // by OTEL_EXPORTER_OTLP_ENDPOINT and the like
//	server, err := plural.Open(ctx, plural.Config{Tracer: traces.Tracer()})
//
// A program that has a TracerProvider already uses New with it. What a hook does with its context continues the trace.
package otel

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/plural-go/plural"
)

const scope = "github.com/plural-go/plural"

// New returns a tracer that gives the spans to a provider. The context of other programs is that of the W3C.
func New(provider trace.TracerProvider) plural.Tracer {
	return &tracer{provider.Tracer(scope)}
}

type tracer struct{ tracer trace.Tracer }

var kinds = map[string]trace.SpanKind{
	"server": trace.SpanKindServer, "client": trace.SpanKindClient, "producer": trace.SpanKindProducer,
	"consumer": trace.SpanKindConsumer, "internal": trace.SpanKindInternal,
}

// Continue returns a context with a remote parent. A malformed tracestate is left out.
func (t *tracer) Continue(ctx context.Context, traceparent, tracestate string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent, "tracestate": tracestate})
}

// maxSpans is how many spans there are within one that begins here, such as a request: a client could fill the queue of spans that are
// sent with those of one write of a thousand resources.
const maxSpans = 500

type countKey struct{}

// Start starts a span. The context of the first one counts those within it.
func (t *tracer) Start(ctx context.Context, kind, name string, attributes ...slog.Attr) (context.Context, plural.Span) {
	within, _ := ctx.Value(countKey{}).(*atomic.Int64)
	if within != nil && within.Add(1) > maxSpans {
		return ctx, nil
	}
	ctx, started := t.tracer.Start(ctx, name, trace.WithSpanKind(kinds[kind]), trace.WithAttributes(converted(attributes)...))
	switch {
	case !started.SpanContext().IsSampled():
		return ctx, nil
	case within != nil:
		return ctx, span{started, nil}
	}
	within = new(atomic.Int64)
	return context.WithValue(ctx, countKey{}, within), span{started, within}
}

// Traceparent describes the span of a context.
func (t *tracer) Traceparent(ctx context.Context) string {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return ""
	}
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + (c.TraceFlags() & trace.FlagsSampled).String()
}

// span is a span that is sampled.
type span struct {
	span   trace.Span
	within *atomic.Int64 // spans within this one; nil: it is within another one
}

func (s span) Rename(name string) { s.span.SetName(name) }

func (s span) Set(attributes ...slog.Attr) { s.span.SetAttributes(converted(attributes)...) }

// maxText bounds the texts of attributes and errors.
const maxText = 4 << 10

func (s span) End(failed error) {
	if s.within != nil {
		if left := s.within.Load() - maxSpans; left > 0 {
			s.span.SetAttributes(attribute.Int64("plural.spans_left_out", left))
		}
	}
	if failed != nil {
		s.span.SetStatus(codes.Error, bounded(failed.Error(), 256))
	}
	s.span.End()
}

func converted(attributes []slog.Attr) []attribute.KeyValue {
	all := make([]attribute.KeyValue, len(attributes))
	for i, each := range attributes {
		key := attribute.Key(each.Key)
		switch each.Value.Kind() {
		case slog.KindInt64:
			all[i] = key.Int64(each.Value.Int64())
		case slog.KindBool:
			all[i] = key.Bool(each.Value.Bool())
		case slog.KindFloat64:
			all[i] = key.Float64(each.Value.Float64())
		default:
			all[i] = key.String(bounded(each.Value.String(), maxText))
		}
	}
	return all
}

func bounded(text string, most int) string {
	if len(text) > most {
		for !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
