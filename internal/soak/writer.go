//go:build linux

package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// writer sends requests, one after another. Its resources are its own, so that
// it knows what each must be; only the counters are everybody's.
type writer struct {
	number int
	rng    *rand.Rand
	run    *Run
	client *client // to the server as it runs now
	ending context.Context

	tokens   int
	accounts []*item
	unsure   *exchange   // has a key and no answer: it is sent again
	answered []*exchange // have a key and an answer: they can be repeated
}

// item is a resource as its writer knows it.
type item struct {
	ref      Ref
	etag     string
	oldETag  string // of the value before
	parent   *item  // account of an order, order of a note
	children []*item
}

// exchange is a request with all that is needed to send it again.
type exchange struct {
	request *Request
	message message
	learn   func(Answer) // what an answer of success means to the writer
	forget  func()       // what is not certain when there is none, or not yet
	chained bool         // if it is accepted, more is sent before it is waited for
}

// work sends requests until the server is gone or the context ends.
func (w *writer) work(ctx context.Context) error {
	w.ending = ctx
	for ctx.Err() == nil {
		next := w.act
		if w.unsure != nil {
			next = w.catchUp
		}
		// A request that was given up could still take effect, so none is.
		if err := next(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// catchUp sends a request with a key once more that had no answer.
func (w *writer) catchUp(ctx context.Context) error {
	x := w.unsure
	if x == nil {
		return nil
	}
	w.unsure = nil
	return w.send(ctx, x, false)
}

// token marks a value as this writer's.
func (w *writer) token() string {
	w.tokens++
	return fmt.Sprintf("w%d-%d", w.number, w.tokens)
}

// id is one that a client brings: a UUID of version 4.
func (w *writer) id() string {
	a, b := w.rng.Uint64(), w.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

// chance is true once in n times.
func (w *writer) chance(n int) bool { return w.rng.IntN(n) == 0 }

// do does a write. An error means that the server is gone.
func (w *writer) do(ctx context.Context, x *exchange) error {
	r := x.request
	r.Writer, r.Sent, r.Call = w.number, x.message.String(), w.run.now()
	_, r.Keyed = x.message.header["Idempotency-Key"]
	r.MayFail = append(r.MayFail, w.run.broken...)
	if x.message.header["Prefer"] != "" {
		r.Kind = r.Kind.Async()
	}
	return w.send(ctx, x, r.Keyed && w.chance(4))
}

// send sends a request, once or twice at the same time, and notes what is answered.
// An error means that the server is gone.
func (w *writer) send(ctx context.Context, x *exchange, twice bool) error {
	w.run.ledger.Enter(x.request)
	var answers, failures []Answer
	var lost error
	var mutex sync.Mutex
	var both sync.WaitGroup
	for range 1 + btoi(twice) {
		both.Go(func() {
			answer, _, err := w.client.send(ctx, x.message)
			mutex.Lock()
			defer mutex.Unlock()
			switch {
			case err != nil:
				lost = err
			case answer.inFlight():
			case answer.Status >= 500:
				failures = append(failures, answer)
			case answer.Replayed:
				answers = append(answers, answer)
			default:
				answers = slices.Insert(answers, 0, answer)
			}
		})
	}
	both.Wait()
	w.run.ledger.Update(func() { x.request.answer(answers, failures, w.run.now()) })
	for _, a := range append(answers, failures...) {
		w.run.tally.count(a)
	}
	if len(answers) > 0 {
		return w.settled(ctx, x)
	}
	if x.request.Keyed {
		w.unsure = x
	} else {
		x.forget()
	}
	return lost
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// inFlight says that another request with the same key is being answered.
func (a Answer) inFlight() bool { return a.code() == "idempotency_key_in_use" }

// settled draws the conclusions from an answer. What was accepted is waited for.
func (w *writer) settled(ctx context.Context, x *exchange) error {
	r := x.request
	if r.Keyed {
		if w.answered = append(w.answered, x); len(w.answered) > 8 {
			w.answered = w.answered[1:]
		}
	}
	switch r.Outcome {
	case Done:
		x.learn(r.Answers[0])
	case Accepted:
		x.forget()
		if !x.chained {
			return w.takeUp(ctx, x)
		}
	}
	return nil
}

// await waits for the operation of an accepted request. If writing ends before
// that, what became of it is seen later.
func (w *writer) await(ctx context.Context, r *Request) error {
	late := time.After(maxSettle)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		over, err := resolve(ctx, w.client, &w.run.ledger, r, w.run.now)
		if over || err != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-w.ending.Done():
			return nil
		case <-late:
			return nil
		}
	}
}

// takeUp waits for an accepted request, and learns what it did.
func (w *writer) takeUp(ctx context.Context, x *exchange) error {
	if err := w.await(ctx, x.request); err != nil || x.request.Outcome != Done {
		return err
	}
	effect := x.request.Effects[0]
	if effect.gone() {
		x.learn(Answer{})
		return nil
	}
	answer, _, err := w.client.get(ctx, "/"+effect.Ref.Collection+"/"+effect.Ref.ID)
	if err == nil {
		x.learn(answer)
	}
	return err
}

// repeat sends a request with a key again that was answered before, maybe by
// another life of the server.
func (w *writer) repeat(ctx context.Context) error {
	x := w.answered[w.rng.IntN(len(w.answered))]
	answer, _, err := w.client.send(ctx, x.message)
	if err == nil && answer.Status < 500 {
		w.run.ledger.Update(func() { x.request.Answers = append(x.request.Answers, answer) })
	}
	return err
}
