package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/problem"
)

// contentType is exactly what the convention says, and jsonType the header's values.
const contentType = "application/json;charset=utf-8"

var jsonType = []string{contentType}

// Browsers must not guess what an answer is, nor come back without TLS for a year.
var (
	noSniff = []string{"nosniff"}
	onlyTLS = []string{"max-age=31536000"}
)

// retryAfter is how many seconds a client should wait when the store is away.
const retryAfter = "5"

// reply is an answer that has not been sent: a body, a stream, a handler, or none.
type reply struct {
	status  int
	code    problem.Code // of the first error
	header  http.Header
	body    []byte
	stream  *listStream
	handler http.Handler // for what is not ours to write
	zipped  bool         // compressed on its way

	// provisional is how long it may become another one that is kept in its place.
	provisional time.Duration
}

func header(name, value string) http.Header {
	return http.Header{http.CanonicalHeaderKey(name): {value}}
}

// enveloped is the reply with a representation, or several, under data.
func enveloped(status int, representation []byte) *reply {
	body := make([]byte, 0, len(representation)+len(`{"data":}`))
	body = append(body, `{"data":`...)
	body = append(body, representation...)
	return &reply{status: status, header: http.Header{}, body: append(body, '}')}
}

// failure is the reply with errors.
func failure(faults problem.Errors) *reply {
	body := append([]byte(`{"errors":`), fault.JSON(faults)...)
	answer := &reply{status: faults[0].Status(), code: faults[0].Code, header: http.Header{}, body: append(body, '}')}
	if answer.status == http.StatusServiceUnavailable {
		answer.header.Set("Retry-After", retryAfter)
	}
	return answer
}

// marshal writes what is not a representation: strings, numbers and JSON of our
// own, with which it cannot fail.
func marshal(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSpace(text.Bytes())
}

// response is the way out, and remembers what went through it.
type response struct {
	http.ResponseWriter
	id      string
	route   string
	caller  string
	remote  string // address of the client
	busy    bool   // more requests are being answered than may be
	refusal error  // of a request that comes too late
	started time.Time
	timeout time.Duration
	status  int
	code    problem.Code
	bytes   int64
	gone    bool      // the client went away before it was answered
	latest  time.Time // for the client to have taken what is being written; zero: none

	upload     *upload // its body; nil: none
	retryAfter string  // of a client that sends too many requests
}

// context is that of whatever is done for a request, but for lists. Only a list can go on
// for as long as a client takes. All else is not given up when the client seems to be gone:
// one that has only closed its sending side still wants the answer.
func (out *response) context(r *http.Request) context.Context {
	return observe.WithRequest(detached(r.Context()), out.id)
}

// statusGone is what the log says of a request that was given up. It is never sent.
const statusGone = 499

func (out *response) begun() bool { return out.status != 0 }

// WriteHeader notes the status.
func (out *response) WriteHeader(status int) {
	if out.status == 0 {
		out.status = status
	}
	out.extend()
	out.ResponseWriter.WriteHeader(status)
}

// Write counts what is written, and gives the client time to take it.
func (out *response) Write(p []byte) (int, error) {
	if out.status == 0 {
		out.WriteHeader(http.StatusOK)
	}
	if out.bytes > 0 { // the time for the first piece began with the header
		out.extend()
	}
	n, err := out.ResponseWriter.Write(p)
	out.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (out *response) Unwrap() http.ResponseWriter { return out.ResponseWriter }

// extend moves the deadline of the client's reading on. Not every
// ResponseWriter has one: an embedded handler's may be a test's.
func (out *response) extend() {
	if out.timeout > 0 {
		deadline := time.Now().Add(out.timeout)
		if !out.latest.IsZero() && out.latest.Before(deadline) {
			deadline = out.latest
		}
		_ = http.NewResponseController(out.ResponseWriter).SetWriteDeadline(deadline)
	}
}

// send is the one door by which answers leave.
func (out *response) send(r *http.Request, answer *reply) error {
	out.code = answer.code
	head := out.Header()
	for name, values := range answer.header {
		if name == "Vary" { // there may be other reasons
			values = slices.Concat(head[name], values)
		}
		head[name] = values
	}
	head["X-Request-Id"] = []string{out.id}
	switch {
	case answer.handler != nil:
		answer.handler.ServeHTTP(out, r)
		return nil
	case answer.stream != nil:
		defer answer.stream.close()
		head["Content-Type"] = jsonType
		return answer.stream.send(out, r.Method == http.MethodHead, answer.zipped)
	case answer.zipped:
		delete(head, "Content-Length")
		out.WriteHeader(answer.status)
		return zip(out, func(zipper *gzip.Writer) error {
			_, err := zipper.Write(answer.body)
			return err
		})
	case answer.body != nil:
		if head["Content-Type"] == nil {
			head["Content-Type"] = jsonType
		}
		if head["Content-Length"] == nil {
			head["Content-Length"] = []string{strconv.Itoa(len(answer.body))}
		}
	case answer.status != http.StatusNoContent && answer.status != http.StatusNotModified:
		head["Content-Length"] = []string{"0"}
	}
	out.WriteHeader(answer.status)
	if answer.body == nil || r.Method == http.MethodHead {
		return nil
	}
	_, err := out.Write(answer.body)
	return err
}

func (out *response) summary(r *http.Request) observe.Request {
	status := out.status
	if out.gone {
		status = statusGone
	}
	now := time.Now()
	return observe.Request{
		ID: out.id, Method: r.Method, Path: r.URL.Path, Route: out.route, Remote: out.remote, Caller: out.caller,
		Status: status, Code: string(out.code), Bytes: out.bytes, Duration: now.Sub(out.started), Ended: now,
	}
}

// requestID keeps the id that the client sent if it is sane, and else makes one.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 128 {
		return newRequestID()
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' || id[i] == '"' || id[i] == '\\' {
			return newRequestID()
		}
	}
	return id
}

// newRequestID makes an id that nobody else has. Nothing is secret about it.
func newRequestID() string {
	var random [16]byte
	binary.NativeEndian.PutUint64(random[:8], rand.Uint64()) // #nosec G404 -- ids of requests are no secret
	binary.NativeEndian.PutUint64(random[8:], rand.Uint64()) // #nosec G404 -- as above
	return hex.EncodeToString(random[:])
}
