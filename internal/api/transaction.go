package api

import (
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
	body, err := a.readBody(r, out, a.MaxBody)
	if err != nil {
		return nil, err
	}
	request := resource.Request{Transaction: true, DryRun: q.DryRun}
	request.Idempotent, err = idempotentRequestOf(r, t.path.By, q.DryRun, func() string {
		return fingerprintOf(r, []byte(r.Method), []byte(a.Prefix+transactionAddress), body)
	})
	if err != nil {
		return nil, err
	}
	limits := a.Resources.BodyLimits
	given, err := model.DecodeSteps(body, limits.Depth, limits.Items)
	// No step is at fault, but the whole body. It becomes one step that is refused, because Execute stores the failure for the key.
	if err != nil {
		request.Transaction, request.Steps = false, []resource.Step{{Refused: err}}
	}
	for _, each := range given {
		step := a.stepOf(each, t)
		if request.Steps = append(request.Steps, step); step.Refused != nil { // what follows is never reached
			break
		}
	}
	return a.execute(r.Context(), request, out)
}

// stepOf reads one step of a transaction.
func (a *API) stepOf(given model.Step, t *target) resource.Step {
	to, q, err := a.stepTarget(given, t)
	if err != nil {
		return resource.Step{Refused: err}
	}
	step := resource.Step{Method: given.Method, Path: to.path, ID: to.id, Body: given.Body, Conflict: q.OnConflict}
	if given.IfMatch != nil {
		step.IfMatch = []string{*given.IfMatch}
	}
	return step
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

// positioned is the error of an outcome. If a step of a transaction has failed, it has the JSON Pointer of the step in the body.
func positioned(outcome resource.Outcome) error {
	faults := slices.Clone(fault.From(outcome.Err))
	if outcome.Step == 0 || faults[0].Status() >= http.StatusInternalServerError {
		return outcome.Err
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
		moved.Source = problem.Source{Pointer: "/" + strconv.Itoa(outcome.Step-1) + pointer}
		faults[k] = &moved
	}
	return faults
}
