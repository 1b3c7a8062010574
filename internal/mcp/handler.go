package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plural-go/plural/client"
)

// Handler returns the handler of messages of agents. Each is answered by itself, so that any node can. The tools send their requests to the
// interface in the same process, on behalf of who has sent the message: the handler of the interface identifies the caller in each of them.
func Handler(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Inside(api, r)
		if err != nil {
			http.Error(w, "The request could not be answered.", http.StatusInternalServerError)
			return
		}
		var panicked atomic.Pointer[string]
		server := newServer(&session{c, func(reason string) { panicked.Store(&reason) }}, "")
		sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true,
			// The interface has checked Host and Origin, and the length of the body.
			DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
		}).ServeHTTP(w, r)
		if reason := panicked.Load(); reason != nil {
			panic(*reason) // here the server reports it
		}
	})
}

// Inside returns a client of a handler in the same process. Its requests have the context, the address and the credentials of a request.
func Inside(api http.Handler, outer *http.Request) (*client.Client, error) {
	return client.New("http://plural", client.Options{HTTPClient: &http.Client{Transport: inside{api, outer}}, Retries: -1})
}

// Outside returns a client of a server at a URL.
func Outside(server string, options client.Options) (*client.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	options.HTTPClient = &http.Client{
		Transport: bounded{transport},
		// Credentials are for this server only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	options.Retries = 2
	return client.New(server, options)
}

// A response is read up to a bound, which is more than any result has. The description of a schema is read as a whole.
const (
	maxResponse    = 1 << 20
	maxDescription = 16 << 20
)

type wholeKey struct{}

// wholeResponse returns a context for responses that do not grow with what is stored.
func wholeResponse(ctx context.Context) context.Context {
	return context.WithValue(ctx, wholeKey{}, true)
}

func boundOf(r *http.Request) int {
	if r.Context().Value(wholeKey{}) != nil {
		return maxDescription
	}
	return maxResponse
}

// bounded ends responses at their bound.
type bounded struct{ http.RoundTripper }

// RoundTrip is that of an http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		body := response.Body
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(body, int64(boundOf(r))), body}
	}
	return response, err
}

// inside sends requests to a handler in the same process, as those of another request.
type inside struct {
	api   http.Handler
	outer *http.Request
}

// forwarded are the headers that say who calls, in which version, and in which request.
var forwarded = []string{"Authorization", "X-Forwarded-For", "API-Version", "X-Request-Id"}

// RoundTrip is that of an http.RoundTripper.
func (t inside) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(t.outer.Context())
	sent.RequestURI, sent.Host, sent.RemoteAddr = r.URL.RequestURI(), t.outer.Host, t.outer.RemoteAddr
	sent.URL.Scheme, sent.URL.Host = "", "" // as a server sees it
	for _, name := range forwarded {
		if values := t.outer.Header.Values(name); values != nil {
			sent.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if sent.Body == nil {
		sent.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}, most: boundOf(r)}
	if err := w.record(t.api, sent); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// errAborted is the error of a response that a handler could not end.
var errAborted = errors.New("the response is incomplete")
