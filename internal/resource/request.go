package resource

import (
	"context"
	"net/http"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// Request is a write as a client sent it. It can be stored and decoded later.
type Request struct {
	Method string // POST, PUT, PATCH or DELETE
	Path   Path
	ID     model.ID // of the resource to change; not used for a creation
	Body   []byte   // empty for DELETE

	// Range selects the resources to change; nil: the one with the ID. Conflict is the unique group of
	// an upsert; nil: it only creates. Requests with these are never stored.
	Range    *query.Query
	Conflict []int
	DryRun   bool // see Work.DryRun

	IfMatch, IfNoneMatch []string // header values, nil if not sent
	IfMatchOptional      bool     // also where the collection requires If-Match

	CountPending bool // see Write

	// BodyLimits bounds the body. Zero: that of Resources.
	BodyLimits BodyLimits
}

// BodyLimits bounds the body of a request.
type BodyLimits struct {
	Depth int // of nested objects and arrays
	Items int // of an array, a range or a transaction
}

// modes is how the body of a method is decoded.
var modes = map[string]model.Mode{http.MethodPost: model.Create, http.MethodPut: model.Replace, http.MethodPatch: model.Patch}

// Decode reads a write from a request. All mistakes in the body are reported together.
func (r *Resources) Decode(ctx context.Context, request Request) (Write, error) {
	if err := r.refuseNested(ctx); err != nil {
		return Write{}, err
	}
	write, invalid := r.DecodeAlone(request)
	if !isInvalid(invalid) {
		return write, invalid
	}
	tx, err := r.store.Read(ctx)
	if err != nil {
		return write, err
	}
	defer tx.Close()
	return write, r.withViolations(&lookup{tx: tx, countPending: write.CountPending}, write, invalid)
}

// Decode reads a write in the transaction.
func (w *Work) Decode(request Request) (Write, error) {
	write, invalid := w.resources.DecodeAlone(request)
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

// DecodeAlone does the same without a database: errors that depend on stored resources are missing.
func (r *Resources) DecodeAlone(request Request) (write Write, err error) {
	write = Write{Verb: VerbOf(request.Method), Path: request.Path, ID: request.ID, Range: request.Range, Conflict: request.Conflict, CountPending: request.CountPending, DryRun: request.DryRun}
	if write.bodyLimits = request.BodyLimits; write.bodyLimits == (BodyLimits{}) {
		write.bodyLimits = r.BodyLimits
	}
	if write.Condition, err = headers.ParseCondition(request.IfMatch, request.IfNoneMatch); err != nil {
		return write, err
	}
	if request.Range != nil {
		if err := write.checkRange(); err != nil {
			return write, err
		}
	}
	c := request.Path.Collection
	write.Condition.Required = write.Verb != Create && c.RequireIfMatch && !request.IfMatchOptional
	if write.Verb == Delete {
		return write, nil
	}
	options := model.DecodeOptions{
		Mode: modes[request.Method], ID: request.ID, MaxDepth: write.bodyLimits.Depth, MaxItems: write.bodyLimits.Items,
		AcceptTimestamps: r.AcceptTimestamps,
		Visible:          request.Path.By.Visible(c), Writable: request.Path.By.Writable(c),
		Knows: func(relation *model.Relation) bool {
			_, _, may := request.Path.By.Related(relation)
			return may
		},
	}
	if request.Path.Parent != nil {
		options.Parent, options.ParentID = c.ParentLink(), *request.Path.Parent
	}
	if request.Conflict != nil {
		return write, write.decodeUpserts(request.Body, options)
	}
	if request.Range != nil {
		options.Mode = model.PatchRange
	}
	write.Inputs, write.Many, err = c.Decode(request.Body, options)
	if write.Verb == Update && len(write.Inputs) > 0 {
		write.readOnly = separateReadOnly(c, &write.Inputs[0], options.Writable)
	}
	return write, err
}

// readOnlyValues is the values that an update sends of attributes that the caller sees but may not
// change, by column. They must equal the stored ones.
type readOnlyValues struct {
	values model.Record
	set    []bool
}

// separateReadOnly moves attributes that the caller may not change out of the input of an
// update. Hooks may set them.
func separateReadOnly(c *model.Collection, input *model.Input, writable model.ColumnSet) (given readOnlyValues) {
	if writable == nil || input.Values == nil {
		return given
	}
	given = readOnlyValues{make(model.Record, len(input.Values)), make([]bool, len(input.Set))}
	for column, end := c.AttributeColumns(); column < end; column++ {
		if input.Set[column] && !writable.Has(column) {
			given.values[column], given.set[column] = input.Values[column], true
			input.Values[column], input.Set[column] = model.Null, false
		}
	}
	return given
}
