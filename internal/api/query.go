package api

import (
	"maps"
	"net/http"
	"slices"

	"github.com/plural-go/plural/internal/bodies"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// methodQuery is a GET whose parameters are in the body (RFC 10008), so that they can be longer than a URL.
const methodQuery = "QUERY"

// maxParameters bounds the bytes of the parameters in a body.
const maxParameters = 1 << 20

var acceptQuery = []string{bodies.Form}

// asGet returns the GET that a QUERY stands for, with the parameters of the body. It is called when the caller is admitted, so that
// nobody else can make the server read a body.
func (a *API) asGet(r *http.Request, out *response, t *target) (*http.Request, error) {
	if r.Header["Content-Type"] != nil {
		if err := bodies.CheckMediaType(r, bodies.Form); err != nil {
			return nil, err
		}
	}
	out.timer.Pause() // the time of the client
	body, err := a.readBody(r, out, min(a.MaxBody, maxParameters))
	out.timer.Restart()
	if err != nil {
		return nil, err
	}
	get := *r
	get.URL = new(*r.URL)
	switch {
	case len(body) == 0:
	case r.Header["Content-Type"] == nil:
		return nil, bodies.CheckMediaType(r, bodies.Form)
	case r.URL.RawQuery != "":
		return nil, fault.New(problem.CodeMalformedQuery, "The URL and the body both have parameters. Send all of them in the body.")
	default:
		get.URL.RawQuery = string(body)
	}
	get.Method, get.Body, get.ContentLength = http.MethodGet, http.NoBody, 0
	get.Header = maps.Clone(r.Header)
	for _, name := range []string{"If-Match", "If-None-Match", "Content-Type", "Content-Length"} {
		delete(get.Header, name)
	}
	t.query = true
	return &get, nil
}

// takesQuery reports whether a QUERY of the target is a GET.
func (t *target) takesQuery() bool { return slices.Contains(t.allowed(), methodQuery) }

// addAcceptQuery says what a QUERY of a list can have as its body.
func (t *target) addAcceptQuery(head http.Header) {
	if t.takesQuery() {
		head["Accept-Query"] = acceptQuery
	}
}
