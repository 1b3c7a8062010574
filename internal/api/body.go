package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/plural-go/plural/internal/fault"
)

func (a *API) readBody(r *http.Request, out *response) ([]byte, error) {
	if r.ContentLength > a.MaxBody {
		out.Header().Set("Connection", "close") // what follows is not read
		return nil, a.tooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, a.MaxBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, a.tooLarge()
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return body, nil
}

func unreadable(err error) error {
	return &fault.Error{Code: fault.CodeMalformedRequest, Detail: "The body could not be read to its end.", Cause: err}
}

func (a *API) tooLarge() error {
	return fault.New(fault.CodeBodyTooLarge, "A body can have at most %d bytes.", a.MaxBody)
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
	return fault.New(fault.CodeUnexpectedBody, "%s takes no body.", r.Method)
}

func checkMediaType(r *http.Request) error {
	if encoding := strings.Join(r.Header.Values("Content-Encoding"), ", "); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return fault.Header("Content-Encoding", fault.CodeUnsupportedMediaType, "Bodies are taken without content coding.")
	}
	// A header given twice says two things at once, and so none that is accepted.
	given := strings.Join(r.Header.Values("Content-Type"), ", ")
	media, parameters, err := mime.ParseMediaType(given)
	charset, hasCharset := parameters["charset"]
	delete(parameters, "charset")
	if given == "" || err != nil || media != "application/json" || len(parameters) > 0 || hasCharset && !strings.EqualFold(charset, "utf-8") {
		return fault.Header("Content-Type", fault.CodeUnsupportedMediaType, "A body must be application/json, in UTF-8.")
	}
	return nil
}
