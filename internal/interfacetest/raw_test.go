package interfacetest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// raw sends bytes as they are and reads the first answer.
func (s *server) raw(request string) answer {
	s.t.Helper()
	return s.exchange(request, func(*net.TCPConn) error { return nil })
}

// rawCutOff sends bytes as they are, says that no more will come, and reads the
// first answer.
func (s *server) rawCutOff(request string) answer {
	s.t.Helper()
	return s.exchange(request, (*net.TCPConn).CloseWrite)
}

func (s *server) exchange(request string, then func(*net.TCPConn) error) answer {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	// A server that refuses early may close before it has read everything.
	_, _ = io.WriteString(conn, request)
	_ = then(conn.(*net.TCPConn))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.t.Fatalf("%.100q: %v", request, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%.100q: %v", request, err)
	}
	if found, ok := checkers.Load(strings.TrimPrefix(s.base, "http://")); ok {
		e := readExchange(request)
		e.status, e.answered, e.answer = response.StatusCode, response.Header, text
		found.(*checker).hears(e)
	}
	return answer{status: response.StatusCode, header: response.Header, body: string(text)}
}

// readExchange reads the request of an exchange, as far as it is one.
func readExchange(request string) *exchange {
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
	if err != nil {
		return &exchange{method: "?", header: http.Header{}}
	}
	body, _ := io.ReadAll(r.Body) // which may be cut off
	return &exchange{method: r.Method, target: r.URL, header: r.Header, body: body}
}

// TestRefusedBeforeRouting: what net/http refuses by itself comes in the
// envelope, too.
func TestRefusedBeforeRouting(t *testing.T) {
	const json = "Host: localhost\r\nContent-Type: application/json\r\n"
	tests := []struct {
		request string
		status  int
		want    string
	}{
		{"GET /users/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"GET /% HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"GET /us ers HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"GET users HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"GET\r\n\r\n", 400, "malformed_request"},
		{"nonsense\r\n\r\n", 400, "malformed_request"},
		{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "malformed_request"}, // TLS
		{"GET / HTTP/x\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"G@T / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"GET / HTTP/1.1\r\n\r\n", 400, "malformed_request"}, // no Host
		{"GET / HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n", 400, "malformed_request"},
		{"GET / HTTP/1.1\r\nHost: x y\r\n\r\n", 400, "malformed_request"},
		{"GET / HTTP/1.1\r\nHost: localhost\r\nNa me: x\r\n\r\n", 400, "malformed_request"},
		{"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n", 400, "malformed_request"},
		{"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", 400, "malformed_request"},
		{"POST /users HTTP/1.1\r\n" + json + "Content-Length: x\r\n\r\n{}", 400, "malformed_request"},
		{"POST /users HTTP/1.1\r\n" + json + "Content-Length: -1\r\n\r\n{}", 400, "malformed_request"},
		{"POST /users HTTP/1.1\r\n" + json + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, "malformed_request"},
		{"POST /users HTTP/1.1\r\n" + json + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}", 400, "malformed_request"}, // no chunk
		{"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 136<<10) + "\r\n\r\n", 431, "headers_too_large"},
		{"GET /" + strings.Repeat("x", 136<<10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 431, "headers_too_large"},
		{"POST /users HTTP/1.1\r\n" + json + "Expect: miracles\r\nContent-Length: 2\r\n\r\n{}", 417, "expectation_failed Expect"},
		{"GET /users HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\n\r\n", 417, "expectation_failed Expect"},
		{"POST /users HTTP/1.1\r\n" + json + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "not_implemented Transfer-Encoding"},
		{"POST /users HTTP/1.1\r\n" + json + "Transfer-Encoding: identity\r\n\r\n", 501, "not_implemented Transfer-Encoding"},
		{"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 505, "http_version"},
		// Framing that is broken, where no body is expected.
		{"DELETE /users/" + id(0) + " HTTP/1.1\r\n" + json + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "malformed_request"},
		{"DELETE /users/" + id(0) + " HTTP/1.1\r\n" + json + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 400, "unexpected_body"},
		// A header that says two things at once.
		{"POST /users HTTP/1.1\r\n" + json + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n[]", 415, "unsupported_media_type Content-Type"},
		{"POST /users HTTP/1.1\r\n" + json + "Content-Encoding: identity\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n[]", 415, "unsupported_media_type Content-Encoding"},
	}
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		for _, test := range tests {
			got := s.raw(test.request)
			got.expectErrors(t, test.status, test.want)
			if t.Failed() {
				t.Fatalf("%.100q", test.request)
			}
		}
		for _, request := range []string{
			"POST /users HTTP/1.1\r\n" + json + "Content-Length: 10\r\n\r\n{}",
			"POST /users HTTP/1.1\r\n" + json + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}",
			"PATCH /users/" + id(0) + " HTTP/1.1\r\n" + json + "Content-Length: 3\r\n\r\n{}",
		} {
			s.rawCutOff(request).expectErrors(t, 400, "malformed_request")
		}
		s.get("/users").expect(t, 200, data(user(0)))
	})
}

// TestRawRequests that are unusual and right.
func TestRawRequests(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		for _, request := range []string{
			"GET /users HTTP/1.0\r\n\r\n",
			"GET http://localhost/users HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"GET /users? HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"GET /user%73 HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"GET /users HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
			"GET /users HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		} {
			s.raw(request).expect(t, 200, data(user(0)))
		}
		options := s.raw("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if options.status != 204 || options.body != "" || options.header.Get("Allow") != "GET, HEAD, QUERY, POST, PUT, PATCH, DELETE, OPTIONS" || options.header.Get("X-Request-Id") == "" {
			t.Errorf("OPTIONS *: %d %v %s", options.status, options.header, options.body)
		}
		s.raw("GET * HTTP/1.1\r\nHost: localhost\r\n\r\n").expectErrors(t, 405, "method_not_allowed")
		s.raw("CONNECT localhost:80 HTTP/1.1\r\nHost: x:80\r\n\r\n").expectErrors(t, 405, "method_not_allowed")
		s.raw("PATCH /users/"+id(0)+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n").expect(t, 200, `{"data":`+user(0)+`}`)
	})
}

// A client may close its sending side when it has sent everything, and still
// wants the answer.
func TestHalfClosedConnections(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		for range 20 { // the server sees the end of the input at any moment
			s.rawCutOff("GET /users/"+id(0)+" HTTP/1.1\r\nHost: localhost\r\n\r\n").expect(t, 200, `{"data":`+user(0)+`}`)
			s.rawCutOff("PATCH /users/"+id(0)+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}").expect(t, 200, `{"data":`+user(0)+`}`)
		}
	})
}
