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

	// Reserve reserves memory for a recorded body before it is read.
	Reserve func(bytes int64) error
}

// IdempotencyRecord is the stored reply to a request with an Idempotency-Key.
type IdempotencyRecord = store.IdempotencyRecord

// FindRecord returns the idempotency record of a request, nil if there is none. A key that was
// used for another request is an error.
func (r *Resources) FindRecord(ctx context.Context, request IdempotentRequest) (*IdempotencyRecord, error) {
	tx, err := r.store.ReadOne(ctx)
	if err != nil {
		return nil, err
	}
	record, err := tx.FindRecord(request.Key)
	tx.Close()
	record, err = request.check(record, err)
	if err == nil && record != nil && record.Until != "" {
		// It was provisional and is overdue. From now on it is final.
		var final *IdempotencyRecord
		if final, err = r.FinalizeRecord(ctx, request, record); final != nil {
			record = final
		}
	}
	if err != nil || record == nil {
		return nil, err
	}
	return r.withBody(ctx, request, record)
}

// keepProvisional makes a provisional record final as it is.
func (r *Resources) keepProvisional(ctx context.Context, request IdempotentRequest) (record *IdempotencyRecord, err error) {
	err = r.store.Write(ctx, func(tx *store.Tx) (err error) {
		if record, err = tx.FindRecord(request.Key); err == nil && record != nil && record.Until != "" {
			_, err = tx.FinalizeRecord(request.Key, record, r.IdempotencyQuota)
		}
		return err
	})
	if err != nil || record == nil {
		return nil, err
	}
	return r.withBody(ctx, request, record)
}

// withBody reads the body of a record, if it is so long that it was not read with it. It returns nil if the
// record has been removed meanwhile.
func (r *Resources) withBody(ctx context.Context, request IdempotentRequest, record *IdempotencyRecord) (*IdempotencyRecord, error) {
	if record.Unread == 0 {
		return record, nil
	}
	if request.Reserve != nil {
		if err := request.Reserve(record.Unread); err != nil {
			return nil, err
		}
	}
	tx, err := r.store.ReadOne(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	body, found, err := tx.RecordedBody(request.Key, record)
	if err != nil || !found {
		return nil, err
	}
	record.Body, record.Unread = body, 0
	return record, nil
}

// KeyInUse is the error of a request whose first copy is still being executed, by this server
// or another.
func KeyInUse() error {
	return fault.Header("Idempotency-Key", problem.CodeKeyInUse, "The first request with this key is still being executed. Try again later.")
}

// check returns the record if it can be replayed.
func (r IdempotentRequest) check(record *IdempotencyRecord, err error) (*IdempotencyRecord, error) {
	switch {
	case err != nil || record == nil:
		return nil, err
	case record.Fingerprint != r.Fingerprint:
		return nil, fault.Header("Idempotency-Key", problem.CodeKeyReused, "This key was used for another request. Use a new key for each request, and repeat a request exactly.")
	case record.Until > model.FormatTime(time.Now()):
		return nil, KeyInUse()
	}
	return record, nil
}

// RunRecorded runs a write and stores its idempotency record in the same transaction, unless
// there is a record already. Render makes the record from the error of the write; nil means
// that nothing is stored and the transaction is rolled back. A failed write is undone even if
// its record is stored. So is one whose record the caller has no room for: it fails.
func (r *Resources) RunRecorded(ctx context.Context, request IdempotentRequest, sharing Sharing, run func(*Work) error,
	render func(error) *IdempotencyRecord) (record *IdempotencyRecord, replayed bool, err error) {
	err = r.RunWork(ctx, sharing, func(w *Work) error {
		found, locked, used, err := w.tx.LockRecord(request.Key)
		if record, err = request.check(found, err); err != nil {
			return err
		}
		if replayed = record != nil; replayed {
			if record.Until != "" {
				_, err = w.tx.FinalizeRecord(request.Key, record, r.IdempotencyQuota)
			}
			return err
		}
		if !locked {
			return KeyInUse()
		}
		failed := w.Savepoint(func() error { return run(w) })
		if record = render(failed); record == nil {
			return failed
		}
		record.Fingerprint = request.Fingerprint
		return r.explainQuota(w.tx.SaveRecord(request.Key, record, store.Quota{Most: r.IdempotencyQuota, Used: used}))
	})
	if err == nil && replayed {
		if record, err = r.withBody(ctx, request, record); record == nil && err == nil {
			err = KeyInUse() // it has expired in this moment: the next attempt executes the request
		}
	}
	return record, replayed, err
}

// explainQuota is the error of a record that the caller has no room for.
func (r *Resources) explainQuota(err error) error {
	if !errors.Is(err, store.ErrQuota) {
		return err
	}
	return fault.Header("Idempotency-Key", problem.CodeIdempotencyFull, "The response of this request must be kept for repetitions, but the responses that are kept for you would have more than %d bytes together. "+
		"Nothing was written. Change fewer resources at once, or send no Idempotency-Key. Responses are kept for a limited time.", r.IdempotencyQuota)
}

// FinalizeRecord replaces a provisional record by a final one. If another has become final
// before, it returns that one, which the client must get. So it does if the caller has no room for the final one: then the
// provisional one becomes final.
func (r *Resources) FinalizeRecord(ctx context.Context, request IdempotentRequest, record *IdempotencyRecord) (other *IdempotencyRecord, err error) {
	err = r.store.Write(ctx, func(tx *store.Tx) error {
		revised, err := tx.FinalizeRecord(request.Key, record, r.IdempotencyQuota)
		if other = nil; err == nil && !revised {
			other, err = tx.FindRecord(request.Key)
		}
		return err
	})
	if errors.Is(err, store.ErrQuota) {
		return r.keepProvisional(ctx, request)
	}
	if err != nil || other == nil {
		return nil, err
	}
	return r.withBody(ctx, request, other)
}
