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

// Start starts a span.
func (t *tracer) Start(ctx context.Context, kind, name string, attributes ...slog.Attr) (context.Context, plural.Span) {
	ctx, started := t.tracer.Start(ctx, name, trace.WithSpanKind(kinds[kind]), trace.WithAttributes(converted(attributes)...))
	if !started.SpanContext().IsSampled() {
		return ctx, nil
	}
	return ctx, span{started}
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
type span struct{ span trace.Span }

func (s span) Rename(name string) { s.span.SetName(name) }

func (s span) Set(attributes ...slog.Attr) { s.span.SetAttributes(converted(attributes)...) }

// maxText bounds the texts of attributes and errors.
const maxText = 4 << 10

func (s span) End(failed error) {
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
