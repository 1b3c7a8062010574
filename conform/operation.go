package conform

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
)

// support is whether the server executes writes asynchronously when asked to.
type support int

const (
	undecided support = iota
	supported
	unsupported
)

const (
	operationsName  = "operations"
	defaultPatience = 30 * time.Second

	notSupported = "not supported: the server answers synchronously, also with Prefer: respond-async"
)

// mistake is an error of the server in a step that comes before what a check tests.
type mistake struct {
	answer        *reply
	expected, got string
}

func (m *mistake) Error() string {
	return m.answer.request() + "\nexpected " + m.expected + "\ngot " + m.got
}

// isWriteOfOne reports whether a request writes one resource. Only such writes can be executed
// asynchronously, writes of arrays cannot.
func isWriteOfOne(method, body string) bool {
	isWrite := slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, method)
	return isWrite && !strings.HasPrefix(body, "[")
}

// decideAsync finds out by a first request whether the server executes writes asynchronously. It
// need not: by RFC 7240 a server may ignore a preference.
func (s *suite) decideAsync() error {
	if s.async != undecided {
		return nil
	}
	s.counter++
	members, err := s.members(s.collection, s.counter)
	if err != nil {
		return err
	}
	answer, err := s.send(s.ctx, http.MethodPost, s.collection.path(), encodeJSON(members), "Prefer", "respond-async")
	if err != nil {
		return err
	}
	if s.async = supported; answer.succeeded() && answer.status != http.StatusAccepted {
		s.async = unsupported
	}
	return s.awaitLeniently(answer)
}

// noteAccepted remembers the operation of an answer, which may have an effect
// until it is known to be finished.
func (s *suite) noteAccepted(answer *reply) {
	if url, ok := s.operationURL(answer); ok && answer.status == http.StatusAccepted && !slices.Contains(s.unfinished, url) {
		s.unfinished = append(s.unfinished, url)
	}
}

// operationURL is the URL of the operation of a response, if it is in the collection of
// operations.
func (s *suite) operationURL(accepted *reply) (string, bool) {
	location := accepted.header.Get("Location")
	url := accepted.target(location)
	return url, location != "" && strings.HasPrefix(url, s.base+"/"+operationsName+"/")
}

// await reads the operation of an answer until it is finished.
func (s *suite) await(ctx context.Context, accepted *reply) (*reply, error) {
	url, ok := s.operationURL(accepted)
	if !ok {
		return nil, &mistake{accepted, "Location, the path of an operation", "Location: " + encodeJSON(accepted.header.Get("Location"))}
	}
	return s.awaitOperation(ctx, url)
}

func (s *suite) awaitOperation(ctx context.Context, url string) (*reply, error) {
	started := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		answer, err := s.send(ctx, http.MethodGet, url, "")
		if err != nil {
			return nil, err
		}
		if !answer.succeeded() || answer.resource().text("status") == "" {
			return nil, &mistake{answer, "the operation, with its status", answer.summary()}
		}
		if slices.Contains([]string{"succeeded", "failed"}, answer.resource().text("status")) {
			s.finish(url)
			return answer, nil
		}
		if time.Since(started) > s.patience {
			waited := s.patience
			s.hurry()
			return nil, &mistake{answer, "an operation that is finished within " + waited.String(), answer.summary()}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// hurry shortens the time for later operations: if one does not end, none may end.
func (s *suite) hurry() { s.patience = min(s.patience, time.Second) }

// awaitLeniently waits until the write of a response has taken effect, and ignores errors: the
// checks report them.
func (s *suite) awaitLeniently(answer *reply) error {
	if answer.status != http.StatusAccepted {
		return nil
	}
	_, err := s.await(s.ctx, answer)
	if broken := (*mistake)(nil); errors.As(err, &broken) {
		return nil
	}
	return err
}

// awaitUnfinished waits for operations that no check has waited for, because they would change what
// later checks read. It ignores errors: the checks report them.
func (s *suite) awaitUnfinished(ctx context.Context) {
	for len(s.unfinished) > 0 && s.gaveUp == nil && ctx.Err() == nil {
		url := s.unfinished[0]
		_, _ = s.awaitOperation(ctx, url)
		s.finish(url) // also if waiting failed
	}
}

func (s *suite) finish(url string) {
	s.unfinished = slices.DeleteFunc(s.unfinished, func(each string) bool { return each == url })
}

// removalFailed waits for an accepted deletion, and reports whether it failed. If the response names
// no operation, it assumes success.
func (s *suite) removalFailed(ctx context.Context, accepted *reply) bool {
	if _, ok := s.operationURL(accepted); !ok {
		return false
	}
	operation, err := s.await(ctx, accepted)
	return err != nil || operation.resource().text("status") == "failed"
}

// settle waits for the operation of an accepted write. It returns the response that a synchronous
// write would have had: the resource as it is then, or the errors.
func (s *suite) settle(ctx context.Context, path string, accepted *reply) (*reply, error) {
	operation, err := s.await(ctx, accepted)
	if err != nil {
		return nil, err
	}
	settled := *accepted
	settled.parsed, settled.wasParsed = nil, false
	if operation.resource().text("status") == "failed" {
		settled.status, settled.body, settled.header, err = failureOf(operation)
		return &settled, err
	}
	settled.status = http.StatusOK
	at, _ := s.place(path)
	if accepted.method == http.MethodDelete {
		s.untrack(at)
		return &settled, nil // the resource is gone
	}
	if accepted.method == http.MethodPost {
		settled.status, at.id = http.StatusCreated, accepted.resource().id()
	}
	read, err := s.send(ctx, http.MethodGet, at.path(), "")
	if err != nil {
		return nil, err
	}
	if !read.succeeded() {
		return nil, &mistake{read, "the resource, as its operation has succeeded: " + operation.summary(), read.summary()}
	}
	settled.header, settled.body = read.header, read.body
	return &settled, nil
}

// failureOf is the response that a synchronous write with the errors of an operation would have had.
func failureOf(operation *reply) (status int, body []byte, header http.Header, err error) {
	errors, _ := operation.resource().members["errors"].([]any)
	if len(errors) > 0 {
		first, _ := errors[0].(map[string]any)
		number, _ := first["status"].(json.Number)
		given, _ := number.Int64()
		status = int(given)
	}
	if status < 400 || status > 599 {
		return 0, nil, nil, &mistake{operation, "errors, the first with the status that the answer would have had", operation.summary()}
	}
	return status, []byte(`{"errors":` + encodeJSON(errors) + `}`), operation.header, nil
}

// settled is the result of a write, after its operation if it was accepted for later. A server need
// not have operations if none were requested.
func (p *probe) settled(path string, answer *reply) *reply {
	if answer.status != http.StatusAccepted || !isWriteOfOne(answer.method, answer.sent) {
		return answer
	}
	settled, err := p.settle(p.ctx, path, answer)
	if broken := (*mistake)(nil); errors.As(err, &broken) && !p.options.Async {
		return answer
	}
	p.followed(err, answer)
	return settled
}

// followed ends the check if the operation of an accepted write could not be read to its end.
func (p *probe) followed(err error, accepted *reply) {
	if broken := (*mistake)(nil); errors.As(err, &broken) && broken.answer == accepted {
		p.skip("there is no operation to follow (see async.location)")
	}
	p.sent(err, accepted)
}
