//go:build linux

package bench

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestClientChecksAnswers(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/short":
			w.Write([]byte("12345"))
		case "/long":
			w.Write([]byte(long)) // in chunks
		case "/none":
			w.WriteHeader(http.StatusNotFound)
		case "/broken":
			w.Write([]byte(long))
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		path   string
		status int
		length int
		want   string
	}{
		{"/short", 200, 5, ""},
		{"/long", 200, 300_000, ""},
		{"/short", 201, 5, "GET /short: got status 200 with 5 bytes, want 201 with 5"},
		{"/short", 200, 6, "GET /short: got status 200 with 5 bytes, want 200 with 6"},
		{"/long", 200, 5, "GET /long: got status 200 with 300000 bytes, want 200 with 5"},
		{"/none", 200, 0, "GET /none: got status 404 with 0 bytes, want 200 with 0"},
		{"/broken", 200, 300_000, "GET /broken: EOF"},
	} {
		client, err := dial(address, false)
		if err != nil {
			t.Fatal(err)
		}
		defer client.conn.Close()
		// One answer must not eat into the next.
		first := client.do(&call{method: "GET", path: []byte("/long"), status: 200, length: 300_000})
		got := ""
		if err := client.do(&call{method: "GET", path: []byte(c.path), status: c.status, length: c.length}); err != nil {
			got = err.Error()
		}
		if first != nil || got != c.want {
			t.Errorf("%s: got %v and %q, want %q", c.path, first, got, c.want)
		}
	}
}

// What one server answers wrong is an error of the whole run.
func TestLoadFailsWithAWrongAnswer(t *testing.T) {
	var answered atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		if answered.Add(1) > 10 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		w.Write(make([]byte, 7))
	}))
	defer server.Close()
	l := load{address: strings.TrimPrefix(server.URL, "http://"), connections: 4, users: minRows, rows: minRows, serial: new(atomic.Int64), clock: wallClock(),
		next: func(c *caller) { c.path = []byte("/"); c.read(200, 7) }}
	_, err := l.run(t.Context(), maxAnswer)
	const want = "GET /: got status 503 with 7 bytes, want 200 with 7"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
