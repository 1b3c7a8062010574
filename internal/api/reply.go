package api

import (
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/tracing"
	"github.com/plural-go/plural/problem"
)

// contentType is exactly what the convention requires; jsonType is the header value.
const contentType = "application/json;charset=utf-8"

var jsonType = []string{contentType}

// Browsers must not guess the type of a response, and must use TLS for a year.
var (
	noSniff = []string{"nosniff"}
	onlyTLS = []string{"max-age=31536000"}
)

// retryAfter is how many seconds a client should wait when the database is unavailable.
const retryAfter = "5"

// reply is what is to be sent: a body, a list, an event stream, a handler, or none of them.
type reply struct {
	status  int
	code    problem.Code // of the first error
	etag    string       // empty: none
	header  http.Header
	body    []byte
	list    *listWriter
	events  *eventStream
	handler http.Handler // writes the response itself
	zipped  bool         // send with gzip
}

func header(name, value string) http.Header {
	return http.Header{http.CanonicalHeaderKey(name): {value}}
}

// enveloped returns the reply with one or several representations under data.
func enveloped(status int, representation []byte) *reply {
	body := make([]byte, 0, len(representation)+len(`{"data":}`))
	body = append(body, `{"data":`...)
	body = append(body, representation...)
	return &reply{status: status, header: http.Header{}, body: append(body, '}')}
}

// uncached returns the reply with a value under data, which no cache may store.
func uncached(status int, value any) *reply {
	reply := enveloped(status, model.MustMarshal(value))
	reply.header.Set("Cache-Control", "no-store")
	return reply
}

// failure returns the reply with errors.
func failure(faults problem.Errors) *reply {
	body := append([]byte(`{"errors":`), fault.JSON(faults)...)
	reply := &reply{status: faults[0].Status(), code: faults[0].Code, header: http.Header{}, body: append(body, '}')}
	if reply.status == http.StatusServiceUnavailable {
		reply.header.Set("Retry-After", retryAfter)
	}
	return reply
}

// response wraps the http.ResponseWriter, and records what is logged about the request.
type response struct {
	http.ResponseWriter
	context requestContext
	timer   limit.QueryTimer // of a GET
	id      string
	route   string
	caller  string
	remote  string // address of the client
	address string // key of the client by its network, for quotas
	left    bool   // it is not counted as a request in progress any more
	refusal error  // of a request that comes too late, or while too many are in progress; nil: it is executed

	trace string       // traceparent of the request; empty: there is no tracer
	span  tracing.Span // nil: it is not sampled

	permit       *auth.Permit // of the caller, once identified
	unidentified error        // why the caller could not be identified

	started time.Time
	timeout time.Duration
	status  int // zero: the response has not begun
	code    problem.Code
	bytes   int64
	gone    bool      // the client disconnected before the reply
	latest  time.Time // deadline of the current write; zero: none
	whole   time.Time // deadline of several writes together, instead of one for each; zero: none

	upload     *limit.Reservation // the request body; nil: none
	written    *limit.Reservation // the resources of a write of many; nil: none
	retryAfter string             // seconds, if a rate limit is exceeded
}

// statusGone is the logged status of a request whose client disconnected. It is never sent.
const statusGone = 499

// WriteHeader records the status.
func (out *response) WriteHeader(status int) {
	if out.status == 0 {
		out.status = status
	}
	out.extend()
	out.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes, and extends the write deadline.
func (out *response) Write(p []byte) (int, error) {
	if out.status == 0 {
		out.WriteHeader(http.StatusOK)
	}
	if out.bytes > 0 { // WriteHeader has set the deadline of the first piece
		out.extend()
	}
	n, err := out.ResponseWriter.Write(p)
	out.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (out *response) Unwrap() http.ResponseWriter { return out.ResponseWriter }

// extend moves the write deadline. Not every ResponseWriter has one: that of an embedding
// program or a test may not.
func (out *response) extend() {
	if out.timeout > 0 {
		deadline := time.Now().Add(out.timeout)
		if !out.latest.IsZero() && out.latest.Before(deadline) {
			deadline = out.latest
		}
		if !out.whole.IsZero() {
			deadline = out.whole
		}
		_ = http.NewResponseController(out.ResponseWriter).SetWriteDeadline(deadline)
	}
}

// send sends a reply. Every reply goes through it.
func (out *response) send(r *http.Request, reply *reply) error {
	out.code = reply.code
	head := out.Header()
	for name, values := range reply.header {
		if name == "Vary" { // keep what is there already
			values = slices.Concat(head[name], values)
		}
		head[name] = values
	}
	head["X-Request-Id"] = []string{out.id}
	if reply.etag != "" {
		head["Etag"] = []string{reply.etag}
	}
	switch {
	case reply.handler != nil:
		reply.handler.ServeHTTP(out, r)
		return nil
	case reply.events != nil:
		return reply.events.send(out, r)
	case reply.list != nil:
		defer reply.list.close()
		head["Content-Type"] = jsonType
		return reply.list.send(out, r.Method == http.MethodHead, reply.zipped)
	case reply.zipped:
		delete(head, "Content-Length")
		out.WriteHeader(reply.status)
		return zip(out, func(zipper *gzip.Writer) error {
			_, err := zipper.Write(reply.body)
			return err
		})
	case reply.body != nil:
		if head["Content-Type"] == nil {
			head["Content-Type"] = jsonType
		}
		if head["Content-Length"] == nil {
			head["Content-Length"] = []string{strconv.Itoa(len(reply.body))}
		}
	case reply.status != http.StatusNoContent && reply.status != http.StatusNotModified:
		head["Content-Length"] = []string{"0"}
	}
	out.WriteHeader(reply.status)
	if reply.body == nil || r.Method == http.MethodHead {
		return nil
	}
	_, err := out.Write(reply.body)
	return err
}

// origin is the request for logs.
func (out *response) origin() observe.Origin {
	return observe.Origin{Request: out.id, Trace: tracing.ID(out.trace)}
}

func (out *response) summary(r *http.Request) observe.Request {
	status := out.status
	if out.gone {
		status = statusGone
	}
	now := time.Now()
	return observe.Request{
		Origin: out.origin(), Method: r.Method, Path: loggedPath(r.URL), Route: out.route, Remote: out.remote, Caller: out.caller,
		Status: status, Code: string(out.code), Bytes: out.bytes, Duration: now.Sub(out.started), Ended: now, Sampled: out.span != nil,
	}
}

// requestID returns the X-Request-Id of the client if it is printable and short, and a new one
// otherwise.
func requestID(r *http.Request) string {
	id := given(r, "X-Request-Id")
	unusable := func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }
	if id == "" || len(id) > 128 || strings.ContainsFunc(id, unusable) {
		return newRequestID()
	}
	return id
}

// given is the first value of a header of a request, empty if it is not there. The name is in canonical form, which Header.Get would make
// each time.
func given(r *http.Request, name string) string {
	if values := r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// newRequestID returns a random id. It is no secret.
func newRequestID() string {
	var random [16]byte
	binary.NativeEndian.PutUint64(random[:8], rand.Uint64()) // #nosec G404 -- ids of requests are no secret
	binary.NativeEndian.PutUint64(random[8:], rand.Uint64()) // #nosec G404 -- as above
	var text [2 * len(random)]byte
	hex.Encode(text[:], random[:])
	return string(text[:])
}
