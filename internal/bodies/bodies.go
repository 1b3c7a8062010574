// Package bodies reads the bodies of requests, in memory that is taken from a budget.
package bodies

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/problem"
)

// The media types of bodies.
const (
	JSON = "application/json"
	Form = "application/x-www-form-urlencoded" // parameters as in a URL
)

// Read reads a body of at most some bytes. Its memory is held by the reservation.
func Read(w http.ResponseWriter, r *http.Request, held *limit.Reservation, most int64) ([]byte, error) {
	if r.ContentLength > most {
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, tooLarge(most)
	}
	body, err := readAll(w, r, held, most)
	if err == nil {
		return body, nil
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, tooLarge(most)
	}
	if refused, ok := errors.AsType[*problem.Error](err); ok {
		w.Header().Set("Connection", "close")
		return nil, refused
	}
	return nil, unreadable(err)
}

// firstPiece is the initial buffer of a body, unless its Content-Length is smaller.
const firstPiece = 4 << 10

// readAll reads a body. All the memory that it may need is taken from the budget first: bodies that take more as
// they grow could wait for each other. What was not needed is given back when the body has arrived.
func readAll(w http.ResponseWriter, r *http.Request, held *limit.Reservation, most int64) ([]byte, error) {
	from := http.MaxBytesReader(w, r.Body, most)
	if r.ContentLength >= 0 {
		most = r.ContentLength
	}
	most++ // to detect a longer body
	if err := held.Take(most); err != nil {
		return nil, err
	}
	body := make([]byte, 0, min(firstPiece, most))
	for {
		if len(body) == cap(body) {
			size := most
			if r.ContentLength < 0 { // most bodies of unknown length are short
				size = min(2*int64(cap(body)), most)
			}
			body = append(newBuffer(size), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		held.Received(n)
		fits := int64(len(body)) < most
		if err == nil && fits {
			continue
		}
		slow := held.Arrived(int64(cap(body)))
		if err == io.EOF && fits {
			return body, nil
		}
		abandoned.Put(&body)
		if slow {
			return nil, fault.New(problem.CodeOverloaded, "The body arrived too slowly while the server was short of memory for bodies. Try again later.")
		}
		// A handler before this one may have replaced the body, and not its length.
		return nil, cmp.Or(err, errors.New("the body is longer than its Content-Length"))
	}
}

// abandoned has buffers of bodies that did not arrive completely, for others of about the same size. Until the garbage
// is collected, clients that disconnect or are too slow would otherwise make bodies take a multiple of their budget. The
// buffer of a complete body is not used again: what was decoded may refer to it.
var abandoned sync.Pool

// newBuffer returns an empty buffer of at least a size.
func newBuffer(size int64) []byte {
	if buffer, ok := abandoned.Get().(*[]byte); ok && size <= int64(cap(*buffer)) && int64(cap(*buffer)) <= 2*size {
		return (*buffer)[:0]
	}
	return make([]byte, 0, size)
}

func unreadable(err error) error {
	return &problem.Error{Code: problem.CodeMalformedRequest, Detail: "The body could not be read completely.", Cause: err}
}

func tooLarge(most int64) error {
	return fault.New(problem.CodeBodyTooLarge, "The body is too large. Send at most %d bytes.", most)
}

// Check refuses a body where none is expected, and one that is not JSON where one is
// expected.
func Check(r *http.Request) error {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		return CheckMediaType(r, JSON)
	}
	if r.ContentLength == 0 || r.Body == nil {
		return nil
	}
	if r.ContentLength < 0 { // chunked: it may be empty
		n, err := io.ReadFull(r.Body, make([]byte, 1))
		if n == 0 && err == io.EOF {
			return nil
		}
		if n == 0 {
			return unreadable(err)
		}
	}
	return fault.New(problem.CodeUnexpectedBody, "%s must not have a body. Send it without one.", r.Method)
}

// CheckMediaType refuses a body of another media type, or in another encoding than UTF-8.
func CheckMediaType(r *http.Request, wanted string) error {
	if given := r.Header["Content-Type"]; len(given) == 1 && given[0] == wanted && r.Header["Content-Encoding"] == nil {
		return nil // what nearly all clients send
	}
	if encoding := strings.Join(r.Header.Values("Content-Encoding"), ", "); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return fault.Header("Content-Encoding", problem.CodeUnsupportedMediaType, "Send the body without Content-Encoding.")
	}
	// Two values contradict each other, so a repeated header is refused.
	given := strings.Join(r.Header.Values("Content-Type"), ", ")
	media, parameters, err := mime.ParseMediaType(given)
	charset, hasCharset := parameters["charset"]
	delete(parameters, "charset")
	if given == "" || err != nil || media != wanted || len(parameters) > 0 || hasCharset && !strings.EqualFold(charset, "utf-8") {
		came := "the request has no Content-Type"
		if given != "" {
			came = "the Content-Type is " + fault.Quote(given)
		}
		what := "JSON"
		if wanted == Form {
			what = "parameters as in a URL,"
		}
		return fault.Header("Content-Type", problem.CodeUnsupportedMediaType, "The body must be %s in UTF-8, but %s. Send Content-Type: %s.", what, came, wanted)
	}
	return nil
}
