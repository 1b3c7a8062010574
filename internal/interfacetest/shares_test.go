package interfacetest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// beginLong asks for a long list from an address, and does not read it.
func (s *server) beginLong(address string) (status int, end func()) {
	s.t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(connection, "GET /posts HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: %s\r\n\r\n", address)
	response, err := http.ReadResponse(bufio.NewReaderSize(connection, 16), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, func() { connection.Close() }
}

// TestQuotaOfLongLists: who does not read the long lists that it asked for holds its
// share of the places for them, and the others get theirs.
func TestQuotaOfLongLists(t *testing.T) {
	for name, c := range map[string]struct {
		database func() string
		share    int
	}{
		"sqlite":   {func() string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") }, 48},
		"postgres": {func() string { return pgtest.URL(t) + "&pool_max_conns=12" }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, schema.Example(), c.database(), func(c *plural.Config) {
				c.MaxBody, c.MinThroughput, c.WriteTimeout = 32<<20, -1, time.Hour
				c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			})
			s.createAll("/posts", strings.Split(strings.TrimSuffix(strings.Repeat(`{"title":"x","body":"`+strings.Repeat("x", 1<<20)+`"}|`, 24), "|"), "|")...)
			var ends []func()
			defer func() {
				for _, end := range ends {
					end()
				}
			}()
			begin := func(address string) int {
				status, end := s.beginLong(address)
				ends = append(ends, end)
				return status
			}
			for i := range c.share {
				if status := begin("192.0.2.1"); status != 200 {
					t.Fatalf("list %d: %d", i, status)
				}
			}
			refused := s.get("/posts", "X-Forwarded-For", "192.0.2.1")
			refused.expectErrors(t, 429, "too_many_requests")
			if got := refused.header.Get("Retry-After"); got != "5" {
				t.Errorf("Retry-After is %q", got)
			}
			// It can go on with short ones, and others with long ones.
			if got := s.get("/posts?limit=0", "X-Forwarded-For", "192.0.2.1"); got.status != 200 {
				t.Errorf("a short list: %d %s", got.status, got.body)
			}
			if status := begin("192.0.2.2"); status != 200 {
				t.Errorf("another address: %d", status)
			}
			// A list that has ended is not counted any more.
			ends[0]()
			for try := 0; ; try++ {
				status := begin("192.0.2.1")
				if status == 200 {
					break
				}
				if try == 1000 {
					t.Fatalf("a list that has ended is still counted: %d", status)
				}
				time.Sleep(10 * time.Millisecond) // the server has yet to see that the connection is closed
			}
		})
	}
}
