package interfacetest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// stallStream opens a stream on a connection of its own and reads nothing but the head of the response.
func (s *server) stallStream(path string) *events {
	s.t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { connection.Close() })
	if err := connection.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n", path)
	response, err := http.ReadResponse(bufio.NewReaderSize(connection, 16), nil)
	if err != nil || response.StatusCode != 200 {
		s.t.Fatal(response, err)
	}
	e := &events{t: s.t, status: response.StatusCode, arrived: make(chan event, 1024), quiet: true}
	e.close = func() { // read what has arrived
		defer close(e.arrived)
		e.read(context.Background(), response.Body)
	}
	return e
}

// awaitMetric waits until a metric has a value.
func (s *server) awaitMetric(line string) {
	s.t.Helper()
	for deadline := time.Now().Add(hung); ; time.Sleep(10 * time.Millisecond) {
		text := s.get("/-/metrics").body
		if strings.Contains(text, line+"\n") {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("there is no %s in\n%s", line, text)
		}
	}
}

// TestSlowStreams: a client that does not receive its events, or its list, is closed and counted, and
// goes on without a gap when it connects again.
func TestSlowStreams(t *testing.T) {
	const large, total = 900 << 10, 24
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		first := s.stream("/posts")
		position := first.expect(`synced {}`)
		first.close()
		for i := range total {
			s.create("/posts", fmt.Sprintf(`{"id":"%s","body":"%s"}`, id(i), strings.Repeat("x", large)))
		}
		resumed := s.stallStream("/posts?since=" + position)
		s.awaitMetric("plural_stream_slow_total 1")
		listed := s.stallStream("/posts")
		s.awaitMetric("plural_stream_slow_total 2")

		var got []string
		receive := func(e *events) {
			for {
				next, ok := e.next()
				if !ok {
					return
				}
				if next.kind == "created" {
					got, position = append(got, between(next.data, `{"data":{"id":"`, `"`)), next.id
				}
				if len(got) == total {
					return
				}
			}
		}
		resumed.close()
		receive(resumed)
		if len(got) == total {
			t.Error("the client has received everything")
		}
		for deadline := time.Now().Add(hung); len(got) < total && time.Now().Before(deadline); { // a busy machine is slow, too
			receive(s.stream("/posts?since=" + position))
		}
		var want []string
		for i := range total {
			want = append(want, id(i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %d events %v", len(got), got)
		}
		listed.close()
		for count := 0; ; count++ {
			next, ok := listed.next()
			if !ok {
				if count == 0 || count >= total {
					t.Errorf("%d of %d were listed", count, total)
				}
				break
			}
			if next.kind != "listed" {
				t.Errorf("a list that is not complete has %s", next.kind)
			}
		}
	}, func(config *plural.Config) {
		config.WriteTimeout, config.MinThroughput = 500*time.Millisecond, 1<<30
	})
}

// between is the text between two others.
func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}
