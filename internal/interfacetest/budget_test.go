package interfacetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// stall sends a body but for its last byte from an address. What it is answered with comes later.
func (s *server) stall(address string) <-chan answer {
	s.t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { connection.Close() })
	fmt.Fprintf(connection, "POST /posts HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", address, 1<<20)
	answers := make(chan answer, 1)
	go func() {
		_, _ = io.WriteString(connection, strings.Repeat(" ", 1<<20-1))
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			answers <- answer{body: err.Error()}
			return
		}
		text, _ := io.ReadAll(response.Body)
		answers <- answer{status: response.StatusCode, header: response.Header, body: string(text)}
	}()
	return answers
}

// insist sends a request again while it is refused with 503: a busy machine may send as slowly as clients who stall.
func insist(send func() answer) answer {
	got := send()
	for tries := 0; got.status == 503 && tries < 100; tries++ {
		got = send()
	}
	return got
}

// TestBodiesShareABudget: clients who stop in the middle of a body do not keep others from
// writing, although they would take all of the memory for bodies.
func TestBodiesShareABudget(t *testing.T) {
	body := `{"title":"x","body":"` + strings.Repeat("x", 1<<19) + `"}`
	proxied := func(c *plural.Config) {
		c.MaxBodyMemory = 4 << 20
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
	t.Run("others", func(t *testing.T) {
		eachStore(t, schema.Example(), func(t *testing.T, s *server) {
			for range 16 {
				s.stall("192.0.2.1")
			}
			for i := range 20 {
				got := insist(func() answer { return s.do("POST", "/posts", body, "X-Forwarded-For", "192.0.2.2") })
				if got.status != 201 {
					t.Fatalf("body %d: got %d %s", i, got.status, got.body)
				}
			}
		}, proxied)
	})
	t.Run("slow", func(t *testing.T) {
		eachStore(t, schema.Example(), func(t *testing.T, s *server) {
			stalled := s.stall("192.0.2.1")
			for {
				if got := insist(func() answer { return s.do("POST", "/posts", body) }); got.status != 201 {
					t.Fatalf("got %d %s", got.status, got.body)
				}
				select {
				case got := <-stalled:
					got.expectErrors(t, 503, "overloaded")
					if got.header.Get("Retry-After") != "5" {
						t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
					}
					return
				default:
				}
			}
		}, func(c *plural.Config) { c.MaxBodyMemory = 1<<20 + 1<<10 })
	})
}
