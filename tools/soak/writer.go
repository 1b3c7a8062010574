//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// writer sends requests, one after another. No other writer uses its resources, so it knows the
// state of each; only the counters are shared.
type writer struct {
	number  int
	rng     *rand.Rand
	run     *Run
	clients []*client // to the server as it runs now, one for each node
	client  *client   // that is in use
	ending  context.Context

	tokens   int
	accounts []*item
	unsure   *exchange   // has a key and no answer: it is sent again
	answered []*exchange // have a key and an answer: they can be repeated
}

// item is a resource as its writer knows it.
type item struct {
	ref      ledger.Ref
	etag     string
	oldETag  string // of the value before
	parent   *item  // account of an order, order of a note
	children []*item
}

// exchange is a request with everything needed to send it again.
type exchange struct {
	request *ledger.Request
	message message
	learn   func(ledger.Answer) // what an answer of success means to the writer
	forget  func()              // what is not certain when there is none, or not yet
	chained bool                // if it is accepted, more is sent before it is waited for
}

// meet gives a writer the nodes. It starts with a random one.
func (w *writer) meet(clients []*client) {
	w.clients, w.client = clients, clients[w.number%len(clients)]
}

// other is the node after the current one, which is the same if there is only one.
func (w *writer) other() *client {
	return w.clients[(slices.Index(w.clients, w.client)+1)%len(w.clients)]
}

// work sends requests until the server has ended or the context ends. If there are several nodes, it
// continues with another.
func (w *writer) work(ctx context.Context) error {
	w.ending = ctx
	for ctx.Err() == nil {
		next := w.act
		if w.unsure != nil {
			next = w.catchUp
		}
		// A request that was sent can still take effect.
		err := next(context.WithoutCancel(ctx))
		if err != nil && (w.run.answerTimeout == 0 || isWrong(err)) {
			return err
		}
		if err != nil {
			time.Sleep(time.Duration(w.rng.Int64N(int64(2 * breather))))
		}
		if err != nil || w.chance(8) {
			w.client = w.other()
		}
	}
	return nil
}

// breather is about how long a writer waits before it tries again.
const breather = 100 * time.Millisecond

// catchUp sends a request with a key again that had no response.
func (w *writer) catchUp(ctx context.Context) error {
	x := w.unsure
	if x == nil {
		return nil
	}
	w.unsure = nil
	return w.send(ctx, x, false)
}

// catchUpAtLast is catchUp with retries: the transaction of a killed node may still hold the key.
func (w *writer) catchUpAtLast(ctx context.Context) error {
	for deadline := time.Now().Add(maxRecovery); ; {
		err := w.catchUp(ctx)
		if !errors.Is(err, errAway) || time.Now().After(deadline) {
			return err
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// token marks a value as this writer's.
func (w *writer) token() string {
	w.tokens++
	return fmt.Sprintf("w%d-%d", w.number, w.tokens)
}

// id is an id made by the client: a UUID of version 4.
func (w *writer) id() string {
	a, b := w.rng.Uint64(), w.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

// chance is true once in n times.
func (w *writer) chance(n int) bool { return w.rng.IntN(n) == 0 }

// do executes a write. An error means that the server has ended.
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

// send sends a request, once or twice at the same time, and records the responses. An error means
// that the server has ended, or that the writer stopped waiting.
func (w *writer) send(ctx context.Context, x *exchange, twice bool) error {
	w.run.ledger.Enter(x.request)
	replies := &replies{coming: 1 + btoi(twice), channel: make(chan reply, 2)}
	for _, c := range []*client{w.client, w.other()}[:replies.coming] {
		w.run.pending.Go(func() {
			answer, _, err := c.send(ctx, x.message)
			replies.channel <- reply{answer, err}
		})
	}
	if replies.collect(w.run.tooLong()); replies.coming > 0 {
		replies.lost = errSlow
		late := *replies
		w.run.pending.Go(func() { w.run.takeLate(x.request, &late) })
	}
	w.run.note(x.request, replies)
	if len(replies.answers) > 0 {
		return w.settled(ctx, x)
	}
	lost := replies.lost
	if lost == nil && w.run.answerTimeout > 0 {
		lost = errAway
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

// settled updates what the writer knows after a response. It waits for an accepted write.
func (w *writer) settled(ctx context.Context, x *exchange) error {
	r := x.request
	if r.Keyed {
		if w.answered = append(w.answered, x); len(w.answered) > 8 {
			w.answered = w.answered[1:]
		}
	}
	switch r.Outcome {
	case ledger.Done:
		x.learn(w.run.ledger.First(r))
	case ledger.Accepted:
		x.forget()
		if !x.chained {
			return w.takeUp(ctx, x)
		}
	}
	return nil
}

// await waits for the operation of an accepted request. If the run stops writing first, its outcome
// is read later.
func (w *writer) await(ctx context.Context, r *ledger.Request) error {
	late := time.After(maxSettle)
	if w.run.answerTimeout > 0 {
		late = time.After(w.run.answerTimeout)
	}
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

// takeUp waits for an accepted request, and records its effect.
func (w *writer) takeUp(ctx context.Context, x *exchange) error {
	if err := w.await(ctx, x.request); err != nil || x.request.Outcome != ledger.Done {
		return err
	}
	effect := x.request.Effects[0]
	if effect.Gone() {
		x.learn(ledger.Answer{})
		return nil
	}
	answer, err := w.get(ctx, "/"+effect.Ref.Collection+"/"+effect.Ref.ID)
	if err == nil {
		x.learn(answer)
	}
	return err
}

// get reads a resource that must exist.
func (w *writer) get(ctx context.Context, path string) (ledger.Answer, error) {
	ctx, cancel := w.run.withTimeout(ctx)
	defer cancel()
	answer, _, err := w.client.get(ctx, path)
	return answer, err
}

// repeat sends a request with a key again that had a response, perhaps from another node or before a
// restart.
func (w *writer) repeat(ctx context.Context) error {
	x := w.answered[w.rng.IntN(len(w.answered))]
	ctx, cancel := w.run.withTimeout(ctx)
	defer cancel()
	answer, _, err := w.other().send(ctx, x.message)
	if err == nil && answer.Status < 500 && !answer.InFlight() { // another may have been given up, and not be through
		w.run.ledger.Update(func() { x.request.Answers = append(x.request.Answers, answer) })
	}
	return err
}
