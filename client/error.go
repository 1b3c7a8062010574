package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/problem"
)

// Error is a response that is not a success. errors.As also finds the first
// *problem.Error in it, and all of them as problem.Errors.
type Error struct {
	Status int // of the response; for an operation that failed, of its first error

	// Errors are what the server lists: at least one. If the response is not the
	// server's, but that of a proxy for example, it is one error without a Code.
	Errors problem.Errors

	Request    string        // method and path
	RequestID  string        // in the log of the server
	RetryAfter time.Duration // zero: the server did not say
	Tries      int           // how often the request was sent
}

// Error lists the details of all errors.
func (e *Error) Error() string {
	texts := make([]string, len(e.Errors))
	for i, each := range e.Errors {
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

// Unwrap returns Errors.
func (e *Error) Unwrap() error { return e.Errors }

// Code is the code of the first error.
func (e *Error) Code() problem.Code { return e.Errors[0].Code }

// Has reports whether one of the errors has a code.
func (e *Error) Has(code problem.Code) bool {
	return slices.ContainsFunc(e.Errors, func(each *problem.Error) bool { return each.Code == code })
}

// maxErrorBody bounds how much of an error response is read.
const maxErrorBody = 1 << 20

// readError makes an error of a response. A response without the errors of a server comes from a
// proxy, and only its status is used.
func readError(r *http.Request, answer *http.Response) error {
	e := &Error{
		Status:  answer.StatusCode,
		Request: r.Method + " " + r.URL.Path, RequestID: cmp.Or(answer.Header.Get("X-Request-Id"), r.Header.Get("X-Request-Id")),
		RetryAfter: retryAfter(answer.Header.Get("Retry-After"), time.Now()),
	}
	var envelope struct{ Errors problem.Errors }
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
	if err != nil {
		return &lostError{err} // with the reason, which decides whether to try again
	}
	if json.Unmarshal(body, &envelope) == nil && len(envelope.Errors) > 0 && !slices.Contains(envelope.Errors, nil) {
		e.Errors = envelope.Errors
	} else {
		e.Errors = problem.Errors{{Detail: http.StatusText(answer.StatusCode) + "."}}
	}
	return e
}

// HasCode reports whether an error is a response of the server with a code.
func HasCode(err error, code problem.Code) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Has(code)
}

func hasStatus(err error, status int) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == status
}

// IsNotFound reports whether there is no such resource, or no such collection.
func IsNotFound(err error) bool { return hasStatus(err, http.StatusNotFound) }

// IsConflict reports whether a write conflicts with stored resources: an id that exists, a
// value that must be unique, a resource that others refer to.
func IsConflict(err error) bool { return hasStatus(err, http.StatusConflict) }

// IsChanged reports whether a resource no longer has the ETag of IfMatch.
func IsChanged(err error) bool { return hasStatus(err, http.StatusPreconditionFailed) }

// IsInvalid reports whether attributes are not valid. Error.Errors has their places.
func IsInvalid(err error) bool { return hasStatus(err, http.StatusUnprocessableEntity) }

// IsUnauthenticated reports whether the key or token is missing or not valid.
func IsUnauthenticated(err error) bool { return hasStatus(err, http.StatusUnauthorized) }

// IsForbidden reports whether the caller may not do this.
func IsForbidden(err error) bool { return hasStatus(err, http.StatusForbidden) }

// IsUnavailable reports whether the server could not execute the request, but may be able
// to later.
func IsUnavailable(err error) bool {
	return hasStatus(err, http.StatusServiceUnavailable) || hasStatus(err, http.StatusTooManyRequests)
}
