// Package problem is the error of the API: what a client is told in the member
// "errors" of a response, what a typed call of the library returns, and what a
// hook returns to refuse a change. It has a code for programs and a detail for
// people.
//
//	var refused *problem.Error
//	if errors.As(err, &refused) && refused.Code == problem.CodeNotUnique {
package problem

import (
	"strconv"
	"strings"
)

// Source says which part of a request an error is about. At most one of its
// members is set.
type Source struct {
	Pointer   string `json:"pointer,omitempty"`   // JSON Pointer into the body: "/email"
	Parameter string `json:"parameter,omitempty"` // query parameter as the client wrote it: "filter[nope]"
	Header    string `json:"header,omitempty"`    // name of a request header
}

// String is the member that is set.
func (s Source) String() string { return s.Pointer + s.Parameter + s.Header }

// Item splits a Pointer into an array: "/1207/email" is in item 1207, at "/email".
func (s Source) Item() (item int, rest string, ok bool) {
	number, found := strings.CutPrefix(s.Pointer, "/")
	if end := strings.IndexByte(number, '/'); end >= 0 {
		number, rest = number[:end], number[end:]
	}
	item, err := strconv.Atoi(number)
	return item, rest, found && err == nil && item >= 0
}

// Error is one thing that is wrong with a request, or with the server.
type Error struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail"` // for people; clients see it
	Source Source `json:"source"`
	Cause  error  `json:"-"` // clients never see it; it is logged, and errors.Is and As find it
}

// Error describes the error with its cause, for logs.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	if place := e.Source.String(); place != "" {
		b.WriteString(" at " + place)
	}
	b.WriteString(": " + e.Detail)
	if e.Cause != nil {
		b.WriteString(" (" + e.Cause.Error() + ")")
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Status is the HTTP status of the error's code. A number that is out of range is one of the body, but
// 400 if a query parameter asks for it.
func (e *Error) Status() int {
	if e.Code == CodeOutOfRange && e.Source.Parameter != "" {
		return 400
	}
	return e.Code.Status()
}

// Errors is several errors that are reported together. The first decides the
// status of the response. errors.As finds them in every error that has a code,
// and finds the first *Error as well.
type Errors []*Error

// Error joins the descriptions of all errors.
func (l Errors) Error() string {
	texts := make([]string, len(l))
	for i, e := range l {
		texts[i] = e.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives the errors, so that errors.As finds the first of them.
func (l Errors) Unwrap() []error {
	all := make([]error, len(l))
	for i, e := range l {
		all[i] = e
	}
	return all
}

// MaxErrors is how many errors a response lists. A body of a megabyte can hold a
// hundred thousand mistakes, more than a client can use.
const MaxErrors = 100

const more = " There are more errors than are listed."

// Add appends an error. From MaxErrors on it drops the error, and the detail of
// the last one says that there are more.
func (l *Errors) Add(e *Error) {
	if len(*l) < MaxErrors {
		*l = append(*l, e)
	} else if last := (*l)[len(*l)-1]; !strings.HasSuffix(last.Detail, more) {
		last.Detail += more
	}
}

// Err is the list as an error: nil if it is empty.
func (l Errors) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
