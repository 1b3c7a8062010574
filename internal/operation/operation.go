// Package operation executes writes asynchronously: it accepts them into a durable queue, and
// workers execute each exactly once, even across crashes.
package operation

import (
	"strings"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// Config configures the queue and its workers.
type Config struct {
	Workers int   // concurrent operations
	Backlog int64 // most unfinished operations
	Share   int64 // of the backlog, for each caller; where there is no access control, no callers are known

	// Lease is how long a claim lasts that its worker does not renew. Default: 15 s.
	Lease time.Duration

	// Pause is the delay after a failed attempt. Default: it grows with every attempt.
	Pause func(attempt int64) time.Duration

	// Guard identifies callers and their rights; nil: no access control.
	Guard *auth.Guard

	// Failed is called when an attempt fails through no fault of the request, or when the queue
	// itself fails; then there is no operation.
	Failed func(operation string, err error)

	// Finished is called for every operation that this server has finished, with the error if it
	// was refused.
	Finished func(job store.Job, refused error)
}

// Operations is the queue of a store, and its workers.
type Operations struct {
	Config
	schema    *model.Schema
	store     *store.Store
	resources *resource.Resources
	wake      chan struct{} // signals new work
	renewal   time.Duration // interval of lease renewal

	mutex   sync.Mutex
	waiters map[model.ID]chan Outcome
}

// lease is a variable so that the crash harness can link a shorter one.
var lease = "15s"

// New returns the operations of a store. No work is done until Run.
func New(config Config, sch *model.Schema, st *store.Store, resources *resource.Resources) *Operations {
	if config.Lease == 0 {
		var err error
		if config.Lease, err = time.ParseDuration(lease); err != nil {
			panic(err)
		}
	}
	if config.Finished == nil {
		config.Finished = func(store.Job, error) {}
	}
	if config.Pause == nil {
		config.Pause = growingPause
	}
	return &Operations{
		Config: config, schema: sch, store: st, resources: resources,
		wake: make(chan struct{}, 1), renewal: config.Lease / 3, waiters: map[model.ID]chan Outcome{},
	}
}

// Accepted is an operation that will be executed.
type Accepted struct {
	Operation model.ID
	Resource  model.ID
	write     resource.Write
	outcome   chan Outcome
}

// Outcome is the result of an operation: what the request would have been answered with.
type Outcome struct {
	Write   resource.Write
	Results []resource.Resource
	Err     error
}

// Accept checks a request by executing it and undoing that, and adds it to the queue. It takes effect when the
// transaction commits. Observed makes its outcome available to Wait.
func (o *Operations) Accept(w *resource.Work, request resource.Request, write resource.Write, observed bool) (Accepted, error) {
	if err := o.checkBacklog(w.Tx(), request.Path.By); err != nil {
		return Accepted{}, err
	}
	id := write.ID
	if write.Verb == resource.Create {
		id = w.SetID(&write)
	}
	awaited, err := o.tryOut(w, write, id)
	if err != nil {
		return Accepted{}, err
	}
	tx, c := w.Tx(), request.Path.Collection
	accepted := Accepted{Operation: tx.NewID(), Resource: id, write: write}
	if _, err := tx.Insert(o.schema.Operations(), o.record(tx, accepted, request)); err != nil {
		return Accepted{}, err
	}
	caller, err := callerOf(request).Marshal()
	if err != nil {
		return Accepted{}, err
	}
	job := store.Job{
		Operation: accepted.Operation, Caller: caller, Method: request.Method, Collection: c.Name, Resource: id, Parent: request.Path.Parent, Body: string(request.Body),
		IfMatch: headerText(request.IfMatch), IfNoneMatch: headerText(request.IfNoneMatch),
	}
	if err := tx.Enqueue(job, awaited); err != nil {
		return Accepted{}, err
	}
	if observed {
		accepted.outcome = make(chan Outcome, 1)
		o.mutex.Lock()
		defer o.mutex.Unlock()
		o.waiters[accepted.Operation] = accepted.outcome
	}
	return accepted, nil
}

// checkBacklog refuses an operation when the queue is full, or the caller has their share of it. The operations of the caller
// are counted only if they can be so many.
func (o *Operations) checkBacklog(tx *store.Tx, by *auth.Permit) error {
	unfinished, err := tx.Backlog(o.Backlog)
	if err != nil {
		return err
	}
	if unfinished >= o.Backlog {
		return fault.New(problem.CodeBacklogFull, "The queue is full: %d operations are pending. Try again later.", unfinished)
	}
	if by == nil || unfinished < o.Share {
		return nil
	}
	own, err := tx.BacklogOf(by.Caller.ID, o.Share)
	if err == nil && own >= o.Share {
		err = fault.New(problem.CodeTooManyRequests, "%d of your operations are pending, and a caller may have no more. Try again later.", own)
	}
	return err
}

// tryOut executes a write and undoes it. If a pending operation will create its resource, the
// pending operations are executed first. It returns the operations that the write depends on.
func (o *Operations) tryOut(w *resource.Work, write resource.Write, id model.ID) (awaited []model.ID, err error) {
	err = w.Undone(func() error {
		if err := o.tryOutPending(w, write.Path.Collection, id); err != nil {
			return err
		}
		before := len(w.Awaited())
		_, err := w.Do(write)
		awaited = w.Awaited()[before:]
		return err
	})
	return awaited, err
}

func (o *Operations) tryOutPending(w *resource.Work, c *model.Collection, id model.ID) error {
	stored, err := w.Tx().View(c, nil, id, nil)
	if err != nil || stored {
		return err
	}
	ahead, err := w.Tx().Unfinished(c, id)
	if err != nil {
		return err
	}
	for _, job := range ahead {
		write, err := o.decode(job, true, w.Decode)
		if err == nil {
			err = w.Savepoint(func() error {
				_, err := w.Do(write)
				return err
			})
		}
		if transient(err) {
			return err
		}
		// A refused operation has no effect, and the next ones go on.
	}
	return nil
}

// decode reads the stored request of an operation, by a function that may look at stored resources. In a transaction it is that
// of the transaction: to wait for another connection could take forever if all who have one do so.
func (o *Operations) decode(job store.Job, accepting bool, decode func(resource.Request) (resource.Write, error)) (resource.Write, error) {
	c := o.schema.Collection(job.Collection)
	if c == nil {
		return resource.Write{}, fault.New(problem.CodeNotFound, "There is no collection %s any more.", job.Collection)
	}
	caller, err := auth.UnmarshalCaller(job.Caller)
	if err != nil {
		return resource.Write{}, err
	}
	request := resource.Request{
		Method: job.Method, Path: resource.Path{Collection: c, Parent: job.Parent, By: o.Guard.PolicyInForce().Permit(caller)}, ID: job.Resource, Body: []byte(job.Body),
		IfMatch: headerOf(job.IfMatch), IfNoneMatch: headerOf(job.IfNoneMatch), CountPending: accepting,
		IfMatchOptional: true, // whether it is required was decided on acceptance
	}
	if job.Parent != nil && c.ParentLink() == nil {
		return resource.Write{}, fault.New(problem.CodeNotFound, "The collection %s is no sub-collection any more.", job.Collection)
	}
	write, err := decode(request)
	if err == nil && write.Verb == resource.Create {
		write.SetID(job.Resource)
	}
	write.Schema = job.Schema // ETags are those of the schema on acceptance
	return write, err
}

// callerOf is the caller whose operation a request becomes.
func callerOf(request resource.Request) auth.Caller {
	if request.Path.By == nil {
		return auth.Caller{}
	}
	return request.Path.By.Caller
}

// headerText is a header as stored. Bytes that are not valid UTF-8 occur in no ETag of ours.
func headerText(values []string) string {
	return strings.ToValidUTF8(strings.Join(values, ","), "\uFFFD")
}

func headerOf(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// record is a new operation as clients see it.
func (o *Operations) record(tx *store.Tx, accepted Accepted, request resource.Request) model.Record {
	c := o.schema.Operations()
	record := make(model.Record, len(c.Columns()))
	record[model.IDColumn] = model.IDValue(accepted.Operation)
	record[c.Field("status").Column] = model.TextValue("pending")
	record[c.Field("method").Column] = model.TextValue(request.Method)
	record[c.Field("resource").Column] = model.TextValue(`{"id":"` + accepted.Resource.String() + `","type":"` + request.Path.Collection.Name + `"}`)
	record[c.Field("attempts").Column] = model.IntValue(0)
	record[c.CallerColumn()] = model.TextValue(callerOf(request).ID)
	record[c.CreatedColumn()], record[c.UpdatedColumn()] = tx.Now(), tx.Now()
	return record
}
