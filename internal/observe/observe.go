// Package observe decides what becomes of the things that happen: a log line, a
// metric, or both. The rest of the program only says that they happened.
package observe

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Observer takes note of what happens.
type Observer struct {
	log      *slog.Logger
	registry *prometheus.Registry
	duration *prometheus.HistogramVec
	sent     *prometheus.CounterVec
	inFlight prometheus.Gauge
	failures *prometheus.CounterVec
	finished *prometheus.CounterVec
	denied   *prometheus.CounterVec

	mutex  sync.RWMutex
	series map[kind]series
}

// kind is what requests have in common that are counted together, of which there are
// few, and series what they are counted by.
type kind struct {
	method, route string
	status        int
}

type series struct {
	duration prometheus.Observer
	sent     prometheus.Counter
}

// New makes an observer that logs to a logger and keeps its own metrics.
func New(log *slog.Logger) *Observer {
	o := &Observer{
		log:      log,
		series:   map[kind]series{},
		registry: prometheus.NewRegistry(),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "plural_request_duration_seconds", Help: "Time from the arrival of a request to the end of its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "route", "status"}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plural_response_bytes_total", Help: "Bytes of answer bodies.",
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "plural_requests_in_flight", Help: "Requests that are being answered.",
		}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plural_failures_total", Help: "Things that went wrong and are not the client's doing, by kind.",
		}, []string{"kind"}),
		finished: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plural_operations_total", Help: "Asynchronous operations that this server has finished, by how they ended.",
		}, []string{"status"}),
		denied: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plural_denied_total", Help: "Requests that were not allowed, by the code of the refusal.",
		}, []string{"reason"}),
	}
	o.registry.MustRegister(o.duration, o.sent, o.inFlight, o.failures, o.finished, o.denied,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return o
}

// Request is one request and how it was answered.
type Request struct {
	ID       string
	Method   string
	Path     string
	Route    string // the pattern of the path, of which there are few
	Remote   string
	Caller   string // empty: nobody in particular
	Status   int
	Code     string // of the first error, if it was refused
	Bytes    int64
	Duration time.Duration
	Ended    time.Time
}

// RequestStarted notes that a request has come; Answered must follow.
func (o *Observer) RequestStarted() { o.inFlight.Inc() }

// RequestFinished notes the end of a request.
func (o *Observer) RequestFinished(r Request) {
	o.inFlight.Dec()
	counted := o.seriesOf(kind{knownMethod(r.Method), r.Route, r.Status})
	counted.duration.Observe(r.Duration.Seconds())
	counted.sent.Add(float64(r.Bytes))
	level := slog.LevelInfo
	if r.Status >= 500 {
		level = slog.LevelError
	}
	handler := o.log.Handler()
	if !handler.Enabled(context.Background(), level) {
		return
	}
	// Not by the logger, which would find out each time where in the code this is.
	line := slog.NewRecord(r.Ended, level, "request", 0)
	line.AddAttrs(
		slog.String("method", r.Method), slog.String("path", r.Path), slog.Int("status", r.Status),
		slog.Int64("bytes", r.Bytes), slog.Float64("ms", float64(r.Duration.Microseconds())/1000),
		slog.String("remote", r.Remote), slog.String("request_id", r.ID),
	)
	if r.Caller != "" {
		line.AddAttrs(slog.String("caller", r.Caller))
	}
	if r.Code != "" {
		line.AddAttrs(slog.String("code", r.Code))
	}
	_ = handler.Handle(context.Background(), line) // where would one say so?
}

// seriesOf finds what a kind of requests is counted by: to ask Prometheus each time takes
// longer than to count.
func (o *Observer) seriesOf(k kind) series {
	o.mutex.RLock()
	found, ok := o.series[k]
	o.mutex.RUnlock()
	if ok {
		return found
	}
	found = series{o.duration.WithLabelValues(k.method, k.route, strconv.Itoa(k.status)), o.sent.WithLabelValues(k.method, k.route)}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.series[k] = found
	return found
}

// knownMethod keeps clients from making up metrics.
func knownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return "other"
}

// Failed notes the reason of an answer that hides it.
func (o *Observer) Failed(requestID string, err error) {
	o.failures.WithLabelValues("internal").Inc()
	o.log.Error("request failed", "request_id", requestID, "error", err)
}

// Unavailable notes that a request could not be carried out, and may be later.
func (o *Observer) Unavailable(requestID string, err error) {
	o.failures.WithLabelValues("unavailable").Inc()
	o.log.Error("unavailable", "request_id", requestID, "error", err)
}

// Denied notes that a request was not allowed, by whom it was sent if that is known,
// and what the answer does not show.
func (o *Observer) Denied(requestID, caller, reason string, err error) {
	o.denied.WithLabelValues(reason).Inc()
	o.log.Warn("denied", "request_id", requestID, "caller", caller, "reason", reason, "error", err)
}

// NotReady notes why requests should go elsewhere.
func (o *Observer) NotReady(err error) { o.log.Warn("not ready", "error", err) }

// IssuerUnreachable notes that tokens cannot be checked.
func (o *Observer) IssuerUnreachable(err error) { o.log.Warn("tokens cannot be checked", "error", err) }

// AccessWarning notes a declaration of access that is allowed, and hardly meant.
func (o *Observer) AccessWarning(warning string) { o.log.Warn("access", "warning", warning) }

// Panicked notes a panic while a request was answered.
func (o *Observer) Panicked(requestID string, reason any, stack []byte) {
	o.failures.WithLabelValues("panic").Inc()
	o.log.Error("panic", "request_id", requestID, "reason", reason, "stack", string(stack))
}

// ResponseAborted notes an answer that ended in the middle.
func (o *Observer) ResponseAborted(requestID string, err error) {
	o.failures.WithLabelValues("broken_off").Inc()
	o.log.Warn("response aborted", "request_id", requestID, "error", err)
}

// OperationFinished notes that an operation was carried out, or refused with a code.
func (o *Observer) OperationFinished(operation, method, collection, id, code string, attempts int64) {
	status := "succeeded"
	if code != "" {
		status = "failed"
	}
	o.finished.WithLabelValues(status).Inc()
	attributes := []any{"operation", operation, "method", method, "collection", collection, "id", id, "status", status, "attempts", attempts}
	if code != "" {
		attributes = append(attributes, "code", code)
	}
	o.log.Info("operation", attributes...)
}

// OperationFailed notes that an operation could not be carried out, this time or for
// good, or what went wrong with the queue if there is no operation.
func (o *Observer) OperationFailed(operation string, err error) {
	o.failures.WithLabelValues("operation").Inc()
	o.log.Error("operation failed", "operation", operation, "error", err)
}

// MaintenanceFailed notes that what was kept long enough could not be removed, or that
// totals could not be added up. Both are tried again.
func (o *Observer) MaintenanceFailed(err error) {
	o.failures.WithLabelValues("upkeep").Inc()
	o.log.Error("upkeep failed", "error", err)
}

// Migrated notes a step of a migration that was taken.
func (o *Observer) Migrated(step, cost string) {
	o.log.Info("database migrated", "step", step, "cost", cost)
}

// HookFailed notes that a hook failed after its change was committed. The context
// is that of the request, if there is one.
func (o *Observer) HookFailed(ctx context.Context, verb, collection, id string, err error) {
	o.failures.WithLabelValues("hook").Inc()
	attributes := []any{"verb", verb, "collection", collection, "id", id, "error", err}
	if request, ok := ctx.Value(requestKey{}).(string); ok {
		attributes = append(attributes, "request_id", request)
	}
	o.log.Error("hook failed after the commit", attributes...)
}

type requestKey struct{}

// WithRequest lets whatever happens in a context be told from other requests.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// Metrics serves the metrics in the format of Prometheus.
func (o *Observer) Metrics() http.Handler {
	return promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{})
}
