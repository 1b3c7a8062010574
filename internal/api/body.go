package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// decode reads the body of a write and validates it against its collection.
func (a *API) decode(r *http.Request, out *response, t *target, mode schema.Mode) ([]schema.Input, bool, error) {
	body, err := a.readBody(r, out)
	if err != nil {
		return nil, false, err
	}
	options := schema.DecodeOptions{Mode: mode, ID: t.id, MaxDepth: a.MaxDepth, MaxItems: a.MaxItems}
	if t.path.Parent != nil {
		options.Parent, options.ParentID = t.path.Collection.ParentLink(), *t.path.Parent
	}
	inputs, many, err := t.path.Collection.Decode(body, options)
	if faults := fault.From(err); err != nil && faults[0].Status() == http.StatusUnprocessableEntity {
		return nil, false, a.allViolations(r, t, inputs, many, faults)
	}
	return inputs, many, err
}

// allViolations adds to the faults of a body what only the stored resources can
// tell. What does not exist comes first: no body could change it.
func (a *API) allViolations(r *http.Request, t *target, inputs []schema.Input, many bool, faults fault.List) error {
	var others fault.List
	var err error
	if t.kind == collectionPath {
		others, err = a.Resources.CreateViolations(r.Context(), t.path, inputs, many)
	} else {
		others, err = a.Resources.UpdateViolations(r.Context(), t.path, t.id, inputs)
	}
	if err != nil {
		return err
	}
	return append(faults, others...)
}

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
