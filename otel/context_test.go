package otel_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/otlptest"
	"github.com/plural-go/plural/internal/pgtest"
)

// TestContextOfClients sends what clients may send as the context of a trace.
func TestContextOfClients(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	full := make([]string, 32)
	for i := range full {
		full[i] = fmt.Sprintf("k%02d=v", i)
	}
	long := "k=" + strings.Repeat("v", 256) + ",l=" + strings.Repeat("v", 251)
	cases := []struct {
		name    string
		headers []string
		want    string // parent and state, or none
	}{
		{"absent", nil, "a new trace"},
		{"sampled", []string{"traceparent: 00-" + trace + "-" + span + "-01"}, "continued, state "},
		{"not sampled", []string{"traceparent: 00-" + trace + "-" + span + "-00"}, "no span"},
		{"sampled at random", []string{"traceparent: 00-" + trace + "-" + span + "-03"}, "continued, state "},
		{"later version", []string{"traceparent: cc-" + trace + "-" + span + "-01-what"}, "continued, state "},
		{"invalid version", []string{"traceparent: ff-" + trace + "-" + span + "-01"}, "a new trace"},
		{"too long", []string{"traceparent: 00-" + trace + "-" + span + "-01-what"}, "a new trace"},
		{"too short", []string{"traceparent: 00-" + trace[1:] + "-" + span + "-01"}, "a new trace"},
		{"zero trace", []string{"traceparent: 00-" + strings.Repeat("0", 32) + "-" + span + "-01"}, "a new trace"},
		{"zero span", []string{"traceparent: 00-" + trace + "-" + strings.Repeat("0", 16) + "-01"}, "a new trace"},
		{"upper case", []string{"traceparent: 00-" + strings.ToUpper(trace) + "-" + span + "-01"}, "a new trace"},
		{"no hexadecimal", []string{"traceparent: 00-" + strings.Repeat("g", 32) + "-" + span + "-01"}, "a new trace"},
		{"empty", []string{"traceparent: "}, "a new trace"},
		{"huge", []string{"traceparent: " + strings.Repeat("00-", 20_000)}, "a new trace"},
		{"twice", []string{"traceparent: 00-" + trace + "-" + span + "-01", "traceparent: 00-" + trace + "-" + span + "-01"}, "a new trace"},
		{"state", []string{"traceparent: 00-" + trace + "-" + span + "-01", "tracestate: a=1,b@c=2"}, "continued, state a=1,b@c=2"},
		{"state in two headers", []string{"traceparent: 00-" + trace + "-" + span + "-01", "tracestate: a=1", "tracestate: b=2"}, "continued, state a=1,b=2"},
		{"32 members", []string{"traceparent: 00-" + trace + "-" + span + "-01", "tracestate: " + strings.Join(full, ",")}, "continued, state " + strings.Join(full, ",")},
		{"33 members", []string{"traceparent: 00-" + trace + "-" + span + "-01", "tracestate: " + strings.Join(full, ",") + ",z=1"}, "continued, state "},
		{"512 bytes", []string{"traceparent: 00-" + trace + "-" + span + "-01", "tracestate: " + long}, "continued, state " + long},
		{"513 bytes", []string{"traceparent: 00-" + trace + "-" + span + "-01", "tracestate: " + long + "v"}, "continued, state "},
		{"malformed state", []string{"traceparent: 00-" + trace + "-" + span + "-01", "tracestate: a=1,=,b"}, "continued, state "},
		{"state alone", []string{"tracestate: a=1"}, "a new trace"},
	}
	if len(long) != 512 {
		t.Fatal(len(long))
	}
	c := otlptest.New(t)
	n := newNode(t, plural.Config{Database: "sqlite:" + t.TempDir() + "/plural.db"})
	for i, each := range cases {
		if w := n.do("GET", "/users", "", append(each.headers, fmt.Sprintf("X-Request-Id: r%d", i))...); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", each.name, w.Code, w.Body)
		}
	}
	n.stop()
	for i, each := range cases {
		found, got := c.Request(fmt.Sprintf("r%d", i)), "no span"
		if found != nil {
			got = "a new trace"
			if len(found.ParentSpanId) > 0 {
				got = "continued, state " + found.TraceState
			}
			if continued := hex.EncodeToString(found.TraceId) == trace; continued != (len(found.ParentSpanId) > 0) || continued && hex.EncodeToString(found.ParentSpanId) != span {
				t.Errorf("%s: trace %x, parent %x", each.name, found.TraceId, found.ParentSpanId)
			}
		}
		if got != each.want {
			t.Errorf("%s:\ngot  %s\nwant %s", each.name, got, each.want)
		}
		// The log names the trace, sampled or not.
		line := regexp.MustCompile(fmt.Sprintf(`msg=request .* request_id=r%d trace_id=([0-9a-f]{32})\n`, i)).FindStringSubmatch(n.log.String())
		want := trace
		if found != nil {
			want = hex.EncodeToString(found.TraceId)
		}
		if line == nil || line[1] != want {
			t.Errorf("%s: the log has %v, want the trace %s", each.name, line, want)
		}
	}
}

// TestAttributes compares all attributes of a request and of its statement: none has a value of a resource.
func TestAttributes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, kind, url string) {
		c := otlptest.New(t)
		t.Setenv("OTEL_SERVICE_NAME", "shop")
		t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
		n := newNode(t, plural.Config{Database: url})
		id, header := traceOf(0)
		n.do("GET", "/users/"+ada+"?fields=name", "", header, "X-Request-Id: r1")
		n.stop()
		spans := c.Spans(id)
		if len(spans) != 2 {
			t.Fatal(c.Tree(id))
		}
		got := [2]map[string]string{otlptest.Attributes(spans[0].Attributes), otlptest.Attributes(spans[1].Attributes)}
		text := got[1]["db.query.text"]
		if !strings.HasPrefix(text, "SELECT ") || strings.Contains(text, ada) {
			t.Errorf("the statement is %s", text)
		}
		system := map[string]string{"sqlite": "sqlite", "postgres": "postgresql"}[kind]
		want := [2]map[string]string{{
			"http.request.method": "GET", "url.scheme": "http", "url.path": "/users/" + ada, "client.address": "192.0.2.1", "network.protocol.version": "1.1",
			"http.response.status_code": "404", "http.response.body.size": got[0]["http.response.body.size"], "http.route": "/users/{id}", "plural.request_id": "r1",
			"plural.stream": "false", "error.type": "not_found",
		}, {
			"db.system.name": system, "db.operation.name": "SELECT", "db.query.summary": "SELECT users", "db.collection.name": "users", "db.query.text": text,
		}}
		for i := range want {
			if !maps.Equal(got[i], want[i]) {
				t.Errorf("got  %v\nwant %v", got[i], want[i])
			}
		}
		if c.Resource()["service.name"] != "shop" || c.Resource()["deployment.environment.name"] != "test" || c.Resource()["telemetry.sdk.name"] != "opentelemetry" {
			t.Errorf("the resource is %v", c.Resource())
		}
	})
}

// TestLibraryCall: a typed call of a program is in the trace of its context.
func TestLibraryCall(t *testing.T) {
	type User struct {
		_     struct{} `plural:"name=users"`
		ID    string   `json:"id"`
		Name  string   `json:"name"`
		Email string   `json:"email"`
	}
	c := otlptest.New(t)
	n := newNode(t, plural.Config{Database: "sqlite:" + t.TempDir() + "/plural.db"})
	users, err := plural.Of[User](n.Server)
	if err != nil {
		t.Fatal(err)
	}
	tracer := n.traces.Tracer()
	id, header := traceOf(0)
	ctx, span := tracer.Start(tracer.Continue(t.Context(), strings.TrimPrefix(header, "traceparent: "), ""), "internal", "job")
	if _, err := users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	span.End(nil)
	n.stop()
	expect(t, "the trace", strings.ReplaceAll(c.Tree(id), "    client UPDATE _plural_meta\n", ""), `[`+parentSpan+`]
  internal job
    client INSERT users
    internal commit`)
}

// TestSpansAreBounded: a request that writes many has at most 501 spans, and says how many are left out.
func TestSpansAreBounded(t *testing.T) {
	const items, spans = 600, 501
	c := otlptest.New(t)
	n := newNode(t, plural.Config{Database: "sqlite:" + t.TempDir() + "/plural.db", Hooks: []plural.Hook{{
		Collection: "users", Before: func(context.Context, *plural.Change) error { return nil }, After: func(context.Context, *plural.Change) {},
	}}})
	var body []string
	for i := range items {
		body = append(body, fmt.Sprintf(`{"name":"User","email":"%d@example.com"}`, i))
	}
	id, header := traceOf(0)
	if w := n.do("POST", "/users", "["+strings.Join(body, ",")+"]", header); w.Code != http.StatusCreated {
		t.Fatal(w.Body)
	}
	n.stop()
	found := c.Spans(id)
	left := otlptest.Attributes(found[0].Attributes)["plural.spans_left_out"]
	// All hooks, and what the database has to do.
	if number, err := strconv.Atoi(left); len(found) != spans || err != nil || number < 2*items-spans {
		t.Errorf("there are %d spans, and %s are left out", len(found), left)
	}
}

// TestEventOnAnotherNode: an event on the node that did not write continues the trace of the write, and its change says so. An event of
// a write that is not sampled has the members that it always had.
func TestEventOnAnotherNode(t *testing.T) {
	c := otlptest.New(t)
	url := pgtest.URL(t)
	writer, reader := newNode(t, plural.Config{Database: url}), newNode(t, plural.Config{Database: url})
	addr, err := reader.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", "http://"+addr.String()+"/users", nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c8031ff-"+parentSpan+"-00") // the stream is in no trace
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	next := func(kind string) (change map[string]any) {
		for lines.Scan() {
			if lines.Text() != "event: "+kind {
				continue
			}
			for lines.Scan() {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					var event struct{ Change map[string]any }
					if err := json.Unmarshal([]byte(data), &event); err != nil {
						t.Fatal(err)
					}
					return event.Change
				}
			}
		}
		t.Fatal("the stream has ended: ", lines.Err())
		return nil
	}
	next("synced")
	id, header := traceOf(0)
	writer.do("POST", "/users", newAda, header)
	created := next("created")
	many, header := traceOf(1)
	writer.do("POST", "/users", `[{"name":"B","email":"b@example.com"},{"name":"C","email":"c@example.com"}]`, header)
	next("created")
	next("created")
	writer.do("PATCH", "/users/"+ada, `{"name":"Bea"}`, "traceparent: 00-"+id+"-"+parentSpan+"-00")
	updated := next("updated")
	if got := slices.Sorted(maps.Keys(updated)); !slices.Equal(got, []string{"at", "by", "id", "revision"}) {
		t.Errorf("the change of a write that is not sampled has %v", got)
	}
	writer.do("PATCH", "/users/"+ada, `{"name":"Cy"}`, "X-Request-Id: own") // in no trace of the client: in one of its own
	own := next("updated")
	cancel()
	writer.stop()
	reader.stop()
	expect(t, "the trace", strings.ReplaceAll(c.Tree(id), "    client UPDATE _plural_meta\n", ""), `[`+parentSpan+`]
  server POST /users
    client INSERT users
    internal commit
    producer event users`)
	array := c.Spans(many)
	if got, want := otlptest.Attributes(array[len(array)-1].Attributes), (map[string]string{"plural.collection": "users", "plural.changes": "2", "plural.stream.shapes": "1"}); !maps.Equal(got, want) {
		t.Errorf("of an array:\ngot  %v\nwant %v", got, want)
	}
	request := c.Spans(id)[0]
	if want := fmt.Sprintf("00-%s-%x-01", id, request.SpanId); created["traceparent"] != want || created["by"] != nil {
		t.Errorf("the change is %v, want the traceparent %s", created, want)
	}
	if span := c.Request("own"); own["traceparent"] != fmt.Sprintf("00-%x-%x-01", span.TraceId, span.SpanId) {
		t.Errorf("the change is %v, in the trace %x", own, span.TraceId)
	}
	event := c.Spans(id)[len(c.Spans(id))-1]
	if got, want := otlptest.Attributes(event.Attributes), (map[string]string{"plural.collection": "users", "plural.changes": "1", "plural.stream.shapes": "1"}); !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
