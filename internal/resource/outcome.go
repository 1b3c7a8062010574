package resource

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/plural-go/plural/internal/effect"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// Outcome is what the steps of a request have done, as data.
type Outcome struct {
	// Results are the resources as stored, or as they last were if they are deleted: those of all steps in their order.
	Results []reads.Resource
	Many    bool // the request asks for an array
	Created bool // all resources are new, and the request was to create them

	Affected effect.Affected // by a dry run, which has changed nothing

	// Operation executes the step later, which is the only one. Of its resource only the id is known. Zero: all was executed.
	Operation model.ID
	Applied   string // the preferences of the client that were applied: empty if there are none

	Err  error // why the request failed. Nil: it did not
	Step int   // of a transaction that has failed; the first is 1. Zero: the failure is not that of a step

	Replayed bool // it is the outcome of an earlier request with the same key
}

// describe says what the results are. Single is the only step; nil: they are those of a transaction.
func (o *Outcome) describe(single *decodedStep) {
	o.Many = single == nil || single.many || single.Range != nil
	o.Created = single != nil && single.verb == Create && !slices.ContainsFunc(o.Results, func(each reads.Resource) bool { return !each.Created })
}

// finalStatuses are the statuses of failures that are kept for a key: the request would fail again.
var finalStatuses = []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity}

func isFinal(err error) bool { return slices.Contains(finalStatuses, fault.From(err)[0].Status()) }

// recorded is an outcome in an idempotency record, without the representations.
type recorded struct {
	Many      bool           `json:"many,omitempty"`
	Created   bool           `json:"created,omitempty"`
	ID        string         `json:"id,omitempty"` // of the only resource
	ETag      string         `json:"etag,omitempty"`
	Operation string         `json:"operation,omitempty"`
	Applied   string         `json:"applied,omitempty"`
	Errors    problem.Errors `json:"errors,omitempty"`
	Step      int            `json:"step,omitempty"`
}

// separator is between the representations of a record. JSON text never contains it (RFC 7464).
const separator = '\x1e'

// record is the idempotency record of the outcome. The representations are kept as they were encoded.
func (o *Outcome) record(fingerprint string) *store.IdempotencyRecord {
	kept := recorded{Many: o.Many, Created: o.Created, Applied: o.Applied, Step: o.Step}
	if o.Err != nil {
		kept.Errors = fault.From(o.Err)
	}
	if o.Operation != (model.ID{}) {
		kept.Operation = o.Operation.String()
	}
	if !o.Many && len(o.Results) == 1 {
		kept.ID, kept.ETag = o.Results[0].ID.String(), o.Results[0].ETag
	}
	representations := make([][]byte, len(o.Results))
	for i, each := range o.Results {
		representations[i] = each.Representation
	}
	return &store.IdempotencyRecord{Fingerprint: fingerprint, Outcome: model.MustMarshal(kept), Body: bytes.Join(representations, []byte{separator})}
}

// outcomeOf is the outcome in a record.
func outcomeOf(record *store.IdempotencyRecord) (*Outcome, error) {
	var kept recorded
	if err := json.Unmarshal(record.Outcome, &kept); err != nil {
		return nil, fault.Internal(err)
	}
	o := &Outcome{Many: kept.Many, Created: kept.Created, Applied: kept.Applied, Step: kept.Step, Err: kept.Errors.Err()}
	o.Operation, _ = model.ParseID(kept.Operation) // if there is one
	id, single := model.ParseID(kept.ID)
	switch {
	case single:
		o.Results = []reads.Resource{{ID: id, ETag: kept.ETag, Representation: record.Body}}
	case len(record.Body) > 0:
		for _, representation := range bytes.Split(record.Body, []byte{separator}) {
			o.Results = append(o.Results, reads.Resource{Representation: representation})
		}
	}
	return o, nil
}
