package interfacetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// TestTwoLengthsEndTheConnection: a request with Content-Length and Transfer-Encoding may end
// elsewhere for a proxy, so nothing behind it on the connection is taken for a request.
func TestTwoLengthsEndTheConnection(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		const second = "GET /users HTTP/1.1\r\nHost: localhost\r\n\r\n"
		for name, c := range map[string]struct {
			headers, body string
			answers       int
		}{
			"both":    {"Content-Length: 6\r\nTransfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n", 1},
			"turned":  {"Transfer-Encoding: chunked\r\nContent-Length: 100", "2\r\n{}\r\n0\r\n\r\n", 1},
			"one":     {"Content-Length: 2", "{}", 2},
			"refused": {"Content-Length: 2\r\nContent-Length: 3", "{}", 1},
		} {
			connection, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(connection, "POST /posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n%s%s", c.headers, c.body, second)
			if c.answers == 2 {
				fmt.Fprint(connection, strings.Replace(second, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1))
			}
			reader := bufio.NewReader(connection)
			answers := 0
			for {
				response, err := http.ReadResponse(reader, nil)
				if err != nil {
					if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !strings.Contains(err.Error(), "reset") {
						t.Errorf("%s: %v", name, err)
					}
					break
				}
				_, _ = io.Copy(io.Discard, response.Body)
				answers++
			}
			connection.Close()
			if want := map[int]int{1: 1, 2: 3}[c.answers]; answers != want {
				t.Errorf("%s: %d answers, want %d", name, answers, want)
			}
		}
	})
}
