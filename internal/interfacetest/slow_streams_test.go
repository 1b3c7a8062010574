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
	var response *http.Response
	eventually(s.t, "the stream begins", func() bool { // a busy machine may not send the head in time
		connection, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { connection.Close() })
		if err := connection.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n", path)
		response, err = http.ReadResponse(bufio.NewReaderSize(connection, 16), nil)
		return err == nil
	})
	if response.StatusCode != 200 {
		s.t.Fatal(response)
	}
	e := &events{t: s.t, status: response.StatusCode, arrived: make(chan event, 1024), quiet: true}
	e.close = func() { // read what has arrived
		defer close(e.arrived)
		e.read(context.Background(), response.Body)
	}
	return e
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
		hasty := s.another(func(c *plural.Config) { c.WriteTimeout, c.MinThroughput = 500*time.Millisecond, 1<<30 })
		resumed := hasty.stallStream("/posts?since=" + position)
		hasty.awaitMetric("plural_stream_slow_total 1")

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
		receive(s.stream("/posts?since=" + position))
		var want []string
		for i := range total {
			want = append(want, id(i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %d events %v", len(got), got)
		}

		closed := 1
		eventually(t, "a part of the list is sent", func() bool { // a busy machine may send nothing in time
			listed := hasty.stallStream("/posts")
			closed++
			hasty.awaitMetric(fmt.Sprint("plural_stream_slow_total ", closed))
			listed.close()
			for count := 0; ; count++ {
				next, ok := listed.next()
				if !ok {
					if count >= total {
						t.Errorf("%d of %d were listed", count, total)
					}
					return count > 0
				}
				if next.kind != "listed" {
					t.Errorf("a list that is not complete has %s", next.kind)
				}
			}
		})
	})
}

// between is the text between two others.
func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}
