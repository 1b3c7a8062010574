package otel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/plural-go/plural"
)

// Traces are traces that are sent to a collector as the environment says. Nil: none are.
type Traces struct{ provider *sdk.TracerProvider }

// IsConfigured reports whether the environment asks for traces: it has OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, or OTEL_TRACES_EXPORTER is otlp, and OTEL_SDK_DISABLED is not true.
func IsConfigured() bool {
	switch exporter := os.Getenv("OTEL_TRACES_EXPORTER"); {
	case strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || exporter == "none":
		return false
	case exporter != "":
		return true
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// FromEnvironment returns traces that are sent by OTLP over HTTP, as the standard environment variables of OpenTelemetry say, or nil if
// IsConfigured is false. The name of the service is plural, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES give another. The
// log has one line when sending fails, and one when it succeeds again.
func FromEnvironment(ctx context.Context, log *slog.Logger) (*Traces, error) {
	if !IsConfigured() {
		return nil, nil
	}
	if err := checkEnvironment(); err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_…: %w", err)
	}
	// The later ones win.
	described, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "plural")), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return &Traces{sdk.NewTracerProvider(sdk.WithBatcher(&reporting{SpanExporter: exporter, log: log}), sdk.WithResource(described))}, nil
}

// Tracer is for plural.Config; nil if there are no traces.
func (t *Traces) Tracer() plural.Tracer {
	if t == nil {
		return nil
	}
	return New(t.provider)
}

// stopWithin is how long Stop waits for a collector.
const stopWithin = 3 * time.Second

// Stop sends the spans that were not sent yet, for 3 s at most. Call it after Server.Stop.
func (t *Traces) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// checkEnvironment refuses settings that would have no effect.
func checkEnvironment() error {
	var problems []error
	oneOf := func(name, given string, supported ...string) {
		for _, each := range supported {
			if given == each {
				return
			}
		}
		problems = append(problems, fmt.Errorf("%s is %q, and must be %s", name, given, strings.Join(supported, " or ")))
	}
	oneOf("OTEL_TRACES_EXPORTER", cmp.Or(os.Getenv("OTEL_TRACES_EXPORTER"), "otlp"), "otlp", "none")
	name := "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	if os.Getenv(name) == "" {
		name = "OTEL_EXPORTER_OTLP_PROTOCOL"
	}
	oneOf(name, cmp.Or(os.Getenv(name), "http/protobuf"), "http/protobuf")
	for _, each := range strings.Split(cmp.Or(os.Getenv("OTEL_PROPAGATORS"), "tracecontext"), ",") {
		oneOf("OTEL_PROPAGATORS", strings.TrimSpace(each), "tracecontext", "baggage")
	}
	oneOf("OTEL_TRACES_SAMPLER", cmp.Or(os.Getenv("OTEL_TRACES_SAMPLER"), "always_on"),
		"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio")
	if text := os.Getenv("OTEL_TRACES_SAMPLER_ARG"); text != "" {
		if ratio, err := strconv.ParseFloat(text, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			problems = append(problems, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %q, and must be a number from 0 to 1", text))
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		text := os.Getenv(name)
		if parsed, err := url.Parse(text); text != "" && (err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https") {
			problems = append(problems, fmt.Errorf("%s is %q, and must be a URL such as http://127.0.0.1:4318", name, text))
		}
	}
	return errors.Join(problems...)
}

// reporting logs when spans cannot be sent. The SDK would write each error to stderr.
type reporting struct {
	sdk.SpanExporter
	log *slog.Logger

	mutex sync.Mutex
	lost  int // spans since sending began to fail; zero: it does not fail
}

// ExportSpans reports an error once. There is nobody to return it to.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case err != nil:
		if r.lost == 0 {
			r.log.Warn("traces cannot be sent: they are lost until the collector answers", "error", err)
		}
		r.lost += len(spans)
	case r.lost > 0:
		r.log.Info("traces are sent again", "lost_spans", r.lost)
		r.lost = 0
	}
	return nil
}
