// Package otlptest is a collector of OpenTelemetry for tests: it receives spans by OTLP over HTTP.
package otlptest

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Collector receives spans.
type Collector struct {
	*httptest.Server
	mutex    sync.Mutex
	spans    []*tracepb.Span
	resource map[string]string // attributes of the last one
}

// New starts a collector, and makes it the one of the environment.
func New(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unzipped
		}
		raw, err := io.ReadAll(body)
		request := &collectorpb.ExportTraceServiceRequest{}
		if err == nil {
			err = proto.Unmarshal(raw, request)
		}
		if err != nil || r.Method != "POST" || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s %s: %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
		}
		c.mutex.Lock()
		defer c.mutex.Unlock()
		for _, of := range request.ResourceSpans {
			c.resource = Attributes(of.Resource.Attributes)
			for _, scope := range of.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(c.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	return c
}

// Attributes are the texts of attributes by their names.
func Attributes(given []*commonpb.KeyValue) map[string]string {
	all := map[string]string{}
	for _, each := range given {
		switch value := each.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			all[each.Key] = value.StringValue
		case *commonpb.AnyValue_IntValue:
			all[each.Key] = fmt.Sprint(value.IntValue)
		case *commonpb.AnyValue_BoolValue:
			all[each.Key] = fmt.Sprint(value.BoolValue)
		default:
			all[each.Key] = fmt.Sprint(value)
		}
	}
	return all
}

var kindNames = map[tracepb.Span_SpanKind]string{
	tracepb.Span_SPAN_KIND_SERVER: "server", tracepb.Span_SPAN_KIND_CLIENT: "client", tracepb.Span_SPAN_KIND_PRODUCER: "producer",
	tracepb.Span_SPAN_KIND_CONSUMER: "consumer", tracepb.Span_SPAN_KIND_INTERNAL: "internal",
}

// Spans is the spans of a trace, in the order in which they began.
func (c *Collector) Spans(trace string) []*tracepb.Span {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var found []*tracepb.Span
	for _, each := range c.spans {
		if hex.EncodeToString(each.TraceId) == trace {
			found = append(found, each)
		}
	}
	slices.SortStableFunc(found, func(a, b *tracepb.Span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	return found
}

// Tree is the spans of a trace as lines, each below that which it is part of: its kind, its name, and an error. The first line is the
// parent of another program.
func (c *Collector) Tree(trace string) string {
	spans := c.Spans(trace)
	text := &strings.Builder{}
	known := map[string]bool{}
	for _, each := range spans {
		known[string(each.SpanId)] = true
	}
	var write func(parent string, depth int)
	write = func(parent string, depth int) {
		for _, each := range spans {
			if string(each.ParentSpanId) != parent {
				continue
			}
			fmt.Fprintf(text, "%s%s %s", strings.Repeat("  ", depth), kindNames[each.Kind], each.Name)
			if each.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
				fmt.Fprintf(text, ": %s", each.Status.Message)
			}
			text.WriteByte('\n')
			write(string(each.SpanId), depth+1)
		}
	}
	roots := []string{}
	for _, each := range spans {
		if parent := string(each.ParentSpanId); !known[parent] && !slices.Contains(roots, parent) {
			roots = append(roots, parent)
		}
	}
	for _, root := range roots {
		fmt.Fprintf(text, "[%x]\n", root)
		write(root, 1)
	}
	return text.String()
}

// Request is the span of the request with an id, nil if there is none.
func (c *Collector) Request(id string) *tracepb.Span {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, each := range c.spans {
		if Attributes(each.Attributes)["plural.request_id"] == id {
			return each
		}
	}
	return nil
}

// Resource is what describes the program that has sent spans last.
func (c *Collector) Resource() map[string]string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.resource
}

// Traces are the ids of all traces, sorted.
func (c *Collector) Traces() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var found []string
	for _, each := range c.spans {
		if id := hex.EncodeToString(each.TraceId); !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	return found
}
