package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Problem is one thing that is wrong with a request.
type Problem struct {
	Status int    `json:"status"`
	Code   Code   `json:"code"`   // for programs
	Title  string `json:"title"`  // the same for every problem of the code
	Detail string `json:"detail"` // for people
	Source Source `json:"source"`
}

// Source says which part of a request a problem is about. At most one of its members
// is set.
type Source struct {
	Pointer   string `json:"pointer,omitempty"`   // JSON Pointer into the body: "/email"
	Parameter string `json:"parameter,omitempty"` // query parameter: "filter[nope]"
	Header    string `json:"header,omitempty"`
}

func (s Source) String() string { return s.Pointer + s.Parameter + s.Header }

// Error is an answer that is no success. Its own members are those of the first
// problem, which decides the status.
type Error struct {
	Problem

	// Problems are all that the server lists, the first one included.
	Problems []Problem

	Request    string        // method and path
	RequestID  string        // by which the server's log has it
	RetryAfter time.Duration // zero: the server did not say
	Tries      int           // how often the request was sent
}

// Error says what is wrong, problem by problem.
func (e *Error) Error() string {
	texts := make([]string, len(e.Problems))
	for i, each := range e.Problems {
		texts[i] = string(each.Code)
		if place := each.Source.String(); place != "" {
			texts[i] += " at " + place
		}
		if each.Detail != "" {
			texts[i] += ": " + each.Detail
		}
	}
	return fmt.Sprintf("%s: %d %s", e.Request, e.Status, strings.Join(texts, "; "))
}

// Has reports whether one of the problems has a code.
func (e *Error) Has(code Code) bool {
	for _, each := range e.Problems {
		if each.Code == code {
			return true
		}
	}
	return false
}

// maxErrorBody bounds what is read of a failure.
const maxErrorBody = 1 << 20

// readError makes an error of an answer. One that is not in the server's words comes
// from something in between, and has the status alone.
func readError(r *http.Request, answer *http.Response) error {
	e := &Error{
		Request: r.Method + " " + r.URL.Path, RequestID: answer.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(answer.Header.Get("Retry-After"), time.Now()),
	}
	if e.RequestID == "" {
		e.RequestID = r.Header.Get("X-Request-Id")
	}
	var envelope struct{ Errors []Problem }
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
	if err != nil {
		return &lostError{err} // with the reason, which decides whether to try again
	}
	if json.Unmarshal(body, &envelope) == nil && len(envelope.Errors) > 0 {
		e.Problems = envelope.Errors
	} else {
		e.Problems = []Problem{{Code: CodeNone, Title: http.StatusText(answer.StatusCode), Detail: http.StatusText(answer.StatusCode) + "."}}
	}
	e.Problems[0].Status = answer.StatusCode
	e.Problem = e.Problems[0]
	return e
}

// HasCode reports whether an error is the server's, with a problem of the code.
func HasCode(err error, code Code) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Has(code)
}

func hasStatus(err error, status int) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == status
}

// IsNotFound reports whether there is no such resource, or no such collection.
func IsNotFound(err error) bool { return hasStatus(err, http.StatusNotFound) }

// IsConflict reports whether a write is in conflict with what is stored: an id that
// exists, a value that is taken, a resource that others refer to.
func IsConflict(err error) bool { return hasStatus(err, http.StatusConflict) }

// IsChanged reports whether a resource is no longer in the state that IfMatch said.
func IsChanged(err error) bool { return hasStatus(err, http.StatusPreconditionFailed) }

// IsInvalid reports whether attributes are not valid. Error.Problems has their places.
func IsInvalid(err error) bool { return hasStatus(err, http.StatusUnprocessableEntity) }

// IsUnauthenticated reports whether the key or token is missing or not valid.
func IsUnauthenticated(err error) bool { return hasStatus(err, http.StatusUnauthorized) }

// IsForbidden reports whether the bearer of the key may not do this.
func IsForbidden(err error) bool { return hasStatus(err, http.StatusForbidden) }

// IsUnavailable reports whether the server could not take the request, and may do so
// later.
func IsUnavailable(err error) bool {
	return hasStatus(err, http.StatusServiceUnavailable) || hasStatus(err, http.StatusTooManyRequests)
}
