// Package fault constructs the errors of package problem for the server, and finds them in other
// errors.
package fault

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plural-go/plural/problem"
)

// New makes an error without a place.
func New(code problem.Code, format string, args ...any) *problem.Error {
	return &problem.Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// At makes an error about the member of the body at a JSON Pointer. A pointer
// that is too long to repeat becomes that of the object or array around it.
func At(pointer string, code problem.Code, format string, args ...any) *problem.Error {
	if len(pointer) > longest {
		pointer = pointer[:max(0, strings.LastIndexByte(pointer[:longest], '/'))]
	}
	return &problem.Error{Code: code, Detail: fmt.Sprintf(format, args...), Source: problem.Source{Pointer: pointer}}
}

// Parameter makes an error about a query parameter.
func Parameter(name string, code problem.Code, format string, args ...any) *problem.Error {
	return &problem.Error{Code: code, Detail: fmt.Sprintf(format, args...), Source: problem.Source{Parameter: shorten(name, longest)}}
}

// Header makes an error about a request header.
func Header(name string, code problem.Code, format string, args ...any) *problem.Error {
	return &problem.Error{Code: code, Detail: fmt.Sprintf(format, args...), Source: problem.Source{Header: name}}
}

// Internal is the error for clients of an unexpected error, of which it shows nothing.
func Internal(cause error) *problem.Error {
	return &problem.Error{Code: problem.CodeInternal, Detail: "The server failed to answer this request. The log has the reason under this request id.", Cause: cause}
}

// Inner is the outcome of a call that code inside the server made while it was
// answering a request: a hook that writes to another collection. Its faults are
// about that call. The hook can look at them, but they mean nothing to the
// client, which did not send it.
type Inner struct{ Err error }

// Error returns the message of the call's error.
func (e *Inner) Error() string { return e.Err.Error() }

// Unwrap returns the error of the call.
func (e *Inner) Unwrap() error { return e.Err }

// From returns all faults in an error, also in joined errors. If some faults are
// the client's, it returns only these. An error without faults becomes "internal"
// with the error as the hidden cause. So does a fault with an unknown code.
func From(err error) problem.Errors {
	var clients, own problem.Errors
	collect(err, &clients, &own)
	switch {
	case len(clients) > 0:
		return clients
	case len(own) > 0:
		return own
	}
	return problem.Errors{Internal(err)}
}

// collect sorts the faults in an error by whose they are.
func collect(err error, clients, own *problem.Errors) {
	switch err := err.(type) {
	case *problem.Error:
		switch {
		case err == nil: // in an interface, where it is an error all the same
			*own = append(*own, Internal(errors.New("an error that is nil")))
		case err.Code.Title() == "": // an unknown code
			*own = append(*own, Internal(err))
		case err.Status() < 500:
			*clients = append(*clients, err)
		default:
			*own = append(*own, err)
		}
	case *Inner:
		var others problem.Errors
		if collect(err.Err, &others, own); len(others) > 0 {
			*own = append(*own, Internal(err))
		}
	case interface{ Unwrap() error }:
		collect(err.Unwrap(), clients, own)
	case interface{ Unwrap() []error }:
		for _, each := range err.Unwrap() {
			collect(each, clients, own)
		}
	}
}

// Is reports whether the first fault of err has the code.
func Is(err error, code problem.Code) bool {
	return err != nil && From(err)[0].Code == code
}

// longest is how much of a client's text is repeated to it.
const longest = 500

// Quote repeats a text of the client in a detail, and not all of a long one.
func Quote(text string) string { return strconv.Quote(shorten(text, 60)) }

func shorten(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
