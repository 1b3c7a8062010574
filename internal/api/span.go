package api

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/tracing"
)

const (
	maxTracestate = 512     // bytes; a longer one is left out, as the W3C allows
	maxSpanPath   = 1 << 10 // bytes of the path in a span
)

// isUntraced reports whether requests for the target are in no trace: there are many, and nobody looks for them.
func (t *target) isUntraced() bool {
	return t != nil && (t.isProbe() || t.system == "metrics")
}

// startSpan starts the span of a request, which continues the trace of the client. Its route is known when it ends.
func (a *API) startSpan(r *http.Request, out *response) *http.Request {
	ctx := r.Context()
	if sent := r.Header.Values("Traceparent"); len(sent) == 1 { // several are malformed
		state := strings.Join(r.Header.Values("Tracestate"), ",")
		if len(state) > maxTracestate {
			state = ""
		}
		ctx = a.Tracer.Continue(ctx, sent[0], state)
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	method, name := spanMethod(r.Method)
	ctx, out.span = a.Tracer.Start(ctx, tracing.Server, name,
		slog.String("http.request.method", method), slog.String("url.scheme", scheme), slog.String("url.path", spanPath(r)),
		slog.String("client.address", out.remote), slog.String("network.protocol.version", strconv.Itoa(r.ProtoMajor)+protocolMinor(r)))
	out.trace = a.Tracer.Traceparent(ctx)
	return r.WithContext(ctx)
}

// spanMethod is a method as spans name it: there are few.
func spanMethod(method string) (attribute, name string) {
	if observe.KnownMethod(method) == "other" {
		return "_OTHER", "HTTP"
	}
	return method, method
}

func protocolMinor(r *http.Request) string {
	if r.ProtoMajor > 1 {
		return ""
	}
	return "." + strconv.Itoa(r.ProtoMinor)
}

// spanPath is the path without the query string, which has values of resources.
func spanPath(r *http.Request) string {
	path := loggedPath(r.URL)
	if len(path) > maxSpanPath {
		return strings.ToValidUTF8(path[:maxSpanPath], "") + "…"
	}
	return strings.ToValidUTF8(path, "\uFFFD")
}

// endSpan ends the span of a request.
func (out *response) endSpan(r *observe.Request) {
	if out.span == nil {
		return
	}
	_, name := spanMethod(r.Method)
	attributes := []slog.Attr{slog.Int("http.response.status_code", r.Status), slog.Int64("http.response.body.size", r.Bytes), slog.String("plural.request_id", out.id)}
	if route := strings.TrimPrefix(r.Route, "stream "); route != "unknown" && route != "redirect" {
		name += " " + route
		attributes = append(attributes, slog.String("http.route", route), slog.Bool("plural.stream", route != r.Route))
	}
	var failed error
	if r.Code != "" {
		attributes = append(attributes, slog.String("error.type", r.Code))
	}
	if r.Status >= http.StatusInternalServerError {
		failed = errors.New(http.StatusText(r.Status)) // the log has the cause, which may have values of resources
	}
	out.span.Rename(name)
	out.span.Set(attributes...)
	out.span.End(failed)
}
