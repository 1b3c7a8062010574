// Package fault holds the one error type of the program: a stable code that a
// client can act on, a detail that is safe to show, the place in the request
// that is to blame, and a cause that only the log sees.
package fault

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Source says which part of a request an error is about. At most one of its
// members is set.
type Source struct {
	Pointer   string // JSON Pointer into the body, for example "/email"
	Parameter string // query parameter as the client wrote it, for example "filter[nope]"
	Header    string // name of a request header
}

// Error is one thing that is wrong with a request, or with us.
type Error struct {
	Code   Code
	Detail string // for people; never SQL, stack traces or file names
	Source Source
	Cause  error // for the log only
}

// New makes an error without a place.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// At makes an error about the member of the body at a JSON Pointer. A pointer
// that is too long to repeat becomes that of the object or array around it.
func At(pointer string, code Code, format string, args ...any) *Error {
	if len(pointer) > longest {
		pointer = pointer[:max(0, strings.LastIndexByte(pointer[:longest], '/'))]
	}
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...), Source: Source{Pointer: pointer}}
}

// Parameter makes an error about a query parameter.
func Parameter(name string, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...), Source: Source{Parameter: shorten(name, longest)}}
}

// Header makes an error about a request header.
func Header(name string, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...), Source: Source{Header: name}}
}

// Internal hides an unexpected error behind a detail that tells nothing.
func Internal(cause error) *Error {
	return &Error{Code: CodeInternal, Detail: "The server failed to answer this request. The log has the reason under this request id.", Cause: cause}
}

// Error describes the fault for logs; clients are given Detail alone.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	if place := e.Source.Pointer + e.Source.Parameter + e.Source.Header; place != "" {
		b.WriteString(" at " + place)
	}
	b.WriteString(": " + e.Detail)
	if e.Cause != nil {
		b.WriteString(" (" + e.Cause.Error() + ")")
	}
	return b.String()
}

// Unwrap gives the hidden cause.
func (e *Error) Unwrap() error { return e.Cause }

// Status is the HTTP status of the error's code.
func (e *Error) Status() int { return e.Code.Status() }

// List is several errors that are reported together. The status of the first
// is the status of the answer.
type List []*Error

// Unwrap gives the errors, so that errors.As finds the first of them.
func (l List) Unwrap() []error {
	all := make([]error, len(l))
	for i, e := range l {
		all[i] = e
	}
	return all
}

// Error joins the descriptions of all errors.
func (l List) Error() string {
	texts := make([]string, len(l))
	for i, e := range l {
		texts[i] = e.Error()
	}
	return strings.Join(texts, "; ")
}

// Most is how many errors are listed. A request of a megabyte can hold a hundred
// thousand mistakes, and nobody reads so many.
const Most = 100

const more = " There are more errors than are listed."

// Full reports whether no more errors are listed, and has the last one say so:
// it is called when there is another.
func (l List) Full() bool {
	if len(l) < Most {
		return false
	}
	if last := l[len(l)-1]; !strings.HasSuffix(last.Detail, more) {
		last.Detail += more
	}
	return true
}

// Add appends an error unless the list is full.
func (l *List) Add(e *Error) {
	if !l.Full() {
		*l = append(*l, e)
	}
}

// Err is the list as an error: nil when nothing was added.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// Inner is the outcome of a call that code inside the server made while it was
// answering a request: a hook that writes to another collection. Its faults are
// about that call. Whoever made it can look at them, but they mean nothing to
// the client, who never sent it.
type Inner struct{ Err error }

// Error is that of the call.
func (e *Inner) Error() string { return e.Err.Error() }

// Unwrap gives the faults of the call.
func (e *Inner) Unwrap() error { return e.Err }

// From turns any error into a list of faults: all that are in it, also of errors
// that were joined. Those that are the client's come alone. An error without
// any becomes "internal", with itself as the hidden cause, and so does a fault
// whose code nobody knows.
func From(err error) List {
	var clients, own List
	collect(err, &clients, &own)
	switch {
	case len(clients) > 0:
		return clients
	case len(own) > 0:
		return own
	}
	return List{Internal(err)}
}

// collect sorts the faults in an error by whose they are.
func collect(err error, clients, own *List) {
	switch err := err.(type) {
	case *Error:
		switch {
		case err == nil: // in an interface, where it is an error all the same
			*own = append(*own, Internal(errors.New("an error that is nil")))
		case !err.Code.known():
			*own = append(*own, Internal(err))
		case err.Status() < 500:
			*clients = append(*clients, err)
		default:
			*own = append(*own, err)
		}
	case *Inner:
		var others List
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
func Is(err error, code Code) bool {
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
