package resource

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
)

// Request is steps that are executed in one transaction, all in order or none. A single write is one step.
type Request struct {
	Steps       []Step
	Transaction bool // the client has sent steps: the response is an array, and an error names its step
	DryRun      bool // execute the steps, count what they change, and undo everything

	// Later accepts the only step, which is executed asynchronously, unless its body is an array.
	Later   bool
	Wait    time.Duration // how long the client waits for the outcome of an accepted step
	Applied string        // see Outcome

	// Idempotent is not nil if the request has an idempotency key: its outcome is stored in the same transaction, and returned for each repetition.
	Idempotent *IdempotentRequest

	// Memory is for the resources of steps that read or return many. The caller ends it when the outcome has been used. Nil: it is
	// not bounded.
	Memory *limit.Reservation

	claim *claim // of the operation that is executed; nil: it is a request of a client, or of the program
}

// Step is one write as a client sent it. It can be stored and decoded later.
type Step struct {
	Method string // POST, PUT, PATCH or DELETE
	Path   reads.Path
	ID     model.ID // of the resource to change; not used for a creation
	Body   []byte   // empty for DELETE

	// Range selects the resources to change; nil: the one with the ID. See range.go. Conflict is the unique group of
	// an upsert; nil: it only creates. See upsert.go. Steps with these are never stored.
	Range    *query.Query
	Conflict []int

	IfMatch, IfNoneMatch []string // header values, nil if not sent
	IfMatchOptional      bool     // also where the collection requires If-Match

	// BodyLimits bounds the body. Zero: that of Resources.
	BodyLimits BodyLimits

	// Refused is why the step cannot be executed, whatever is stored. The steps before it may fail first.
	Refused error
}

// BodyLimits bounds the body of a request.
type BodyLimits struct {
	Depth int // of nested objects and arrays
	Items int // of an array, a range or a transaction
}

// decodedStep is a step that was decoded, and what was found before it is executed.
type decodedStep struct {
	Step
	verb Verb

	inputs    []model.Input // one, or several if many
	many      bool          // the body is an array
	failure   error         // why the step cannot be executed: Refused, or found by decoding or preparing it; nil: it may succeed
	invalid   bool          // the failure is of the body, and the checks in the transaction add to it
	condition headers.Condition
	readOnly  readOnlyValues
	upserts   []upsert // in place of inputs

	found    []model.ID               // the resources of the range
	prepared map[model.ID]model.Input // of the updates of a range after their Before hooks

	texts         *store.Texts // whose words were found before the transaction; nil: none
	withoutBefore bool         // a hook writes, whose writes run no Before hooks
	dryRun        bool
	deletion      deletionMode

	// schema is the schema version of the server that accepted the step, for its condition. Zero: this server's.
	schema int64

	// countPending: resources that pending operations will create count as existing. It is set for a step that is
	// executed later: it is executed once to see whether it can be, and that is undone.
	countPending bool
}

// ofMany reports whether the step can be of several resources, or reads one that it does not name.
func (step *decodedStep) ofMany() bool { return step.many || step.Range != nil || step.Conflict != nil }

// pointer is the JSON Pointer of an input in the body.
func (step *decodedStep) pointer(i int) string {
	if step.many {
		return "/" + strconv.Itoa(i)
	}
	return ""
}

// setID sets the id of the resource that a step creates, if the client sent none, and returns it. It copies the input: the
// transaction may run again.
func (step *decodedStep) setID(id func() model.ID) model.ID {
	if !step.inputs[0].HasID() {
		input := model.Input{Values: slices.Clone(step.inputs[0].Values), Set: slices.Clone(step.inputs[0].Set)}
		input.Values[model.IDColumn], input.Set[model.IDColumn] = model.IDValue(id()), true
		step.inputs = []model.Input{input}
	}
	return step.inputs[0].Values.ID(model.IDColumn)
}

// modes is how the body of a method is decoded.
var modes = map[string]model.Mode{http.MethodPost: model.Create, http.MethodPut: model.Replace, http.MethodPatch: model.Patch}

// decode reads a step without a database: errors that depend on stored resources are missing. All mistakes in the body are reported
// together.
func (r *Resources) decode(from Step) decodedStep {
	step := decodedStep{Step: from, verb: VerbOf(from.Method), failure: from.Refused}
	if step.failure == nil {
		step.failure = step.decode(r)
	}
	return step
}

func (step *decodedStep) decode(r *Resources) (err error) {
	if step.BodyLimits == (BodyLimits{}) {
		step.BodyLimits = r.BodyLimits
	}
	if step.condition, err = headers.ParseCondition(step.IfMatch, step.IfNoneMatch); err != nil {
		return err
	}
	if step.Range != nil {
		if err := step.checkRange(); err != nil {
			return err
		}
	}
	c, by := step.Path.Collection, step.Path.By
	step.condition.Required = step.verb != Create && c.RequireIfMatch && !step.IfMatchOptional
	if step.verb == Delete {
		return nil
	}
	options := model.DecodeOptions{
		Mode: modes[step.Method], ID: step.ID, MaxDepth: step.BodyLimits.Depth, MaxItems: step.BodyLimits.Items,
		AcceptTimestamps: r.AcceptTimestamps,
		Visible:          by.Visible(c), Writable: by.Writable(c),
		Knows: func(relation *model.Relation) bool {
			_, _, may := by.Related(relation)
			return may
		},
	}
	if step.Path.Parent != nil {
		options.Parent, options.ParentID = c.ParentLink(), *step.Path.Parent
	}
	if step.Conflict != nil {
		return step.decodeUpserts(options)
	}
	if step.Range != nil {
		options.Mode = model.PatchRange
	}
	step.inputs, step.many, err = c.Decode(step.Body, options)
	if step.verb == Update && len(step.inputs) > 0 {
		step.readOnly = separateReadOnly(c, &step.inputs[0], options.Writable)
	}
	return err
}

// isInvalid reports whether an error is about the values of a body, so that checks against
// stored resources can add to it.
func isInvalid(err error) bool {
	return err != nil && fault.From(err)[0].Status() == http.StatusUnprocessableEntity
}

// readOnlyValues is the values that an update sends of attributes that the caller sees but may not
// change, or nobody, as they are computed, by column. They must equal the stored ones: see checkUnchanged.
type readOnlyValues struct {
	values model.Record
	set    []bool
}

// separateReadOnly moves attributes that the caller, or nobody, may change out of the input of an
// update. Hooks may set those that are not computed.
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
