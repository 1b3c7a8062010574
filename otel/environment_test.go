package otel_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/otlptest"
	"github.com/plural-go/plural/otel"
	"github.com/plural-go/plural/schema"
)

// TestEnvironment: what is set decides whether traces are sent, and what would have no effect is refused.
func TestEnvironment(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"
	for _, c := range []struct {
		set  string // separated by spaces
		want string // on, off, or the error
	}{
		{"", "off"},
		{"OTEL_SERVICE_NAME=shop", "off"},
		{endpoint, "on"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:1/v1/traces", "on"},
		{"OTEL_TRACES_EXPORTER=otlp", "on"},
		{endpoint + " OTEL_TRACES_EXPORTER=none", "off"},
		{endpoint + " OTEL_SDK_DISABLED=true", "off"},
		{endpoint + " OTEL_SDK_DISABLED=false OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf OTEL_PROPAGATORS=tracecontext,baggage OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=0.1", "on"},
		{endpoint + " OTEL_TRACES_EXPORTER=zipkin", `OTEL_TRACES_EXPORTER is "zipkin", and must be otlp or none`},
		{endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc", `OTEL_EXPORTER_OTLP_PROTOCOL is "grpc", and must be http/protobuf`},
		{endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf", "on"},
		{endpoint + " OTEL_PROPAGATORS=b3", `OTEL_PROPAGATORS is "b3", and must be tracecontext or baggage`},
		{endpoint + " OTEL_TRACES_SAMPLER=half", `OTEL_TRACES_SAMPLER is "half", and must be always_on or always_off or traceidratio or parentbased_always_on or parentbased_always_off or parentbased_traceidratio`},
		{endpoint + " OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=2", `OTEL_TRACES_SAMPLER_ARG is "2", and must be a number from 0 to 1`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4318", `OTEL_EXPORTER_OTLP_ENDPOINT is "127.0.0.1:4318", and must be a URL such as http://127.0.0.1:4318`},
	} {
		t.Run(c.set, func(t *testing.T) {
			for _, each := range strings.Fields(c.set) {
				name, value, _ := strings.Cut(each, "=")
				t.Setenv(name, value)
			}
			traces, err := otel.FromEnvironment(t.Context(), slog.New(slog.DiscardHandler))
			got := "off"
			switch {
			case err != nil:
				got = err.Error()
			case traces.Tracer() != nil:
				got = "on"
			}
			if got != c.want || otel.IsConfigured() == (got == "off") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if err := traces.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSampler: a client that is not trusted does not decide if the sampler has no parent.
func TestSampler(t *testing.T) {
	c := otlptest.New(t)
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	n := newNode(t, plural.Config{Database: "sqlite:" + t.TempDir() + "/plural.db"})
	id, header := traceOf(0)
	n.do("GET", "/users", "", header)
	n.stop()
	if found := c.Spans(id); len(found) > 0 {
		t.Error(c.Tree(id))
	}
}

// TestCollectorThatHangs: requests and the stop of a server do not wait for a collector that accepts connections and never answers, or
// that does not exist, also when there are more spans than are kept.
func TestCollectorThatHangs(t *testing.T) {
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts; nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer hanging.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, addr := range map[string]string{"hangs": hanging.Addr().String(), "is not there": closed.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+addr)
			t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
			t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
			t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
			log := &safeBuffer{}
			traces, err := otel.FromEnvironment(t.Context(), slog.New(slog.NewTextHandler(log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			server, err := plural.Open(t.Context(), plural.Config{Schema: schema.Example(), Database: "sqlite:" + t.TempDir() + "/plural.db", Logger: slog.New(slog.DiscardHandler), Tracer: traces.Tracer()})
			if err != nil {
				t.Fatal(err)
			}
			n := &node{Server: server, t: t}
			for i := range 200 {
				if w := n.do("POST", "/users", fmt.Sprintf(`{"name":"User","email":"%d@example.com"}`, i)); w.Code != http.StatusCreated {
					t.Fatal(w.Body)
				}
			}
			if err := server.Stop(context.Background()); err != nil {
				t.Error(err)
			}
			ended := traces.Stop(context.Background()) // returns, although nobody has answered by then
			if lost := strings.Count(log.String(), "traces cannot be sent"); ended == nil && lost != 1 || lost > 1 {
				t.Errorf("stopped with %v, and the log has\n%s", ended, log)
			}
		})
	}
}

// TestExemplars: OpenMetrics has the trace of a sampled request in the histogram of durations, and the format of Prometheus is as it was.
func TestExemplars(t *testing.T) {
	otlptest.New(t)
	n := newNode(t, plural.Config{Database: "sqlite:" + t.TempDir() + "/plural.db"})
	id, header := traceOf(0)
	n.do("GET", "/users", "", header)
	n.do("GET", "/posts", "", strings.Replace(header, "-01", "-00", 1))
	open := n.do("GET", "/-/metrics", "", "Accept: application/openmetrics-text;version=1.0.0").Body.String()
	exemplars := regexp.MustCompile(`(?m)^plural_request_duration_seconds_bucket\{.*route="(.*?)".*\} 1 # \{trace_id="(.*?)"\}`).FindAllStringSubmatch(open, -1)
	if len(exemplars) != 1 || exemplars[0][1] != "/users" || exemplars[0][2] != id || !strings.HasSuffix(open, "# EOF\n") {
		t.Errorf("the exemplars are %v in\n%s", exemplars, open)
	}
	if text := n.do("GET", "/-/metrics", "").Body.String(); strings.Contains(text, "trace_id") || !strings.Contains(text, `plural_request_duration_seconds_count{method="GET",route="/users",status="200"} 1`) {
		t.Errorf("the metrics are\n%s", text)
	}
}

// TestLogsOfFailures: the reason of a failure and the failure of a hook name the trace as the line of the request does, and so does
// the line of an operation.
func TestLogsOfFailures(t *testing.T) {
	c := otlptest.New(t)
	done, attempts := make(chan bool), 0
	n := newNode(t, plural.Config{Database: "sqlite:" + t.TempDir() + "/plural.db", Hooks: []plural.Hook{{
		Collection: "users",
		Before: func(_ context.Context, change *plural.Change) error {
			if change.After.Get("name") != "Later" {
				return nil
			}
			if attempts++; attempts == 1 {
				return fmt.Errorf("not yet")
			}
			return nil
		},
		Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
			if change.After.Get("name") == "Bad" {
				return fmt.Errorf("the disk is full")
			}
			return nil
		},
		After: func(_ context.Context, change *plural.Change) {
			if change.After.Get("name") == "Later" {
				close(done)
				return
			}
			panic("boom")
		},
	}}})
	bad, header := traceOf(0)
	if w := n.do("POST", "/users", `{"name":"Bad","email":"a@example.com"}`, header); w.Code != http.StatusInternalServerError {
		t.Error(w.Body)
	}
	panics, header := traceOf(1)
	n.do("POST", "/users", newAda, header)
	later, header := traceOf(2)
	n.do("POST", "/users", `{"name":"Later","email":"later@example.com"}`, header, "Prefer: respond-async")
	<-done
	n.stop()
	for _, want := range []string{
		`level=ERROR msg="request failed" request_id=\w+ trace_id=` + bad + ` error=".*the disk is full`,
		`level=ERROR msg=request method=POST path=/users status=500 .* trace_id=` + bad + ` code=internal`,
		`level=ERROR msg="hook failed after the commit" .* trace_id=` + panics + `\n`,
		`level=ERROR msg="operation failed" operation=.* error=.*not yet.* trace_id=` + later + `\n`,
		`msg=operation operation=.* status=succeeded attempts=2 trace_id=` + later + `\n`,
	} {
		if !regexp.MustCompile(want).MatchString(n.log.String()) {
			t.Errorf("the log has no %s:\n%s", want, n.log)
		}
	}
	expect(t, "the trace of the failure", c.Tree(bad), `[`+parentSpan+`]
  server POST /users: Internal Server Error
    internal hook before create users
    internal hook within create users: internal: The server failed to answer this request. The log has the reason under this request id. (the disk is full)`)
	if got := hex.EncodeToString(c.Spans(panics)[0].ParentSpanId); got != parentSpan {
		t.Error(got)
	}
}
