// Package tracing is how the server tells a tracer what it does. Without a tracer, which is nil then, nothing is told, and no
// function here allocates memory. Package plural has the comments of the methods.
package tracing

import (
	"context"
	"log/slog"
	"strings"
)

// Tracer is plural.Tracer.
type Tracer interface {
	Continue(ctx context.Context, traceparent, tracestate string) context.Context
	Start(ctx context.Context, kind, name string, attributes ...slog.Attr) (context.Context, Span)
	Traceparent(ctx context.Context) string
}

// Span is plural.Span. Nil is one that is not sampled.
type Span interface {
	Rename(name string)
	Set(attributes ...slog.Attr)
	End(failed error)
}

// The kinds of spans.
const (
	Server   = "server"
	Client   = "client"
	Producer = "producer"
	Consumer = "consumer"
	Internal = "internal"
)

// A traceparent is 00-<32 digits of the trace>-<16 digits of the span>-<2 digits of flags>.
const (
	traceparentSize = 55
	traceIDStart    = 3
	traceIDEnd      = 35
)

// Sampled is the traceparent of the span of a context if that is sampled, and otherwise empty.
func Sampled(t Tracer, ctx context.Context) string {
	if t == nil || ctx.Value(quiet{}) != nil {
		return ""
	}
	if text := t.Traceparent(ctx); isSampled(text) {
		return text
	}
	return ""
}

type quiet struct{}

// Quiet returns a context whose statements are no spans, for what goes on for as long as a client likes. Without a tracer it is the same
// context.
func Quiet(t Tracer, ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, quiet{}, true)
}

// isSampled reports whether a traceparent has the flag of a sampled span, the lowest bit.
func isSampled(traceparent string) bool {
	return len(traceparent) == traceparentSize && strings.IndexByte("13579bdf", traceparent[traceparentSize-1]) >= 0
}

// ID is the id of the trace in a traceparent; empty: there is none.
func ID(traceparent string) string {
	if len(traceparent) != traceparentSize {
		return ""
	}
	return traceparent[traceIDStart:traceIDEnd]
}

// SampledID is ID of a traceparent that is sampled.
func SampledID(traceparent string) string {
	if !isSampled(traceparent) {
		return ""
	}
	return ID(traceparent)
}

// Join puts a traceparent in front of a text, with which it is stored in one column; the text alone if there is none. So what has no
// trace is stored as if there were no traces. Split takes them apart. The text must not begin with a digit.
func Join(traceparent, text string) string {
	if traceparent == "" {
		return text
	}
	return traceparent + " " + text
}

// Split takes apart what Join has put together.
func Split(stored string) (traceparent, text string) {
	if len(stored) > traceparentSize && stored[traceparentSize] == ' ' && stored[0] >= '0' && stored[0] <= '9' {
		return stored[:traceparentSize], stored[traceparentSize+1:]
	}
	return "", stored
}

// End ends a span, if there is one.
func End(s Span, failed error) {
	if s != nil {
		s.End(failed)
	}
}
