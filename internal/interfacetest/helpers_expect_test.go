package interfacetest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func changeBy(by, kind string, position int, previous, data string) string {
	return fmt.Sprintf(`{"id":"CHANGE","type":"changes","kind":"%s","resource":{"id":"%s","type":"users"},"revision":N,"by":%s,"previous":%s,"data":%s,"created_at":"TIME"}`,
		kind, id(position), by, previous, data)
}

// expectSettled compares the whole body, without what differs from run to run.
func (a answer) expectSettled(t testing.TB, status int, body string) {
	t.Helper()
	if got := settled(a.body); a.status != status || got != body {
		t.Errorf("got  %d %s\nwant %d %s", a.status, got, status, body)
	}
}

func unzip(t *testing.T, zipped string) string {
	t.Helper()
	reader, err := gzip.NewReader(strings.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// expectReplay compares a repeated answer with the first, byte for byte.
func (a answer) expectReplay(t testing.TB, first answer) {
	t.Helper()
	want := maps.Clone(first.header)
	want["Idempotency-Replayed"] = []string{"true"}
	got := maps.Clone(a.header)
	for _, header := range []string{"Date", "X-Request-Id"} {
		delete(want, header)
		delete(got, header)
	}
	if a.status != first.status || a.body != first.body || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %d %v %s\nwant %d %v %s", a.status, got, a.body, first.status, want, first.body)
	}
	if first.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("the first answer says that it is not: %s", first.body)
	}
}

// link is the target of a relation in the Link header.
func (a answer) link(t testing.TB, relation string) string {
	t.Helper()
	for part := range strings.SplitSeq(a.header.Get("Link"), ", ") {
		if target, found := strings.CutSuffix(part, `>; rel="`+relation+`"`); found {
			return strings.TrimPrefix(target, "<")
		}
	}
	t.Fatalf("no link to %s in %q", relation, a.header.Get("Link"))
	return ""
}

// linkHeader is a whole Link header of pairs of relation and query.
func linkHeader(path string, pairs ...string) string {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		parts = append(parts, "<"+path+"?"+pairs[i+1]+`>; rel="`+pairs[i]+`"`)
	}
	return strings.Join(parts, ", ")
}

// expectList compares all headers of a list.
func expectList(t *testing.T, s *server, method, path, query, total string, links []string) {
	t.Helper()
	var want []string
	if len(links) > 0 {
		want = append(want, "Link: "+linkHeader(path, links...))
	}
	if total != "" {
		want = append(want, "X-Total-Count: "+total)
	}
	got := s.do(method, path+"?"+query, "")
	if got.status != 200 {
		t.Errorf("%s %s: %d %s", method, query, got.status, got.body)
	}
	failed := t.Failed()
	got.expectHeaders(t, want...)
	if !failed && t.Failed() {
		t.Logf("first failure: %s %s", method, query)
	}
}

// errorText is the errors of an answer, each as "code place".
func (a answer) errorText(t testing.TB) string {
	t.Helper()
	var envelope struct {
		Errors []struct {
			Code   string
			Source struct{ Pointer, Parameter, Header string }
		}
	}
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range envelope.Errors {
		all = append(all, strings.TrimSpace(e.Code+" "+e.Source.Pointer+e.Source.Parameter+e.Source.Header))
	}
	return strings.Join(all, ", ")
}

func (a answer) expectTotal(t testing.TB, want string) {
	t.Helper()
	if got := a.total(); a.status != 200 || got != want {
		t.Errorf("the total is %q, and should be %s: %d %s", got, want, a.status, a.body)
	}
}

// awaitMetric waits until a metric has a value. It asks the handler without a connection, which would have a write timeout.
func (s *server) awaitMetric(line string) {
	s.t.Helper()
	for deadline := time.Now().Add(hung); ; time.Sleep(10 * time.Millisecond) {
		w := httptest.NewRecorder()
		s.opened.ServeHTTP(w, httptest.NewRequest("GET", "/-/metrics", nil))
		if strings.Contains(w.Body.String(), line+"\n") {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("there is no %s in\n%s", line, w.Body)
		}
	}
}

// expectLength compares the number of listed resources.
func (a answer) expectLength(t testing.TB, want int) {
	t.Helper()
	if got := len(a.ids(t)); got != want {
		t.Errorf("%d resources, want %d: %s", got, want, a.body)
	}
}

// whole is the body of a user with every member, as it was read.
func whole(read answer) string { return read.body[len(`{"data":`) : len(read.body)-1] }

// location is the path of the only resource of a list.
func (a answer) location(t testing.TB, before string) string {
	t.Helper()
	return before + strings.Join(a.ids(t), " ")
}
