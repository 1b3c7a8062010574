package resource

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
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
	kept, err := tx.Answer(once.key())
	tx.Close()
	kept, err = once.recall(kept, err)
	if err != nil || kept == nil || kept.Until == "" {
		return kept, err
	}
	// Whoever could have made another of it took too long, and must not do so any more.
	final, err := r.Revise(ctx, once, kept)
	if final == nil {
		final = kept
	}
	return final, err
}

// KeyInUse is the refusal of a request that is still being carried out, here or by
// another server.
func KeyInUse() error {
	return fault.Header("Idempotency-Key", problem.CodeKeyInUse, "The first request with this key is being carried out. Try again when it is answered.")
}

// recall decides whether an answer that is kept can be given.
func (o Once) recall(kept *Answer, err error) (*Answer, error) {
	switch {
	case err != nil || kept == nil:
		return nil, err
	case kept.Fingerprint != o.Fingerprint:
		return nil, fault.Header("Idempotency-Key", problem.CodeKeyReused, "This key was used for another request. Give each request a key of its own, and repeat a request exactly.")
	case kept.Until > model.FormatTime(time.Now()):
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
			if answer.Until != "" {
				_, err = w.tx.ReviseAnswer(once.key(), answer)
			}
			return err
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

// Revise makes an answer final, in place of one that is kept and is not. If another has
// become final before, it is returned: that is what the client must get.
func (r *Resources) Revise(ctx context.Context, once Once, answer *Answer) (other *Answer, err error) {
	err = r.store.Write(ctx, func(tx *store.Tx) error {
		revised, err := tx.ReviseAnswer(once.key(), answer)
		if other = nil; err == nil && !revised {
			other, err = tx.Answer(once.key())
		}
		return err
	})
	return other, err
}
