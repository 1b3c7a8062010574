package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
)

const transactionAddress = "/-/transaction"

// writeSteps executes several writes in one transaction, all in order or none.
func (a *API) writeSteps(r *http.Request, out *response, t *target) (*reply, error) {
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if len(r.Header.Values(name)) > 0 {
			return nil, fault.Header(name, problem.CodeMalformedRequest, "A transaction has no ETag. Send if_match in its steps.")
		}
	}
	q, err := query.Parse(query.OfWrite, nil, r.URL.RawQuery, query.Limits{})
	if err != nil {
		return nil, err
	}
	body, err := a.readBody(r, out)
	if err != nil {
		return nil, err
	}
	idempotent, err := a.idempotentRequestOf(r, t.path.By, q.DryRun, func() string {
		return fingerprintOf(r.URL.RawQuery, []byte(r.Method), []byte(a.Prefix+transactionAddress), body)
	})
	if err != nil {
		return nil, err
	}
	return a.replayOrPerform(r.Context(), idempotent, out, func(ctx context.Context) (*reply, error) {
		reply, _, err := a.execute(ctx, a.steps(ctx, body, t, q.DryRun, out), idempotent)
		return reply, err
	})
}

// step is one write of a transaction.
type step struct {
	request resource.Request
	write   resource.Write
	failed  error // before the transaction: the steps before it may fail first
	invalid bool  // its body is: in the transaction more may be found wrong with it
}

// steps prepares the writes of a transaction.
func (a *API) steps(ctx context.Context, body []byte, t *target, dryRun bool, out *response) preparedWrite {
	limits := a.Resources.BodyLimits
	given, err := model.DecodeSteps(body, limits.Depth, limits.Items)
	if err != nil {
		return preparedWrite{failed: err}
	}
	ctx, cancel := a.Resources.BoundHooks(ctx)
	defer cancel()
	var steps []*step
	var writes []*resource.Write
	var collections []*model.Collection
	for _, each := range given {
		next := a.step(ctx, each, t, dryRun)
		steps, writes = append(steps, next), append(writes, &next.write)
		if next.failed != nil { // what follows is never reached
			break
		}
		collections = append(collections, next.request.Path.Collection)
	}
	var results []resource.Resource
	reserve := a.memoryOf(out)
	prepared := preparedWrite{
		run: func(w *resource.Work) error {
			reserve(w)
			if err := w.Announce(writes); err != nil {
				return err
			}
			results = nil
			bytes := 0
			for i, each := range steps {
				written, err := each.do(w)
				for _, one := range written {
					bytes += len(one.Representation)
				}
				if err == nil && bytes > resource.MaxManyBytes {
					err = resource.TooMuch()
				}
				if err != nil {
					return stepError(i, err)
				}
				results = append(results, written...)
			}
			return nil
		},
		reply: func() *reply { return envelopedAll(http.StatusOK, results) },
	}
	if dryRun {
		return prepared.asDryRun(new(resource.Affected), collections...)
	}
	return prepared
}

func (s *step) do(w *resource.Work) ([]resource.Resource, error) {
	if s.invalid {
		if _, err := w.Decode(s.request); err != nil {
			return nil, err
		}
	}
	if s.failed != nil {
		return nil, s.failed
	}
	return w.Do(s.write)
}

// step prepares one write of a transaction.
func (a *API) step(ctx context.Context, given model.Step, t *target, dryRun bool) *step {
	to, q, err := a.stepTarget(given, t)
	if err != nil {
		return &step{failed: err}
	}
	s := &step{}
	s.request = resource.Request{Method: given.Method, Path: to.path, ID: to.id, Body: given.Body, Conflict: q.OnConflict, DryRun: dryRun}
	if given.IfMatch != nil {
		s.request.IfMatch = []string{*given.IfMatch}
	}
	if s.write, s.failed = a.Resources.DecodeAlone(s.request); s.failed != nil {
		s.invalid = true
		return s
	}
	if s.write.Many {
		s.failed = fault.New(problem.CodeNotAnObject, "The body of a step must be one object. Send several steps instead of an array.")
		return s
	}
	s.failed = a.beforeTransaction(ctx, &s.write)
	return s
}

// stepTarget finds the target of a step, which is a path below that of the API.
func (a *API) stepTarget(given model.Step, t *target) (*target, query.Query, error) {
	path, raw, _ := strings.Cut(given.Path, "?")
	to, err := a.stepPath(path)
	if unknown := (*unknownName)(nil); errors.As(err, &unknown) {
		err = fault.New(problem.CodeNotFound, "Nothing is at this path.")
	}
	if err != nil {
		return nil, query.Query{}, err
	}
	to.path.By = t.path.By
	if to.path.IsHidden() {
		return nil, query.Query{}, fault.New(problem.CodeNotFound, "Nothing is at this path.")
	}
	isItem := given.Method != http.MethodPost
	if to.path.Collection == nil || !slices.Contains(to.allowed(), given.Method) || isItem == to.isCollection() {
		return nil, query.Query{}, fault.Parameter(methodOfStep, problem.CodeEnum, "A step cannot be %s of this path. POST takes the path of a collection, the other methods that of one resource.", given.Method)
	}
	// As for a request by itself: without any right, nothing of the collection is shown.
	if verb := to.verb(given.Method); !to.path.By.May(verb, to.path.Collection) && !to.mayUpsert(verb) {
		return nil, query.Query{}, to.path.Require(verb)
	}
	creates := to.path.Collection
	if isItem {
		creates = nil
	}
	q, err := query.Parse(query.OfStep, creates, raw, a.queryLimits(to))
	if err == nil && q.OnConflict == nil {
		err = to.path.Require(to.verb(given.Method))
	}
	return to, q, err
}

func (a *API) stepPath(path string) (*target, error) {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if !strings.HasPrefix(path, "/") || slices.Contains(segments, "") || segments[0] == "-" {
		return nil, fault.New(problem.CodeNotFound, "Nothing is at this path. The path of a step starts with a slash and the name of a collection, such as /users.")
	}
	for i := range segments {
		segment, err := url.PathUnescape(segments[i])
		if err != nil {
			return nil, fault.New(problem.CodeNotFound, "Nothing is at this path: its percent-encoding is broken.")
		}
		segments[i] = segment
	}
	if prefix := strings.Split(strings.TrimPrefix(a.Prefix, "/"), "/"); a.Prefix != "" && len(segments) > len(prefix) && slices.Equal(segments[:len(prefix)], prefix) && a.Schema.Collection(segments[0]) == nil {
		return nil, fault.New(problem.CodeNotFound, "Nothing is at this path. The path of a step does not have the prefix %s.", a.Prefix)
	}
	return a.resourceTarget(segments)
}

// methodOfStep is the source of an error about the method of a step.
const methodOfStep = "method"

// stepError gives the error of a step its JSON Pointer in the body of the transaction.
func stepError(i int, err error) error {
	faults := slices.Clone(fault.From(err))
	if faults[0].Status() >= http.StatusInternalServerError {
		return err
	}
	for k, each := range faults {
		moved := *each
		pointer := "/path"
		switch source := each.Source; {
		case source.Parameter == methodOfStep:
			pointer = "/method"
		case source.Header != "":
			pointer = "/if_match"
		case source.Pointer != "" || each.Status() == http.StatusUnprocessableEntity:
			pointer = "/body" + source.Pointer
		}
		moved.Source = problem.Source{Pointer: "/" + strconv.Itoa(i) + pointer}
		faults[k] = &moved
	}
	return faults
}
