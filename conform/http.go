package conform

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

// reply is a complete response, with its request.
type reply struct {
	method string
	url    string
	sent   string
	extra  []string // headers of the request, as pairs
	status int
	header http.Header
	body   []byte

	parsed    []resource // of resources, once it was asked for
	wasParsed bool
}

// request is the request as text, for the report.
func (r *reply) request() string {
	text := r.method + " " + r.url
	for i := 0; i < len(r.extra); i += 2 {
		text += "\n" + r.extra[i] + ": " + shorten(r.extra[i+1])
	}
	if r.sent != "" {
		text += "\n" + shorten(r.sent)
	}
	return text
}

// summary is the status and the beginning of the body.
func (r *reply) summary() string {
	if len(r.body) == 0 {
		return fmt.Sprintf("status %d without a body", r.status)
	}
	return fmt.Sprintf("status %d, %s", r.status, shorten(string(r.body)))
}

func shorten(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if runes := []rune(text); len(runes) > 300 {
		return string(runes[:300]) + "…"
	}
	return text
}

func (r *reply) succeeded() bool { return r.status >= 200 && r.status < 300 }

// members are the members of the body, nil if it is no object.
func (r *reply) members() map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(r.body, &members) != nil {
		return nil
	}
	return members
}

// data is the member data, or the body itself if there is none: only the checks of the envelope
// test that resources are wrapped.
func (r *reply) data() json.RawMessage {
	if data, wrapped := r.members()["data"]; wrapped {
		return data
	}
	return r.body
}

// resources lists the one or several resources of the response.
func (r *reply) resources() []resource {
	if r.wasParsed {
		return r.parsed
	}
	r.wasParsed = true
	data := bytes.TrimSpace(r.data())
	if len(data) > 0 && data[0] == '{' {
		data = slices.Concat([]byte{'['}, data, []byte{']'})
	}
	if json.Unmarshal(data, &r.parsed) != nil {
		r.parsed = nil
	}
	return r.parsed
}

// resource is the one resource of a response, empty if there is none.
func (r *reply) resource() resource {
	if all := r.resources(); len(all) == 1 {
		return all[0]
	}
	return resource{}
}

func (r *reply) ids() []string {
	ids := []string{}
	for _, each := range r.resources() {
		ids = append(ids, each.id())
	}
	return ids
}

// createdID is the id of a new resource, from the body or the Location.
func (r *reply) createdID() string {
	if id := r.resource().id(); id != "" {
		return id
	}
	location := r.header.Get("Location")
	return strings.ToLower(location[strings.LastIndex(location, "/")+1:])
}

// target resolves a reference in a header to a URL.
func (r *reply) target(reference string) string {
	base, err := url.Parse(r.url)
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
func (s *suite) send(ctx context.Context, method, path, body string, headers ...string) (*reply, error) {
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
func (s *suite) countUnanswered(err error) {
	var failure net.Error
	var network *net.OpError
	late := errors.As(err, &failure) && failure.Timeout()
	gone := errors.As(err, &network) && network.Op == "dial"
	if s.ctx.Err() != nil || !late && !gone {
		s.unanswered = 0
		return
	}
	if s.unanswered++; s.unanswered == mostUnanswered {
		s.gaveUp = fmt.Errorf("the run was given up after %d requests in a row without an answer: %w", mostUnanswered, err)
	}
}

// exchange sends any request and reads the response. If changes require If-Match, it sends If-Match: *.
func (s *suite) exchange(ctx context.Context, method, path, body string, headers ...string) (*reply, error) {
	at, _ := s.place(path)
	anyState := append(slices.Clip(headers), "If-Match", "*")
	isChange := slices.Contains(changeMethods, method) && !slices.Contains(headers, "If-Match")
	if _, careful := s.careful.Load(at.collection); careful && isChange {
		return s.exchangeOnce(ctx, method, path, body, anyState...)
	}
	answer, err := s.exchangeOnce(ctx, method, path, body, headers...)
	if err == nil && answer.status == http.StatusPreconditionRequired && isChange {
		s.careful.Store(at.collection, true)
		return s.exchangeOnce(ctx, method, path, body, anyState...)
	}
	return answer, err
}

func (s *suite) exchangeOnce(ctx context.Context, method, path, body string, headers ...string) (*reply, error) {
	address := path
	if !strings.HasPrefix(path, "http://") && !strings.HasPrefix(path, "https://") {
		address = s.base + path
	}
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, err
	}
	for name, values := range s.options.Headers {
		request.Header[http.CanonicalHeaderKey(name)] = values
		if http.CanonicalHeaderKey(name) == "Host" && len(values) > 0 {
			request.Host = values[0] // net/http takes it from here alone
		}
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			request.Header.Del(headers[i])
		}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, s.largestBody+1))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, address, err)
	}
	if int64(len(text)) > s.largestBody {
		return nil, fmt.Errorf("%s %s: the body of the answer has more than %d bytes", method, address, s.largestBody)
	}
	return &reply{method: method, url: address, sent: body, extra: headers, status: response.StatusCode, header: response.Header, body: text}, nil
}
