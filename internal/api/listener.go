package api

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// Listener replaces responses that net/http writes itself. It refuses some requests before a handler
// runs (a malformed request line, too large headers, …), in plain text. The listener replaces these
// responses, so that every response has the envelope.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connection{Conn: c}, nil
}

type connection struct{ net.Conn }

// plainHeader is what net/http writes between the status line and the text of such a response. It
// writes the response with one call of Write.
var plainHeader = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// expectationFailed is the response of net/http to an unknown Expect header.
var expectationFailed = []byte("HTTP/1.1 417 Expectation Failed\r\n")

// refusals maps the statuses of these responses to errors.
var refusals = map[int]*problem.Error{
	400: fault.New(problem.CodeMalformedRequest, "The request line, the path or a header is not valid HTTP."),
	417: fault.Header("Expect", problem.CodeExpectationFailed, "The only expectation that can be met is 100-continue."),
	431: fault.New(problem.CodeHeadersTooLarge, "The request line and the headers are too large. This server accepts about 128 KiB."),
	501: fault.Header("Transfer-Encoding", problem.CodeNotImplemented, "The only transfer coding is chunked."),
	505: fault.New(problem.CodeHTTPVersion, "This connection supports only HTTP/1.0 and HTTP/1.1."),
}

// Write writes to the connection, and replaces the responses of net/http.
func (c *connection) Write(p []byte) (int, error) {
	refusal := refusalFor(p)
	if refusal == nil {
		return c.Conn.Write(p)
	}
	answer := failure(problem.Errors{refusal})
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\n\r\n%s",
		answer.status, http.StatusText(answer.status), contentType, len(answer.body), newRequestID(), answer.body)
	if _, err := c.Conn.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

func refusalFor(p []byte) *problem.Error {
	if !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) {
		return nil
	}
	line := bytes.IndexByte(p, '\r')
	if line < len("HTTP/1.1 400") {
		return nil
	}
	status, err := strconv.Atoi(string(p[9:12]))
	if err != nil {
		return nil
	}
	// No handler answers 417; the other responses are recognised by their headers. The line ends
	// are part of both: no JSON contains them, so no body looks like this.
	if !bytes.HasPrefix(p, expectationFailed) && !bytes.HasPrefix(p[line:], plainHeader) {
		return nil
	}
	if refusal, ok := refusals[status]; ok {
		return refusal
	}
	return refusals[400]
}
