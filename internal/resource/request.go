package resource

import (
	"context"
	"net/http"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
)

// Request is a write as a client sent it. It can be stored and decoded later.
type Request struct {
	Method string // POST, PUT, PATCH or DELETE
	Path   Path
	ID     model.ID // of the resource to change, or the id for a new one without id
	Body   []byte   // empty for DELETE

	IfMatch, IfNoneMatch []string // header values, nil if not sent

	Accepting bool // see Write

	// Limits bounds the body. Zero: that of Resources.
	Limits Limits
}

// Limits bounds the body of a request.
type Limits struct {
	Depth int // of nested objects and arrays
	Items int // of an array
}

// modes is how the body of a method is decoded.
var modes = map[string]model.Mode{http.MethodPost: model.Create, http.MethodPut: model.Replace, http.MethodPatch: model.Patch}

// Decode reads a write from a request. All mistakes in the body are reported together.
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
	return write, r.withViolations(&lookup{tx: tx, countPending: write.Accepting}, write, invalid)
}

// Decode reads a write in the transaction.
func (w *Work) Decode(request Request) (Write, error) {
	write, invalid := w.resources.decode(request)
	if !isInvalid(invalid) {
		return write, invalid
	}
	return write, w.resources.withViolations(&lookup{tx: w.tx, creating: slices.Clone(w.creating)}, write, invalid)
}

// isInvalid reports whether an error is about the values of a body, so that checks against
// stored resources can add to it.
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
		Knows: func(relation *model.Relation) bool {
			_, _, may := request.Path.By.Related(relation)
			return may
		},
	}
	if request.Path.Parent != nil {
		options.Parent, options.ParentID = c.ParentLink(), *request.Path.Parent
	}
	write.Inputs, write.Many, err = c.Decode(request.Body, options)
	write.separateReadOnly(options.Writable)
	return write, err
}

// separateReadOnly moves attributes that the caller may not change out of the input of an
// update. Hooks may set them.
func (write *Write) separateReadOnly(writable model.ColumnSet) {
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

// ParseCondition reads the preconditions of a request from its headers.
func ParseCondition(ifMatch, ifNoneMatch []string) (condition Condition, err error) {
	if condition.IfMatch, err = parseTags("If-Match", ifMatch); err != nil {
		return Condition{}, err
	}
	condition.IfNoneMatch, err = parseTags("If-None-Match", ifNoneMatch)
	return condition, err
}
