//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// Run is a test of one database: the writes to it, the crashes of its servers, and what was found.
type Run struct {
	system   System
	rng      *rand.Rand
	ledger   ledger.Ledger
	writers  []*writer
	counters []ledger.Ref
	tickets  []ledger.Ref
	begun    time.Time
	codes    atomic.Int64 // counts values of a unique attribute that several writers use
	tally    tally
	broken   []int // statuses that are expected while something is broken on purpose

	subscribers []*subscriber
	following   sync.WaitGroup     // of the subscribers
	stopFollow  context.CancelFunc // of following
	mayReset    bool               // a fault may force them to start again from a snapshot
	absence     time.Duration      // maximum time that they are disconnected
	alter       func() func(event) []event
	settle      time.Duration // how long to wait for them; zero: maxSettle

	clients       []*client      // of the current server process, one for each node
	answerTimeout time.Duration  // how long to wait for a response if there is another node; zero: no limit
	pending       sync.WaitGroup // requests without a response yet

	Crashes  []string // the kind of each crash
	Findings []ledger.Violation
	damage   []string // why the database cannot be used, or contradicts itself, whatever it should have
	Impact   Impact   // the errors that clients got
}

// numCounters and numTickets are the numbers of resources that all writers share.
const numCounters, numTickets = 4, 4

// NewRun prepares writers. The seed determines what they do, except for what depends on their
// relative speed.
func NewRun(system System, writers int, seed uint64) *Run {
	r := &Run{system: system, rng: rand.New(rand.NewPCG(seed, 0)), begun: time.Now(), stopFollow: func() {}}
	for i := range writers {
		r.writers = append(r.writers, &writer{number: i, rng: rand.New(rand.NewPCG(seed, uint64(i+1))), run: r})
	}
	return r
}

// now is the monotonic time since the run began.
func (r *Run) now() time.Duration { return time.Since(r.begun) }

// code is a value of a unique attribute that other writers try to use at the same time.
func (r *Run) code(rng *rand.Rand) string {
	return fmt.Sprintf("code-%d", r.codes.Add(int64(rng.IntN(2))))
}

// Cycle starts the server, checks it, runs the writers until about a number of writes were
// acknowledged, crashes the server, and checks what is stored. It returns false if it found a problem,
// which ends the run. An error is one of the harness itself.
func (r *Run) Cycle(ctx context.Context, acks int) (bool, error) {
	c, err := r.start(ctx)
	if err != nil || c == nil {
		return false, err
	}
	if ok, err := r.verify(ctx, c); !ok || err != nil {
		return false, err
	}
	crash := func() error { return r.crash(c) }
	if err := r.write(ctx, c, until{acks: 1 + r.rng.IntN(2*acks)}, crash); err != nil {
		return false, err
	}
	return r.checkAtRest()
}

// Finish starts the server once more, lets it stop, and checks everything.
func (r *Run) Finish(ctx context.Context) error {
	c, err := r.start(ctx)
	if err != nil || c == nil {
		return err
	}
	for _, w := range r.writers {
		w.meet(r.clients)
		w.ending = ctx
		if err := w.catchUpAtLast(ctx); err != nil {
			return r.recordFault(err)
		}
	}
	if ok, err := r.verify(ctx, c); !ok || err != nil {
		return err
	}
	if err := r.system.Stop(); err != nil {
		r.find(ledger.Violation{Fault: ledger.Wrong, Text: "the server did not stop well: " + err.Error()})
	}
	r.unsubscribe()
	if _, err := r.checkRest(true); err != nil {
		return err
	}
	r.find(ledger.Linearizable(r.ledger.Requests(), r.ledger.Reads())...)
	return nil
}

// start starts the server, and lets subscribers follow it.
func (r *Run) start(ctx context.Context) (*client, error) {
	c, err := r.startAlone(ctx)
	if c != nil {
		r.subscribe(ctx)
	}
	return c, err
}

// startAlone starts the server. Sometimes it crashes the server once more before it is ready. A server
// that does not start is a problem, and then there is no client.
func (r *Run) startAlone(ctx context.Context) (*client, error) {
	for len(r.Crashes) > 0 && r.rng.IntN(5) == 0 {
		if err := r.system.Launch(); err != nil {
			return nil, err
		}
		time.Sleep(time.Duration(r.rng.Int64N(int64(60 * time.Millisecond))))
		if err := r.crash(nil); err != nil {
			return nil, err
		}
	}
	if err := r.system.Launch(); err != nil {
		return nil, err
	}
	bases, err := r.system.Ready(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.damage = append(r.damage, err.Error())
		r.find(ledger.Violation{Fault: ledger.Wrong, Text: err.Error()})
		return nil, nil
	}
	r.clients = nil
	for _, base := range bases {
		c := newClient(base, 2*len(r.writers))
		c.mayBeUnavailable = r.answerTimeout > 0 && len(r.broken) > 0
		r.clients = append(r.clients, c)
	}
	return r.clients[0], nil
}

// crash crashes the server if it was started.
func (r *Run) crash(c *client) error {
	if c != nil {
		for _, c := range r.clients {
			c.dying.Store(true)
		}
	}
	how, err := r.system.Crash()
	r.Crashes = append(r.Crashes, how)
	return err
}

// find records problems, and reports whether there were none.
func (r *Run) find(violations ...ledger.Violation) bool {
	r.Findings = append(r.Findings, violations...)
	return len(violations) == 0
}

// lost counts the acknowledged writes that are seen to be lost. One write can have several findings.
func (r *Run) lost() int {
	writes := map[*ledger.Request]bool{}
	for _, v := range r.Findings {
		if v.Fault == ledger.Lost && v.Request != nil && v.Request.Kind != ledger.Seen {
			writes[v.Request] = true
		}
	}
	return len(writes)
}

// verify checks a server without load: accepted operations must finish, and the resources must be
// those in the ledger.
func (r *Run) verify(ctx context.Context, c *client) (bool, error) {
	if err := settle(ctx, c); err != nil {
		return r.find(ledger.Violation{Fault: ledger.Lost, Text: err.Error()}), ctx.Err()
	}
	for _, request := range r.ledger.Requests() {
		if request.Outcome != ledger.Accepted {
			continue
		}
		over, err := resolve(ctx, c, &r.ledger, request, r.now)
		if err != nil || !over {
			fault := ledger.Lost
			if err != nil && !isGone(err) {
				fault = ledger.Wrong // the operation could not be read, and may be done
			}
			return r.find(ledger.Violation{Fault: fault, Request: request, Text: fmt.Sprintf("accepted, and not done: %v", err)}), ctx.Err()
		}
	}
	call := r.now()
	found, problems, err := observe(ctx, c)
	if err != nil {
		return r.find(ledger.Violation{Fault: ledger.Wrong, Text: err.Error()}), ctx.Err()
	}
	for _, counter := range r.counters {
		r.ledger.Read(ledger.Read{Ref: counter, Token: found.Resources[counter].Token, Call: call, Return: r.now()})
	}
	requests := r.ledger.Requests()
	ok := r.compare(requests, found, problems)
	if ok, err := r.checkSubscribers(ctx, found); !ok || err != nil {
		return false, err
	}
	if witness := ledger.Witness(requests, found); ok && witness != nil {
		r.ledger.Enter(witness)
	}
	return ok, nil
}

// checkAtRest checks the database itself, while no server runs.
func (r *Run) checkAtRest() (bool, error) { return r.checkRest(false) }

// checkRest checks the database itself. All: the subscribers must have received every change.
func (r *Run) checkRest(all bool) (bool, error) {
	contents, err := r.system.AtRest()
	if err != nil {
		return false, err
	}
	r.damage = append(r.damage, contents.Problems...)
	r.checkLog(contents, all)
	if contents.Cut { // it does not have all writes
		contents.Changes = nil
	}
	return r.compare(r.ledger.Requests(), &contents.Observed, contents.Problems), nil
}

func (r *Run) compare(requests []*ledger.Request, found *ledger.Observed, problems []string) bool {
	violations := ledger.Check(requests, found)
	for _, problem := range problems {
		violations = append(violations, ledger.Violation{Fault: ledger.Wrong, Text: problem})
	}
	return r.find(violations...)
}

// write runs all writers until enough writes were acknowledged, and then calls a function while
// they continue.
func (r *Run) write(ctx context.Context, c *client, enough until, then func() error) error {
	if r.counters == nil {
		if err := r.createCounters(ctx); err != nil {
			return err
		}
	}
	if r.tickets == nil {
		var err error
		if r.tickets, err = r.createShared(ctx, "tickets", numTickets, true); err != nil {
			return err
		}
	}
	reached := r.tally.reset(enough)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(r.writers))
	var writers sync.WaitGroup
	for i, w := range r.writers {
		w.meet(r.clients)
		writers.Go(func() { errs[i] = w.work(ctx) })
	}
	select {
	case <-reached:
	case <-time.After(maxWriting):
	case <-ctx.Done():
	}
	// Not always immediately after a response.
	time.Sleep(time.Duration(r.rng.Int64N(int64(10 * time.Millisecond))))
	err := then()
	cancel()
	writers.Wait()
	r.pending.Wait()
	for _, ended := range errs {
		_ = r.recordFault(ended) // an unreachable server is expected here
	}
	return err
}

// isWrong reports whether an error is more than an unreachable server.
func isWrong(err error) bool {
	var gone *missing
	return errors.As(err, &gone) || errors.Is(err, errHangs)
}

// recordFault records an error if the server caused it.
func (r *Run) recordFault(err error) error {
	var gone *missing
	switch {
	case errors.As(err, &gone):
		r.find(ledger.Violation{Fault: ledger.Lost, Text: gone.Error()})
	case errors.Is(err, errHangs):
		r.find(ledger.Violation{Fault: ledger.Wrong, Text: err.Error()})
	default:
		return err
	}
	return nil
}

// maxWriting limits the time of a cycle on a slow machine.
var maxWriting = 20 * time.Second

// createCounters creates the counters.
func (r *Run) createCounters(ctx context.Context) (err error) {
	r.counters, err = r.createShared(ctx, "counters", numCounters, false, "count", 0)
	return err
}

// createShared creates resources that all writers share. Only an acknowledged one is shared:
// a creation without a response, as on a machine that stands still for a moment, took effect or not.
func (r *Run) createShared(ctx context.Context, collection string, count int, blind bool, more ...any) (shared []ledger.Ref, err error) {
	r.tally.reset(until{})
	w := r.writers[0]
	w.meet(r.clients)
	for tries := 0; len(shared) < count; tries++ {
		if tries == 5*count || isWrong(err) {
			return nil, fmt.Errorf("created only %d of %d shared %s: %v", len(shared), count, collection, err)
		}
		ref := ledger.Ref{Collection: collection, ID: w.id()}
		members := attributes(w.token(), "id", ref.ID)
		for i := 0; i < len(more); i += 2 {
			members[more[i].(string)] = more[i+1]
		}
		request := &ledger.Request{Kind: ledger.Create, Blind: blind, Effects: []ledger.Effect{{Ref: ref, Change: ledger.Created, Token: members["token"].(string)}}}
		err = w.do(ctx, &exchange{
			request: request,
			message: message{method: "POST", path: "/" + collection, body: encode(members)},
			learn: func(ledger.Answer) {
				r.ledger.Update(func() { request.Shared = true })
				shared = append(shared, ref)
			},
			forget: func() {},
		})
	}
	return shared, nil
}
