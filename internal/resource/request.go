package resource

import (
	"context"
	"net/http"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
)

// Request is a write as a client sent it. It can be kept and read again later.
type Request struct {
	Method string // POST, PUT, PATCH or DELETE
	Path   Path
	ID     model.ID // of what is changed, or an id for what is created without one
	Body   []byte   // none for DELETE

	IfMatch, IfNoneMatch []string // the headers, nil if they are not there

	Accepting bool // as of Write

	// Limits bounds the body. Zero: as that of any request.
	Limits Limits
}

// Limits bounds what the body of a request can be.
type Limits struct {
	Depth int // of nested objects and arrays
	Items int // of an array
}

// modes is what the body of a method is for.
var modes = map[string]model.Mode{http.MethodPost: model.Create, http.MethodPut: model.Replace, http.MethodPatch: model.Patch}

// Decode reads what a request wants to be written. Everything that is wrong with
// a body is reported together.
func (r *Resources) Decode(ctx context.Context, request Request) (Write, error) {
	if err := r.refuseNested(ctx); err != nil {
		return Write{}, err
	}
	write, invalid := r.decode(request)
	if !isInvalid(invalid) {
		return write, invalid
	}
	tx, err := r.store.Read(ctx)
	if err != nil {
		return write, err
	}
	defer tx.Close()
	return write, r.withViolations(&sight{tx: tx, accepted: write.Accepting}, write, invalid)
}

// Decode reads what is to be written in the transaction.
func (w *Work) Decode(request Request) (Write, error) {
	write, invalid := w.resources.decode(request)
	if !isInvalid(invalid) {
		return write, invalid
	}
	return write, w.resources.withViolations(&sight{tx: w.tx, coming: slices.Clone(w.coming)}, write, invalid)
}

// isInvalid reports whether a body is not valid, so that only the stored resources can
// tell what else is wrong with it.
func isInvalid(err error) bool {
	return err != nil && fault.From(err)[0].Status() == http.StatusUnprocessableEntity
}

func (r *Resources) decode(request Request) (write Write, err error) {
	write = Write{Verb: Update, Path: request.Path, ID: request.ID, Accepting: request.Accepting}
	if write.Condition, err = ParseCondition(request.IfMatch, request.IfNoneMatch); err != nil {
		return write, err
	}
	c := request.Path.Collection
	switch request.Method {
	case http.MethodDelete:
		write.Verb, write.Condition.Required = Delete, c.RequireIfMatch
		return write, nil
	case http.MethodPost:
		write.Verb = Create
	default:
		write.Condition.Required = c.RequireIfMatch
	}
	limits := request.Limits
	if limits == (Limits{}) {
		limits = r.Limits
	}
	options := model.DecodeOptions{
		Mode: modes[request.Method], ID: request.ID, MaxDepth: limits.Depth, MaxItems: limits.Items,
		Visible: request.Path.By.Visible(c), Writable: request.Path.By.Writable(c),
	}
	if request.Path.Parent != nil {
		options.Parent, options.ParentID = c.ParentLink(), *request.Path.Parent
	}
	write.Inputs, write.Many, err = c.Decode(request.Body, options)
	write.setAside(options.Writable)
	return write, err
}

// setAside takes the attributes out of an update that its caller may not change. What
// hooks make of them later is another matter.
func (write *Write) setAside(writable model.ColumnSet) {
	if writable == nil || write.Verb != Update || len(write.Inputs) == 0 || write.Inputs[0].Values == nil {
		return
	}
	input := write.Inputs[0]
	write.echoed, write.echoedSet = make(model.Record, len(input.Values)), make([]bool, len(input.Set))
	for column, end := write.Path.Collection.AttributeColumns(); column < end; column++ {
		if input.Set[column] && !writable.Has(column) {
			write.echoed[column], write.echoedSet[column] = input.Values[column], true
			input.Values[column], input.Set[column] = model.Null, false
		}
	}
}

// ParseCondition reads the conditions of a request from its headers.
func ParseCondition(ifMatch, ifNoneMatch []string) (condition Condition, err error) {
	if condition.IfMatch, err = parseTags("If-Match", ifMatch); err != nil {
		return Condition{}, err
	}
	condition.IfNoneMatch, err = parseTags("If-None-Match", ifNoneMatch)
	return condition, err
}
