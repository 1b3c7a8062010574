package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Reply is a complete response, with its request.
type Reply struct {
	Method string
	URL    string
	sent   string
	extra  []string // headers of the request, as pairs
	Status int
	Header http.Header
	Body   []byte

	parsed    []Resource // of resources, once it was asked for
	wasParsed bool
}

// request is the request as text, for the report.
func (r *Reply) request() string {
	text := r.Method + " " + r.URL
	for i := 0; i < len(r.extra); i += 2 {
		text += "\n" + r.extra[i] + ": " + Shorten(r.extra[i+1])
	}
	if r.sent != "" {
		text += "\n" + Shorten(r.sent)
	}
	return text
}

// Summary is the status and the beginning of the body.
func (r *Reply) Summary() string {
	if len(r.Body) == 0 {
		return fmt.Sprintf("status %d without a body", r.Status)
	}
	return fmt.Sprintf("status %d, %s", r.Status, Shorten(string(r.Body)))
}

func Shorten(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if runes := []rune(text); len(runes) > 300 {
		return string(runes[:300]) + "…"
	}
	return text
}

func (r *Reply) Succeeded() bool { return r.Status >= 200 && r.Status < 300 }

// Members are the members of the body, nil if it is no object.
func (r *Reply) Members() map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(r.Body, &members) != nil {
		return nil
	}
	return members
}

// Data is the member data, or the body itself if there is none: only the checks of the envelope
// test that resources are wrapped.
func (r *Reply) Data() json.RawMessage {
	if data, wrapped := r.Members()["data"]; wrapped {
		return data
	}
	return r.Body
}

// Resources lists the one or several resources of the response.
func (r *Reply) Resources() []Resource {
	if r.wasParsed {
		return r.parsed
	}
	r.wasParsed = true
	data := bytes.TrimSpace(r.Data())
	if len(data) > 0 && data[0] == '{' {
		data = slices.Concat([]byte{'['}, data, []byte{']'})
	}
	if json.Unmarshal(data, &r.parsed) != nil {
		r.parsed = nil
	}
	return r.parsed
}

// Resource is the one resource of a response, empty if there is none.
func (r *Reply) Resource() Resource {
	if all := r.Resources(); len(all) == 1 {
		return all[0]
	}
	return Resource{}
}

func (r *Reply) IDs() []string {
	ids := []string{}
	for _, each := range r.Resources() {
		ids = append(ids, each.ID())
	}
	return ids
}

// CreatedID is the id of a new resource, from the body or the Location.
func (r *Reply) CreatedID() string {
	if id := r.Resource().ID(); id != "" {
		return id
	}
	location := r.Header.Get("Location")
	return strings.ToLower(location[strings.LastIndex(location, "/")+1:])
}

// Target resolves a reference in a header to a URL.
func (r *Reply) Target(reference string) string {
	base, err := url.Parse(r.URL)
	if err != nil {
		return reference
	}
	resolved, err := base.Parse(reference)
	if err != nil {
		return reference
	}
	return resolved.String()
}

// send sends a request to a path below the base, or to a whole URL. Headers
// are pairs of name and value; an empty value removes one. It does not send a
// request that could change resources of others, and sends none after the run
// was ended early.
func (s *Suite) send(ctx context.Context, method, path, body string, headers ...string) (*Reply, error) {
	if s.gaveUp != nil {
		return nil, s.gaveUp
	}
	if err := s.admit(method, path); err != nil {
		return nil, err
	}
	answer, err := s.exchange(ctx, method, path, body, headers...)
	if s.countUnanswered(err); err != nil {
		return nil, err
	}
	s.observe(path, answer)
	return answer, nil
}

// countUnanswered ends the run early when the server does not respond any more: each check would
// wait for the timeout of the client. A closed connection counts as a response.
func (s *Suite) countUnanswered(err error) {
	var failure net.Error
	var network *net.OpError
	late := errors.As(err, &failure) && failure.Timeout()
	gone := errors.As(err, &network) && network.Op == "dial"
	if s.Ctx.Err() != nil || !late && !gone {
		s.unanswered = 0
		return
	}
	if s.unanswered++; s.unanswered == mostUnanswered {
		s.gaveUp = fmt.Errorf("the run was given up after %d requests in a row without an answer: %w", mostUnanswered, err)
	}
}

// exchange sends any request and reads the response. If changes require If-Match, it sends If-Match: *.
func (s *Suite) exchange(ctx context.Context, method, path, body string, headers ...string) (*Reply, error) {
	at, _ := s.place(path)
	anyState := append(slices.Clip(headers), "If-Match", "*")
	isChange := slices.Contains(ChangeMethods, method) && !slices.Contains(headers, "If-Match")
	if _, needsIfMatch := s.needsIfMatch.Load(at.collection); needsIfMatch && isChange {
		return s.exchangeOnce(ctx, method, path, body, anyState...)
	}
	answer, err := s.exchangeOnce(ctx, method, path, body, headers...)
	if err == nil && answer.Status == http.StatusPreconditionRequired && isChange {
		s.needsIfMatch.Store(at.collection, true)
		return s.exchangeOnce(ctx, method, path, body, anyState...)
	}
	return answer, err
}

func (s *Suite) exchangeOnce(ctx context.Context, method, path, body string, headers ...string) (*Reply, error) {
	request := s.newRequest(method, path, body, headers)
	response, err := s.open(ctx, request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, s.largestBody+1))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, request.URL, err)
	}
	if int64(len(text)) > s.largestBody {
		return nil, fmt.Errorf("%s %s: the body of the answer has more than %d bytes", method, request.URL, s.largestBody)
	}
	request.Status, request.Header, request.Body = response.StatusCode, response.Header, text
	return request, nil
}

// newRequest is a request without its response yet.
func (s *Suite) newRequest(method, path, body string, headers []string) *Reply {
	address := path
	if !strings.HasPrefix(path, "http://") && !strings.HasPrefix(path, "https://") {
		address = s.Base + path
	}
	return &Reply{Method: method, URL: address, sent: body, extra: headers}
}

// open sends a request, and leaves the body of the response to be read.
func (s *Suite) open(ctx context.Context, r *Reply) (*http.Response, error) {
	var content io.Reader
	if r.sent != "" {
		content = strings.NewReader(r.sent)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, content)
	if err != nil {
		return nil, err
	}
	for name, values := range s.options.Headers {
		request.Header[http.CanonicalHeaderKey(name)] = values
		if http.CanonicalHeaderKey(name) == "Host" && len(values) > 0 {
			request.Host = values[0] // net/http takes it from here alone
		}
	}
	if r.sent != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(r.extra); i += 2 {
		request.Header.Set(r.extra[i], r.extra[i+1])
		if r.extra[i+1] == "" {
			request.Header.Del(r.extra[i])
		}
	}
	return s.client.Do(request)
}
