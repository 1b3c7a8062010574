//go:build linux

// Package ledger records the requests of a run with their responses, and compares them with what a
// server has stored: what was acknowledged must be there, once and whole.
package ledger

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Ref identifies a resource.
type Ref struct{ Collection, ID string }

// Effect is what a request does to one resource, if it takes effect.
type Effect struct {
	Ref    Ref    // without an id if the server is to mint it, and has not said it
	Change string // created, updated or deleted, as the change log calls it
	Token  string // marks the value that it leaves; no other request writes the same
	Want   string // the representation as the server acknowledged it, if it has
}

// Gone reports whether the resource does not exist after the effect.
func (e Effect) Gone() bool { return e.Change == Deleted || e.Change == seen && e.Token == "" }

// The kinds of changes, as in the change log, and one that is not a change: the harness has read the
// value.
const (
	Created = "created"
	Updated = "updated"
	Deleted = "deleted"
	seen    = "seen"
)

// Outcome is what is known about the effect of a request.
type Outcome int

// The outcomes.
const (
	Unknown  Outcome = iota // no answer, or one that says nothing: it took effect or not, but whole
	Done                    // acknowledged
	Accepted                // 202: it takes effect once, sooner or later
	Refused                 // by an answer, or by a failed operation: no effect
)

func (o Outcome) String() string {
	return [...]string{"unknown", "done", "accepted", "refused"}[o]
}

// Answer is the part of a response that must be the same when the request is repeated.
type Answer struct {
	Status         int
	Location, ETag string
	Body           string
	Replayed       bool // the server said that it has answered so before
}

// same compares what a repeated response must have in common with the first.
func (a Answer) same(b Answer) bool {
	a.Replayed, b.Replayed = false, false
	return a == b
}

// Request is a line of the ledger: a write that was sent, and its outcome.
type Request struct {
	Order     int // of writes to one resource: the order in which they were last sent
	Writer    int
	Kind      Kind
	Keyed     bool // it has an Idempotency-Key
	Effects   []Effect
	Shared    bool   // others write to the same resources at the same time
	MayFail   []int  // statuses of refusals that are right; any other is wrong
	MustFail  bool   // no success is right
	Sent      string // for people
	Outcome   Outcome
	Answers   []Answer // to every time it was sent, if there was one; repetitions behind the others
	Failures  []Answer // errors of the server, which decide nothing
	Operation string   // path of the operation of a 202
	Failure   *Answer  // the errors of a failed operation, as the response that they would have been
	Mismatch  string   // what is wrong with the response itself

	Blind bool // of a shared resource: it replaces any value, so that nothing follows from the order of such writes

	// For a compare-and-swap of a shared resource: which value it replaces, and
	// when it began and ended.
	Expects    string
	Call, Over time.Duration
}

// Answer records responses to a request, in the order in which they came. The response to a
// repetition may come before that to the original. The first response decides the outcome.
func (r *Request) Answer(answers, failures []Answer, now time.Duration) {
	known := len(r.Answers) > 0
	for _, a := range answers {
		if a.Replayed {
			r.Answers = append(r.Answers, a)
		} else {
			r.Answers = slices.Insert(r.Answers, 0, a)
		}
	}
	r.Failures = append(r.Failures, failures...)
	if !known && len(answers) == 0 && !r.Keyed && slices.ContainsFunc(failures, Answer.full) {
		r.Outcome = Refused
	}
	if known || len(answers) == 0 {
		return
	}
	first := answers[0]
	r.Over = now
	switch {
	case first.Status == http.StatusAccepted:
		r.Outcome, r.Operation = Accepted, first.Location
		r.accepted(first)
	case first.Status < 300:
		r.Outcome = Done
		r.done(first)
	default:
		r.Outcome = Refused
	}
}

// full reports whether the server refused the request because its disk is full.
func (a Answer) full() bool { return a.Code() == "storage_full" }

// accepted takes the id from a 202 response, which has no other attributes.
func (r *Request) accepted(a Answer) {
	ref := &r.Effects[0].Ref
	if ref.ID == "" {
		ref.ID = Identify(a.Data()[0]).ID
	}
	if want := fmt.Sprintf(`{"data":{"id":%q,"type":%q}}`, ref.ID, ref.Collection); a.Body != want {
		r.Mismatch = "answered " + a.Body + ", and not " + want
	}
}

// done takes the representations from a successful response.
func (r *Request) done(a Answer) {
	if r.Effects[0].Gone() {
		return
	}
	data := a.Data()
	if len(data) != len(r.Effects) {
		r.Mismatch = fmt.Sprintf("answered with %d resources: %s", len(data), a.Body)
		return
	}
	for i := range r.Effects {
		e := &r.Effects[i]
		value, id := ParseValue(data[i]), Identify(data[i])
		if e.Ref.ID == "" {
			e.Ref.ID = id.ID
		}
		if value.Token != e.Token || value.Torn || id != (identity{e.Ref.ID, e.Ref.Collection}) {
			r.Mismatch = "answered with another resource: " + value.Representation
		}
		e.Want = value.Representation
	}
}

// Kind is the kind of a request, a row in the report.
type Kind string

// The kinds.
const (
	Create      Kind = "create"
	CreateArray Kind = "create an array"
	Patch       Kind = "PATCH with If-Match"
	StalePatch  Kind = "PATCH with an old If-Match"
	Put         Kind = "PUT"
	Delete      Kind = "DELETE with cascade"
	Swap        Kind = "compare and swap"
	Move        Kind = "change of state"
	Seen        Kind = "seen" // by the harness, not a request
)

// Async is the kind of the same request executed asynchronously.
func (k Kind) Async() Kind { return "async " + k }

// Ledger has every write that was sent and every read of shared resources. It
// is kept outside of the server.
type Ledger struct {
	mutex    sync.Mutex
	requests []*Request
	reads    []Read
	order    int
}

// Read is a read of a shared resource: the value that was there at some moment
// between call and return.
type Read struct {
	Ref          Ref
	Token        string
	Call, Return time.Duration
}

// Enter records that a request is about to be sent. A request that is sent again is entered again,
// and moves to the end.
func (l *Ledger) Enter(r *Request) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.order++
	if r.Order == 0 {
		l.requests = append(l.requests, r)
	}
	r.Order = l.order
}

// Update changes the line of a request.
func (l *Ledger) Update(change func()) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	change()
}

// First is the first response to a request.
func (l *Ledger) First(r *Request) Answer {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return r.Answers[0]
}

// Read records a read of a shared resource.
func (l *Ledger) Read(r Read) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.reads = append(l.reads, r)
}

// Requests lists the requests in order.
func (l *Ledger) Requests() []*Request {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	slices.SortFunc(l.requests, func(a, b *Request) int { return cmp.Compare(a.Order, b.Order) })
	return slices.Clone(l.requests)
}

// Reads lists the reads of shared resources.
func (l *Ledger) Reads() []Read {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.reads)
}
