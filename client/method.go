package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/plural-go/plural/problem"
)

// maxLine is the longest first line of a request that every proxy must be expected to accept (RFC 9112, section 3). The parameters of
// a longer read are sent by QUERY, in the body.
const maxLine = 8000

// isTooLong reports whether a read is to be sent by QUERY.
func (c *Client) isTooLong(r *Request) bool {
	line := len("GET ") + len(c.base.EscapedPath()) + len(r.Path) + len("?") + len(r.Query) + len(" HTTP/1.1")
	return r.long && r.Method == http.MethodGet && line > maxLine && !c.noQuery.Load()
}

// asQuery is a read with the parameters in the body (RFC 10008).
func (r *Request) asQuery() *Request {
	query := *r
	query.Method, query.Query, query.Body = "QUERY", "", []byte(r.Query)
	query.Header = r.Header.Clone()
	query.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return &query
}

// tryLong sends a long read by QUERY, and by GET if QUERY did not reach the server. Whether that is so is remembered once the GET has
// reached it.
func (c *Client) tryLong(ctx context.Context, request *Request) (*http.Response, error) {
	answer, err := c.send(ctx, request.asQuery())
	if err == nil || !refusesQuery(err) {
		return answer, err
	}
	answer, err = c.send(ctx, request)
	if err == nil || isOfServer(err) {
		c.noQuery.Store(true)
	}
	return answer, err
}

// redirectedError is the error of a QUERY that a redirect has made a GET without its parameters.
type redirectedError struct{ to string }

func (e *redirectedError) Error() string {
	return fmt.Sprintf("the request was redirected to %s, with another method", e.to)
}

// refusesQuery reports whether a QUERY was refused because of its method: by a server that does not know it, or by a proxy, whose
// refusals have many statuses, but no code.
func refusesQuery(err error) bool {
	var refused *Error
	switch {
	case errors.As(err, new(*redirectedError)):
		return true
	case !errors.As(err, &refused):
		return false
	case refused.Status == http.StatusMethodNotAllowed || refused.Status == http.StatusNotImplemented:
		return true
	case refused.Status == http.StatusBadRequest || refused.Status == http.StatusForbidden || refused.Status == http.StatusNotFound:
		return !isOfServer(err)
	}
	return false
}

// isOfServer reports whether an error is a response of a server, and not of a proxy.
func isOfServer(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Code() != problem.Code("")
}

// hasIncludes reports whether a query string embeds related resources.
func hasIncludes(query string) bool { return strings.Contains("&"+query, "&include=") }
