// Package observe writes the log lines and counts the metrics of a server. Other packages call its
// methods, such as Failed, and decide neither the wording nor the names of metrics.
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

// Observer logs and counts events.
type Observer struct {
	log      *slog.Logger
	registry *prometheus.Registry
	duration *prometheus.HistogramVec
	sent     *prometheus.CounterVec
	inFlight prometheus.Gauge
	failures *prometheus.CounterVec
	finished *prometheus.CounterVec
	denied   *prometheus.CounterVec
	versions *prometheus.CounterVec
	streams  streams

	mutex  sync.RWMutex
	series map[kind]series
}

// kind is a group of requests that are counted together, and series their metrics. There are few kinds.
type kind struct {
	method, route string
	status        int
}

type series struct {
	duration prometheus.Observer
	sent     prometheus.Counter
}

// New returns an Observer that writes to a logger and has its own metrics.
func New(log *slog.Logger) *Observer {
	o := &Observer{
		log:      log,
		series:   map[kind]series{},
		registry: prometheus.NewRegistry(),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "plural_request_duration_seconds", Help: "Time from the arrival of a request to the end of its response.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "route", "status"}),
		sent:     counters("plural_response_bytes_total", "Bytes of response bodies.", "method", "route"),
		inFlight: gauge("plural_requests_in_flight", "Requests being handled."),
		failures: counters("plural_failures_total", "Failures that the client did not cause, by kind.", "kind"),
		finished: counters("plural_operations_total", "Asynchronous operations finished by this server, by result.", "status"),
		denied:   counters("plural_denied_total", "Requests that were denied, by error code.", "reason"),
		versions: counters("plural_version_requests_total", "Requests by the version of the interface that they used.", "version"),
	}
	o.registry.MustRegister(o.duration, o.sent, o.inFlight, o.failures, o.finished, o.denied, o.versions,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o.streams = newStreams(o.registry)
	return o
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Origin is the request that a log line is about.
type Origin struct {
	Request string // its X-Request-Id
	Trace   string // id of its trace; empty: it is in none
}

// attributes are those of a log line, with more.
func (r Origin) attributes(more ...any) []any {
	attributes := []any{"request_id", r.Request}
	if r.Trace != "" {
		attributes = append(attributes, "trace_id", r.Trace)
	}
	return append(attributes, more...)
}

// Request is one request and its response.
type Request struct {
	Origin
	Method   string
	Path     string
	Route    string // pattern of the path; few values
	Remote   string
	Caller   string // empty: anonymous
	Status   int
	Code     string // of the first error, if it was refused
	Bytes    int64
	Duration time.Duration
	Ended    time.Time
	Sampled  bool // its trace is sampled
}

// RequestStarted counts a request; RequestFinished must follow.
func (o *Observer) RequestStarted() { o.inFlight.Inc() }

// RequestFinished logs and counts a request.
func (o *Observer) RequestFinished(r Request) {
	o.inFlight.Dec()
	counted := o.seriesOf(kind{KnownMethod(r.Method), r.Route, r.Status})
	if r.Sampled {
		counted.duration.(prometheus.ExemplarObserver).ObserveWithExemplar(r.Duration.Seconds(), prometheus.Labels{"trace_id": r.Trace})
	} else {
		counted.duration.Observe(r.Duration.Seconds())
	}
	counted.sent.Add(float64(r.Bytes))
	level := slog.LevelInfo
	if r.Status >= 500 {
		level = slog.LevelError
	}
	handler := o.log.Handler()
	if !handler.Enabled(context.Background(), level) {
		return
	}
	// Not by the logger, which would look up the source line each time.
	line := slog.NewRecord(r.Ended, level, "request", 0)
	line.AddAttrs(
		slog.String("method", r.Method), slog.String("path", r.Path), slog.Int("status", r.Status),
		slog.Int64("bytes", r.Bytes), slog.Float64("ms", float64(r.Duration.Microseconds())/1000),
		slog.String("remote", r.Remote), slog.String("request_id", r.Origin.Request),
	)
	if r.Trace != "" {
		line.AddAttrs(slog.String("trace_id", r.Trace))
	}
	if r.Caller != "" {
		line.AddAttrs(slog.String("caller", r.Caller))
	}
	if r.Code != "" {
		line.AddAttrs(slog.String("code", r.Code))
	}
	_ = handler.Handle(context.Background(), line) // there is no place to report it
}

// seriesOf remembers the metrics of a kind: to look them up takes longer than to count.
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

// KnownMethod is a method, or "other". It keeps clients from creating metrics.
func KnownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "QUERY", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return "other"
}

// SlowList is a piece of a list, or a relation that it includes, for which the database took long, described without values of
// the request.
type SlowList struct {
	Origin     Origin
	Collection string // of the resources
	List       string // the collection that is listed
	Relation   string // of the list; empty: it is the list itself
	Piece      int    // of the response, from 1 on
	Filter     string // its conditions, separated by commas
	Sort       string // the same of its sort keys
	SQL, Plan  string
	Duration   time.Duration
}

// SlowList logs a slow list. plural doctor --slow reads these lines.
func (o *Observer) SlowList(s SlowList) {
	o.log.Warn("slow list", append([]any{"collection", s.Collection, "list", s.List, "relation", s.Relation, "piece", s.Piece, "filter", s.Filter, "sort", s.Sort, "ms", float64(s.Duration.Microseconds()) / 1000,
		"sql", s.SQL, "plan", s.Plan}, s.Origin.attributes()...)...)
}

// failure counts and logs a failure that the client did not cause.
func (o *Observer) failure(level slog.Level, kind, message string, attributes ...any) {
	o.failures.WithLabelValues(kind).Inc()
	o.log.Log(context.Background(), level, message, attributes...)
}

// Failed logs the reason of a 500, which the response hides.
func (o *Observer) Failed(origin Origin, err error) {
	o.failure(slog.LevelError, "internal", "request failed", origin.attributes("error", err)...)
}

// Unavailable logs that a request could not be executed, and may succeed later.
func (o *Observer) Unavailable(origin Origin, err error) {
	o.failure(slog.LevelError, "unavailable", "unavailable", origin.attributes("error", err)...)
}

// Denied logs a denied request, with its caller if known, and the reason that the response
// hides.
func (o *Observer) Denied(origin Origin, caller, reason string, err error) {
	o.denied.WithLabelValues(reason).Inc()
	o.log.Warn("denied", origin.attributes("caller", caller, "reason", reason, "error", err)...)
}

// KeyCreated logs that a caller has created an API key.
func (o *Observer) KeyCreated(origin Origin, caller, prefix, role string) {
	o.log.Info("API key created", origin.attributes("caller", caller, "prefix", prefix, "role", role)...)
}

// KeyRevoked logs that a caller has revoked an API key.
func (o *Observer) KeyRevoked(origin Origin, caller, prefix, role string) {
	o.log.Info("API key revoked", origin.attributes("caller", caller, "prefix", prefix, "role", role)...)
}

// VersionCounter returns the function that counts a request of a version of the interface.
func (o *Observer) VersionCounter(version int) func() {
	return o.versions.WithLabelValues(strconv.Itoa(version)).Inc
}

// NotReady logs why the server is not ready.
func (o *Observer) NotReady(err error) { o.log.Warn("not ready", "error", err) }

// IssuerUnreachable logs that tokens cannot be checked.
func (o *Observer) IssuerUnreachable(err error) { o.log.Warn("tokens cannot be checked", "error", err) }

// SchemaWarning logs a declaration of the schema that is valid but probably a mistake.
func (o *Observer) SchemaWarning(warning string) { o.log.Warn("schema", "warning", warning) }

// AccessWarning logs a declaration of access that is valid but probably a mistake.
func (o *Observer) AccessWarning(warning string) { o.log.Warn("access", "warning", warning) }

// Panicked logs a panic of a request handler.
func (o *Observer) Panicked(origin Origin, reason any, stack []byte) {
	o.failure(slog.LevelError, "panic", "panic", origin.attributes("reason", reason, "stack", string(stack))...)
}

// ResponseAborted logs a response that ended before it was complete.
func (o *Observer) ResponseAborted(origin Origin, err error) {
	o.failure(slog.LevelWarn, "broken_off", "response aborted", origin.attributes("error", err)...)
}

// OperationFinished logs an operation that was executed, or refused with a code. Trace is the id of the trace that it continues, or
// empty.
func (o *Observer) OperationFinished(operation, method, collection, id, code string, attempts int64, trace string) {
	status := "succeeded"
	if code != "" {
		status = "failed"
	}
	o.finished.WithLabelValues(status).Inc()
	attributes := []any{"operation", operation, "method", method, "collection", collection, "id", id, "status", status, "attempts", attempts}
	if code != "" {
		attributes = append(attributes, "code", code)
	}
	if trace != "" {
		attributes = append(attributes, "trace_id", trace)
	}
	o.log.Info("operation", attributes...)
}

// OperationFailed logs a failed attempt of an operation, or a failure of the queue if there is
// no operation. Trace is as in OperationFinished.
func (o *Observer) OperationFailed(operation string, err error, trace string) {
	attributes := []any{"operation", operation, "error", err}
	if trace != "" {
		attributes = append(attributes, "trace_id", trace)
	}
	o.failure(slog.LevelError, "operation", "operation failed", attributes...)
}

// MaintenanceFailed logs that old rows could not be removed, or deltas not be merged. Both are
// retried.
func (o *Observer) MaintenanceFailed(err error) {
	o.failure(slog.LevelError, "upkeep", "maintenance failed", "error", err)
}

// Migrated logs a step of a migration.
func (o *Observer) Migrated(step, cost string) {
	o.log.Info("database migrated", "step", step, "cost", cost)
}

// Expanded logs that the contraction of a migration is left.
func (o *Observer) Expanded() {
	o.log.Info("the database is expanded for this schema: when no server with the old one is running, \"plural migrate --contract\" makes the rest of the migration")
}

// HookFailed logs a hook that failed after the commit, with the request of the context, if
// there is one.
func (o *Observer) HookFailed(ctx context.Context, verb, collection, id string, err error) {
	attributes := []any{"verb", verb, "collection", collection, "id", id, "error", err}
	if origin, ok := ctx.Value(RequestKey{}).(Origin); ok {
		attributes = append(attributes, origin.attributes()...)
	}
	o.failure(slog.LevelError, "hook", "hook failed after the commit", attributes...)
}

// RequestKey is the key of the Origin in a context.
type RequestKey struct{}

// WithRequest returns a context with the request, for logs.
func WithRequest(ctx context.Context, origin Origin) context.Context {
	return context.WithValue(ctx, RequestKey{}, origin)
}

// Metrics serves the metrics in the format of Prometheus, or to clients that accept it as OpenMetrics, which has exemplars: the ids of
// traces.
func (o *Observer) Metrics() http.Handler {
	return promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}
