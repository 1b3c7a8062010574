package resource

import (
	"context"
	"errors"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// IdempotencyKey is the value of an Idempotency-Key header, with its caller.
type IdempotencyKey = store.IdempotencyKey

// IdempotentRequest identifies a request that is executed once, however often it is sent.
type IdempotentRequest struct {
	Key         IdempotencyKey
	Fingerprint string // of the content of the request: no other request may use the key
}

// settleTime is how long, beyond the time the client waits for an accepted step, a record may remain provisional.
const settleTime = 10 * time.Second

// keyInUse is the error of a request whose first copy is still being executed, by this server
// or another.
func keyInUse() error {
	return fault.Header("Idempotency-Key", problem.CodeKeyInUse, "The first request with this key is still being executed. Try again later.")
}

// check returns the record if its outcome can be returned.
func (r *IdempotentRequest) check(record *store.IdempotencyRecord, err error) (*store.IdempotencyRecord, error) {
	switch {
	case err != nil || record == nil:
		return nil, err
	case record.Until > model.FormatTime(time.Now()):
		return nil, keyInUse()
	case record.Fingerprint != r.Fingerprint:
		return nil, fault.Header("Idempotency-Key", problem.CodeKeyReused, "This key was used for another request. Use a new key for each request, and repeat a request exactly.")
	}
	return record, nil
}

// runOnce executes the request and stores its outcome in the same transaction, unless there is a record already. A failed
// request is undone even if its outcome is stored. If the caller has no room for the record, the request fails and nothing is written.
func (x *execution) runOnce(w *Work) error {
	found, locked, used, err := w.tx.LockKey(x.Idempotent.Key)
	if x.earlier, err = x.Idempotent.check(found, err); err != nil {
		return err
	}
	if x.earlier != nil {
		if found.Until != "" {
			_, err = w.tx.FinalizeRecord(x.Idempotent.Key, found, x.resources.IdempotencyQuota)
		}
		return err
	}
	if !locked {
		return keyInUse()
	}
	if err := x.runOrUndo(w); err != nil {
		return err
	}
	record := x.outcome.record(x.Idempotent.Fingerprint)
	if x.outcome.Operation != (model.ID{}) && x.Wait > 0 {
		record.Until = model.FormatTime(time.Now().Add(x.Wait + settleTime))
	}
	return x.resources.explainQuota(w.tx.SaveRecord(x.Idempotent.Key, record, store.Quota{Most: x.resources.IdempotencyQuota, Used: used}))
}

// explainQuota is the error of a record that the caller has no room for.
func (r *Resources) explainQuota(err error) error {
	if !errors.Is(err, store.ErrQuota) {
		return err
	}
	return fault.Header("Idempotency-Key", problem.CodeIdempotencyFull, "The response of this request must be kept for repetitions, but the responses that are kept for you would have more than %d bytes together. "+
		"Nothing was written. Change fewer resources at once, or send no Idempotency-Key. Responses are kept for a limited time.", r.IdempotencyQuota)
}

// earlierOutcome returns the outcome of an earlier request with the key, nil if there is none. A key that was used for another request
// is an error.
func (r *Resources) earlierOutcome(ctx context.Context, request *Request) (*Outcome, error) {
	tx, err := r.store.ReadOne(ctx)
	if err != nil {
		return nil, err
	}
	record, err := request.Idempotent.check(tx.IdempotencyRecord(request.Idempotent.Key))
	tx.Close()
	switch {
	case err != nil || record == nil:
		return nil, err
	case record.Until != "": // it was provisional and is overdue: from now on it is final
		if other, err := r.finalize(ctx, request, record); err != nil || other != nil {
			return other, err
		}
	}
	return r.readOutcome(ctx, request, record)
}

// replayed is the outcome of an earlier request. Without one, its record has expired in this moment: the next attempt executes the
// request.
func replayed(earlier *Outcome, err error) Outcome {
	switch {
	case err != nil:
		return Outcome{Err: err}
	case earlier == nil:
		return Outcome{Err: keyInUse()}
	}
	earlier.Replayed = true
	return *earlier
}

// readOutcome returns the outcome in a record. A body that is so long that it was not read with the record is read now, when memory
// for it is reserved: as much as a caller may hold, if it is longer, so that it can be sent at all. Nil: the record has been removed
// meanwhile.
func (r *Resources) readOutcome(ctx context.Context, request *Request, record *store.IdempotencyRecord) (*Outcome, error) {
	if record.Unread == 0 {
		return outcomeOf(record)
	}
	if request.Memory != nil {
		if err := request.Memory.Take(min(record.Unread, r.Memory.Most())); err != nil {
			return nil, err
		}
	}
	tx, err := r.store.ReadOne(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	body, found, err := tx.RecordedBody(request.Idempotent.Key, record)
	if err != nil || !found {
		return nil, err
	}
	record.Body = body
	return outcomeOf(record)
}

// Finalize replaces the provisional record of an accepted step by its outcome, or by the acceptance if the outcome is a failure that
// may pass. It returns the outcome for the client: if another one has become final before, because the record was overdue, that one.
func (r *Resources) Finalize(ctx context.Context, request Request, accepted, outcome Outcome) Outcome {
	outcome.Applied = accepted.Applied
	if request.Idempotent == nil {
		return outcome
	}
	final := &outcome
	if outcome.Err != nil && !isFinal(outcome.Err) {
		final = &accepted
	}
	other, err := r.finalize(ctx, &request, final.record(request.Idempotent.Fingerprint))
	switch {
	case err != nil:
		return Outcome{Err: err}
	case other != nil:
		return *other
	}
	return outcome
}

// finalize replaces a provisional record by a final one. If another has become final before, it returns the outcome of that one, which
// the client must get. If the caller has no room for the final record, the provisional
// one becomes final and is returned.
func (r *Resources) finalize(ctx context.Context, request *Request, record *store.IdempotencyRecord) (*Outcome, error) {
	var other *store.IdempotencyRecord
	key := request.Idempotent.Key
	err := r.store.Write(ctx, func(tx *store.Tx) error {
		revised, err := tx.FinalizeRecord(key, record, r.IdempotencyQuota)
		if other = nil; err == nil && !revised {
			other, err = tx.IdempotencyRecord(key)
		}
		return err
	})
	if errors.Is(err, store.ErrQuota) {
		err = r.store.Write(ctx, func(tx *store.Tx) (err error) {
			if other, err = tx.IdempotencyRecord(key); err == nil && other != nil && other.Until != "" {
				_, err = tx.FinalizeRecord(key, other, r.IdempotencyQuota)
			}
			return err
		})
	}
	if err != nil || other == nil {
		return nil, err
	}
	return r.readOutcome(ctx, request, other)
}
