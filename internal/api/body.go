package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

func (a *API) readBody(r *http.Request, out *response) ([]byte, error) {
	if r.ContentLength > a.MaxBody {
		out.Header().Set("Connection", "close") // what follows is not read
		return nil, a.tooLarge()
	}
	body, err := a.readAll(r, out)
	var large *http.MaxBytesError
	var refused *problem.Error
	switch {
	case errors.As(err, &large):
		return nil, a.tooLarge()
	case errors.As(err, &refused):
		out.Header().Set("Connection", "close")
		return nil, refused
	case err != nil:
		return nil, unreadable(err)
	}
	return body, nil
}

// firstPiece is how much memory a body gets to begin with, unless it says that it is shorter.
const firstPiece = 4 << 10

// readAll reads a body. The memory for it is taken from the budget as it grows, so that
// who announces much and sends little takes little.
func (a *API) readAll(r *http.Request, out *response) ([]byte, error) {
	deadline := http.NewResponseController(out.ResponseWriter)
	out.upload = a.bodies.begin(shareOf(out), func() { _ = deadline.SetReadDeadline(time.Unix(1, 0)) }) // in the past
	most := a.MaxBody
	if r.ContentLength >= 0 {
		most = r.ContentLength
	}
	most++ // to see that there is no more
	from := http.MaxBytesReader(out, r.Body, a.MaxBody)
	var body []byte
	for {
		if len(body) == cap(body) {
			size := min(max(firstPiece, 2*int64(cap(body))), most)
			if size == int64(cap(body)) {
				size++ // the reader ends it
			}
			if err := out.upload.take(size - int64(cap(body))); err != nil {
				return nil, err
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		out.upload.came(n)
		if err == nil {
			continue
		}
		if slow := out.upload.arrived(); err == io.EOF {
			return body, nil
		} else if slow {
			return nil, fault.New(problem.CodeOverloaded, "The body came so slowly that its place was given to others, as there is little memory left for bodies. Try again later.")
		}
		return nil, err
	}
}

func unreadable(err error) error {
	return &problem.Error{Code: problem.CodeMalformedRequest, Detail: "The body could not be read to its end.", Cause: err}
}

func (a *API) tooLarge() error {
	return fault.New(problem.CodeBodyTooLarge, "A body can have at most %d bytes.", a.MaxBody)
}

// takesBody refuses a body where none is expected, and one that is not JSON
// where one is.
func takesBody(r *http.Request) error {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		return checkMediaType(r)
	}
	if r.ContentLength == 0 || r.Body == nil {
		return nil
	}
	if r.ContentLength < 0 { // chunked: there may be nothing in it
		n, err := io.ReadFull(r.Body, make([]byte, 1))
		if n == 0 && err == io.EOF {
			return nil
		}
		if n == 0 {
			return unreadable(err)
		}
	}
	return fault.New(problem.CodeUnexpectedBody, "%s takes no body.", r.Method)
}

func checkMediaType(r *http.Request) error {
	if encoding := strings.Join(r.Header.Values("Content-Encoding"), ", "); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return fault.Header("Content-Encoding", problem.CodeUnsupportedMediaType, "Bodies are taken without content coding.")
	}
	// A header given twice says two things at once, and so none that is accepted.
	given := strings.Join(r.Header.Values("Content-Type"), ", ")
	media, parameters, err := mime.ParseMediaType(given)
	charset, hasCharset := parameters["charset"]
	delete(parameters, "charset")
	if given == "" || err != nil || media != "application/json" || len(parameters) > 0 || hasCharset && !strings.EqualFold(charset, "utf-8") {
		return fault.Header("Content-Type", problem.CodeUnsupportedMediaType, "A body must be application/json, in UTF-8.")
	}
	return nil
}
