package resource

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Once is the key that a client gave to a request, so that it can send it again
// and have it done once.
type Once struct {
	Caller, Key string // callers do not see each other's keys
	Fingerprint string // of the request: a key stands for one
}

func (o Once) key() store.AnswerKey { return store.AnswerKey{Caller: o.Caller, Key: o.Key} }

// Answer is what a request was answered with, to be given again.
type Answer = store.Answer

// Recall finds the answer that was given to a request before, nil if there was
// none. A key that stands for another request is an error.
func (r *Resources) Recall(ctx context.Context, once Once) (*Answer, error) {
	tx, err := r.store.Look(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	kept, err := tx.Answer(once.key())
	return once.recall(kept, err)
}

// KeyInUse is the refusal of a request that is still being carried out, here or by
// another server.
func KeyInUse() error {
	return fault.Header("Idempotency-Key", fault.CodeKeyInUse, "The first request with this key is being carried out. Try again when it is answered.")
}

// recall decides whether an answer that is kept can be given.
func (o Once) recall(kept *Answer, err error) (*Answer, error) {
	switch {
	case err != nil || kept == nil:
		return nil, err
	case kept.Fingerprint != o.Fingerprint:
		return nil, fault.Header("Idempotency-Key", fault.CodeKeyReused, "This key was used for another request. Give each request a key of its own, and repeat a request exactly.")
	case kept.Until > schema.FormatTime(time.Now()):
		return nil, KeyInUse()
	}
	return kept, nil
}

// Record has an effect take place and keeps the answer to it in the same
// transaction, unless there is one already. Render makes the answer of the
// effect's error; nil means that it is not to be kept, and nothing has happened. The
// effect is undone if it fails, also when its answer is kept.
func (r *Resources) Record(ctx context.Context, once Once, effect func(*Work) error, render func(error) *Answer) (answer *Answer, replayed bool, err error) {
	err = r.Transact(ctx, func(w *Work) error {
		kept, claimed, err := w.tx.ClaimAnswer(once.key())
		if answer, err = once.recall(kept, err); err != nil {
			return err
		}
		if replayed = answer != nil; replayed {
			return nil
		}
		if !claimed {
			return KeyInUse()
		}
		failed := w.Attempt(func() error { return effect(w) })
		if answer = render(failed); answer == nil {
			return failed
		}
		answer.Fingerprint = once.Fingerprint
		return w.tx.KeepAnswer(once.key(), answer)
	})
	return answer, replayed, err
}

// Revise replaces the answer that is kept under a key.
func (r *Resources) Revise(ctx context.Context, once Once, answer *Answer) error {
	answer.Fingerprint = once.Fingerprint
	return r.store.Write(ctx, func(tx *store.Tx) error { return tx.KeepAnswer(once.key(), answer) })
}
