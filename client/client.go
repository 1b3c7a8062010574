// Package client reads and writes the collections of a server that follows the
// convention, as values of Go types.
//
//	c, err := client.New("https://api.example.com", client.Options{Key: key})
//	users := client.Of[User](c, "users")
//	ada, err := users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"})
//	for user, err := range users.All(ctx, params.Where("active").Is(true)) {
//		…
//	}
//
// Lost requests are sent again, a bounded number of times. Writes have an
// Idempotency-Key, so that they are executed once however often they are sent.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Options configures a client. The zero value of every field means its default.
type Options struct {
	// Key is an API key or a token, sent as a bearer with every request. Default: none.
	Key string

	// Token returns the bearer token of each request instead, for tokens that expire. It
	// is called before every attempt. Default: Key.
	Token func(context.Context) (string, error)

	// APIVersion is the version of the interface that the program was written for: it is sent as API-Version with every
	// request. Default: the version that the key is pinned to, or else the newest.
	APIVersion int

	// HTTPClient makes the requests. Its Timeout, if it has one, also ends long lists.
	// Default: one that waits a minute for the headers of a response.
	HTTPClient *http.Client

	// Retries is how often a request is sent again if it was lost, or if the server
	// could not execute it at the time. Default: 5. Negative: never.
	Retries int

	// MaxWait is the longest pause before another attempt. If Retry-After asks for a
	// longer one, there is no other attempt. Default: 30 s.
	MaxWait time.Duration
}

// Client sends requests to one server. It may be used by many goroutines.
type Client struct {
	base    *url.URL
	options Options
	noQuery atomic.Bool  // a proxy or the server refuses QUERY
	page    atomic.Int64 // the largest limit that the server allows, once it has refused a larger one
}

// New returns a client of the server at a URL, which may have the path under which
// the server is mounted. It does not connect yet.
func New(baseURL string, options Options) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("the URL of a server must be like https://api.example.com, but is %q", baseURL)
	}
	if base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return nil, errors.New("the URL of a server has no user, query or fragment: give credentials as Options.Key")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	if options.HTTPClient == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.ResponseHeaderTimeout = time.Minute
		options.HTTPClient = &http.Client{Transport: transport}
	}
	options.Retries = cmp.Or(options.Retries, 5)
	options.MaxWait = cmp.Or(options.MaxWait, 30*time.Second)
	if err := checkBearer(options.Key); err != nil {
		return nil, err
	}
	if options.Token == nil {
		key := options.Key
		options.Token = func(context.Context) (string, error) { return key, nil }
	}
	return &Client{base: base, options: options}, nil
}

// Request is an HTTP request, for what this package has no method for.
type Request struct {
	Method string
	Path   string // below the URL of the server: "/users"
	Query  string // as in a URL
	Header http.Header
	Body   []byte // JSON

	// Repeatable: the request may be sent again without an Idempotency-Key, because the
	// response shows whether it was executed before. Otherwise every request except GET and
	// HEAD gets a key, unless Header has one.
	Repeatable bool

	// Once: the request has no Idempotency-Key, and is sent again only if it was certainly not
	// executed: there was no connection, or the response was 429.
	Once bool

	long bool // it may be sent by QUERY, whose response has no ETag and no Link
}

// Response is a successful response that was read completely.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	Tries  int // how often the request was sent
}

// Do sends a request and reads the response, with as many attempts as Options allows. A
// response that is not a success is an *Error.
func (c *Client) Do(ctx context.Context, request Request) (*Response, error) {
	var read *Response
	tries, err := c.retry(ctx, &request, func(answer *http.Response) error {
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return &lostError{err}
		}
		read = &Response{Status: answer.StatusCode, Header: answer.Header, Body: body}
		return nil
	})
	if err != nil {
		return nil, err
	}
	read.Tries = tries
	return read, nil
}

// open sends a request and returns the response, whose body is not read yet.
func (c *Client) open(ctx context.Context, request Request) (opened *http.Response, err error) {
	_, err = c.retry(ctx, &request, func(answer *http.Response) error {
		opened = answer
		return nil
	})
	return opened, err
}

// try sends a request once, or a read that is too long for a URL twice. The caller must close the response.
func (c *Client) try(ctx context.Context, request *Request) (*http.Response, error) {
	if c.isTooLong(request) {
		return c.tryLong(ctx, request)
	}
	return c.send(ctx, request)
}

// send sends a request once.
func (c *Client) send(ctx context.Context, request *Request) (*http.Response, error) {
	target := *c.base
	target.Path += request.Path
	target.RawQuery = request.Query
	var body io.Reader
	if request.Body != nil {
		body = bytes.NewReader(request.Body)
	}
	r, err := http.NewRequestWithContext(ctx, request.Method, target.String(), body)
	if err != nil {
		return nil, err
	}
	if c.options.APIVersion != 0 {
		r.Header.Set("API-Version", strconv.Itoa(c.options.APIVersion))
	}
	maps.Copy(r.Header, request.Header)
	bearer, err := c.options.Token(ctx)
	if err != nil {
		return nil, fmt.Errorf("no token for the request: %w", err)
	}
	if err := checkBearer(bearer); err != nil {
		return nil, err
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	answer, err := c.options.HTTPClient.Do(r)
	if dialled := (*net.OpError)(nil); errors.As(err, &dialled) && dialled.Op == "dial" {
		return nil, &unsentError{err}
	}
	if err != nil {
		return nil, &lostError{err}
	}
	if request.Method == "QUERY" && answer.Request.Method != request.Method {
		defer answer.Body.Close()
		return nil, &redirectedError{answer.Request.URL.Path}
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		defer answer.Body.Close()
		return nil, readError(r, answer)
	}
	return answer, nil
}

// checkBearer refuses a text that a header cannot contain. The error does not show it.
func checkBearer(bearer string) error {
	if strings.ContainsFunc(bearer, func(c rune) bool { return c < ' ' || c > '~' }) {
		return errors.New("the key or token has characters that are not printable ASCII: is there a line end behind it?")
	}
	return nil
}

// complete sets the headers that all attempts of a request share.
func (r *Request) complete(ctx context.Context) {
	header := http.Header{"Accept": {"application/json"}, "X-Request-Id": {requestID(ctx)}, "User-Agent": {"plural-go"}}
	if r.Body != nil {
		header.Set("Content-Type", "application/json")
	}
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !safe && !r.Repeatable && !r.Once {
		header.Set("Idempotency-Key", random())
	}
	for name, values := range r.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	r.Header = header
}

type requestIDKey struct{}

// WithRequestID returns a context whose requests have an id, by which they can be found in
// the logs of the server. Without it each request has its own, which is in
// Error.RequestID.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

func requestID(ctx context.Context) string {
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		return id
	}
	return random()
}

// random is a random text.
func random() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // which never fails
	return hex.EncodeToString(bits[:])
}
