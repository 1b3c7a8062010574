package suite

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
	OperationsName          = "operations"
	defaultOperationTimeout = 30 * time.Second

	notSupported = "not supported: the server answers synchronously, also with Prefer: respond-async"
)

// mistake is an error of the server in a step that comes before what a check tests.
type mistake struct {
	answer        *Reply
	expected, got string
}

func (m *mistake) Error() string {
	return m.answer.request() + "\nexpected " + m.expected + "\ngot " + m.got
}

// isWriteOfOne reports whether a request writes one resource. Only such writes can be executed
// asynchronously, writes of arrays cannot.
func isWriteOfOne(method, body string) bool {
	return isWrite(method) && !strings.HasPrefix(body, "[")
}

// decideAsync finds out by a first request whether the server executes writes asynchronously. It
// need not: by RFC 7240 a server may ignore a preference.
func (s *Suite) decideAsync() error {
	if s.async != undecided {
		return nil
	}
	members, err := s.Members(s.Collection)
	if err != nil {
		return err
	}
	answer, err := s.send(s.Ctx, http.MethodPost, s.Collection.Path(), EncodeJSON(members), "Prefer", "respond-async")
	if err != nil {
		return err
	}
	if s.async = supported; answer.Succeeded() && answer.Status != http.StatusAccepted {
		s.async = unsupported
	}
	return s.awaitLeniently(answer)
}

// noteAccepted remembers the operation of an answer, which may have an effect
// until it is known to be finished.
func (s *Suite) noteAccepted(answer *Reply) {
	if url, ok := s.OperationURL(answer); ok && answer.Status == http.StatusAccepted && !slices.Contains(s.unfinished, url) {
		s.unfinished = append(s.unfinished, url)
	}
}

// OperationURL is the URL of the operation of a response, if it is in the collection of
// operations.
func (s *Suite) OperationURL(accepted *Reply) (string, bool) {
	location := accepted.Header.Get("Location")
	url := accepted.Target(location)
	return url, location != "" && strings.HasPrefix(url, s.Base+"/"+OperationsName+"/")
}

// await reads the operation of an answer until it is finished.
func (s *Suite) await(ctx context.Context, accepted *Reply) (*Reply, error) {
	url, ok := s.OperationURL(accepted)
	if !ok {
		return nil, &mistake{accepted, "Location, the path of an operation", "Location: " + EncodeJSON(accepted.Header.Get("Location"))}
	}
	return s.awaitOperation(ctx, url)
}

func (s *Suite) awaitOperation(ctx context.Context, url string) (*Reply, error) {
	started := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		answer, err := s.send(ctx, http.MethodGet, url, "")
		if err != nil {
			return nil, err
		}
		if !answer.Succeeded() || answer.Resource().Text("status") == "" {
			return nil, &mistake{answer, "the operation, with its status", answer.Summary()}
		}
		if slices.Contains([]string{"succeeded", "failed"}, answer.Resource().Text("status")) {
			s.finish(url)
			return answer, nil
		}
		if time.Since(started) > s.operationTimeout {
			waited := s.operationTimeout
			s.shortenTimeout()
			return nil, &mistake{answer, "an operation that is finished within " + waited.String(), answer.Summary()}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// shortenTimeout shortens the time for later operations: if one does not end, none may end.
func (s *Suite) shortenTimeout() { s.operationTimeout = min(s.operationTimeout, time.Second) }

// awaitLeniently waits until the write of a response has taken effect, and ignores errors: the
// checks report them.
func (s *Suite) awaitLeniently(answer *Reply) error {
	if answer.Status != http.StatusAccepted {
		return nil
	}
	_, err := s.await(s.Ctx, answer)
	if broken := (*mistake)(nil); errors.As(err, &broken) {
		return nil
	}
	return err
}

// AwaitUnfinished waits for operations that no check has waited for, because they would change what
// later checks read. It ignores errors: the checks report them.
func (s *Suite) AwaitUnfinished(ctx context.Context) {
	for len(s.unfinished) > 0 && s.gaveUp == nil && ctx.Err() == nil {
		url := s.unfinished[0]
		_, _ = s.awaitOperation(ctx, url)
		s.finish(url) // also if waiting failed
	}
}

func (s *Suite) finish(url string) {
	s.unfinished = slices.DeleteFunc(s.unfinished, func(each string) bool { return each == url })
}

// removalFailed waits for an accepted deletion, and reports whether it failed. If the response names
// no operation, it assumes success.
func (s *Suite) removalFailed(ctx context.Context, accepted *Reply) bool {
	if _, ok := s.OperationURL(accepted); !ok {
		return false
	}
	operation, err := s.await(ctx, accepted)
	return err != nil || operation.Resource().Text("status") == "failed"
}

// settle waits for the operation of an accepted write. It returns the response that a synchronous
// write would have had: the resource as it is then, or the errors.
func (s *Suite) settle(ctx context.Context, path string, accepted *Reply) (*Reply, error) {
	operation, err := s.await(ctx, accepted)
	if err != nil {
		return nil, err
	}
	settled := *accepted
	settled.parsed, settled.wasParsed = nil, false
	if operation.Resource().Text("status") == "failed" {
		settled.Status, settled.Body, settled.Header, err = FailureOf(operation)
		return &settled, err
	}
	settled.Status = http.StatusOK
	at, _ := s.place(path)
	if accepted.Method == http.MethodDelete {
		s.untrack(at)
		return &settled, nil // the resource is gone
	}
	if accepted.Method == http.MethodPost {
		settled.Status, at.id = http.StatusCreated, accepted.Resource().ID()
	}
	read, err := s.send(ctx, http.MethodGet, at.path(), "")
	if err != nil {
		return nil, err
	}
	if !read.Succeeded() {
		return nil, &mistake{read, "the resource, as its operation has succeeded: " + operation.Summary(), read.Summary()}
	}
	settled.Header, settled.Body = read.Header, read.Body
	return &settled, nil
}

// FailureOf is the response that a synchronous write with the errors of an operation would have had.
func FailureOf(operation *Reply) (status int, body []byte, header http.Header, err error) {
	errors, _ := operation.Resource().Members["errors"].([]any)
	if len(errors) > 0 {
		first, _ := errors[0].(map[string]any)
		number, _ := first["status"].(json.Number)
		given, _ := number.Int64()
		status = int(given)
	}
	if status < 400 || status > 599 {
		return 0, nil, nil, &mistake{operation, "errors, the first with the status that the answer would have had", operation.Summary()}
	}
	return status, []byte(`{"errors":` + EncodeJSON(errors) + `}`), operation.Header, nil
}

// settled is the result of a write, after its operation if it was accepted for later. A server need
// not have operations if none were requested.
func (p *Probe) settled(path string, answer *Reply) *Reply {
	if answer.Status != http.StatusAccepted || !isWriteOfOne(answer.Method, answer.sent) {
		return answer
	}
	settled, err := p.settle(p.Ctx, path, answer)
	if broken := (*mistake)(nil); errors.As(err, &broken) && !p.options.Async {
		return answer
	}
	p.Followed(err, answer)
	return settled
}

// Followed ends the check if the operation of an accepted write could not be read to its end.
func (p *Probe) Followed(err error, accepted *Reply) {
	if broken := (*mistake)(nil); errors.As(err, &broken) && broken.answer == accepted {
		p.Skip("there is no operation to follow (see async.location)")
	}
	p.sent(err, accepted)
}
