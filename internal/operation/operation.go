// Package operation does writes later: it accepts them into a durable queue, and
// its workers carry them out, each exactly once, whatever crashes when.
package operation

import (
	"context"
	"errors"
	"net/http"
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

// Config says how operations are carried out.
type Config struct {
	Workers int   // operations that are worked on at the same time
	Backlog int64 // operations that may be unfinished

	// Lease is how long an operation stays with a worker that says nothing more.
	// Default: 15 s.
	Lease time.Duration

	// Pause is how long an operation rests behind an attempt that failed. Default: a
	// time that grows with every attempt.
	Pause func(attempt int64) time.Duration

	// Guard knows callers and what they may do; nil: everybody may do everything.
	Guard *auth.Guard

	// Failed is told what went wrong with an attempt of an operation, through no
	// fault of the request, or with the queue itself if there is no operation.
	Failed func(operation string, err error)

	// Finished is told of every operation that this server has finished, and why it
	// was refused, if it was.
	Finished func(job store.Job, refused error)
}

// Operations is the queue of a store, and its workers.
type Operations struct {
	Config
	schema    *model.Schema
	store     *store.Store
	resources *resource.Resources
	wake      chan struct{} // there may be something to do
	renewal   time.Duration // of a lease, while an operation is worked on

	mutex   sync.Mutex
	waiters map[model.ID]chan Outcome
}

// lease is a variable so that the crash harness can link a shorter one.
var lease = "15s"

// New gives access to the operations of a store. Nothing is worked on until Run.
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

// Accepted is an operation that will be carried out.
type Accepted struct {
	Operation model.ID
	Resource  model.ID
	write     resource.Write
	outcome   chan Outcome
}

// Outcome is what came of an operation: what the request would have been answered
// with.
type Outcome struct {
	Write   resource.Write
	Results []resource.Resource
	Err     error
}

// errRehearsed ends a rehearsal that went well, so that it is undone.
var errRehearsed = errors.New("rehearsed")

// Accept checks a request as if it were carried out now, and puts it into the
// queue. It takes effect with the transaction. Observed keeps its outcome for Wait.
func (o *Operations) Accept(w *resource.Work, request resource.Request, write resource.Write, observed bool) (Accepted, error) {
	if err := o.room(w.Tx()); err != nil {
		return Accepted{}, err
	}
	id := write.ID
	if write.Verb == resource.Create {
		id = w.Identify(&write)
	}
	relied, err := o.rehearse(w, write, id)
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
	if err := tx.Enqueue(job, relied); err != nil {
		return Accepted{}, err
	}
	if observed {
		accepted.outcome = o.expect(accepted.Operation)
	}
	return accepted, nil
}

// room refuses what would make the queue longer than it may be.
func (o *Operations) room(tx *store.Tx) error {
	unfinished, err := tx.Backlog(o.Backlog)
	if err == nil && unfinished >= o.Backlog {
		err = fault.New(problem.CodeBacklogFull, "%d operations are waiting to be carried out, and no more can be accepted. Try again later.", unfinished)
	}
	return err
}

// rehearse does a write and undoes it. If its resource does not exist but is about
// to, the operations ahead are rehearsed first. It returns the operations
// that create what the write relies on.
func (o *Operations) rehearse(w *resource.Work, write resource.Write, id model.ID) (relied []model.ID, err error) {
	err = w.Attempt(func() error {
		if err := o.rehearseAhead(w, write.Path.Collection, id); err != nil {
			return err
		}
		before := len(w.Relied())
		if _, err := w.Do(write); err != nil {
			return err
		}
		relied = w.Relied()[before:]
		return errRehearsed
	})
	if errors.Is(err, errRehearsed) {
		err = nil
	}
	return relied, err
}

func (o *Operations) rehearseAhead(w *resource.Work, c *model.Collection, id model.ID) error {
	stored, err := w.Tx().View(c, nil, id, nil)
	if err != nil || stored {
		return err
	}
	ahead, err := w.Tx().Unfinished(c, id)
	if err != nil {
		return err
	}
	for _, job := range ahead {
		write, err := o.decode(w.Context(), job, true)
		if err == nil {
			err = w.Attempt(func() error {
				_, err := w.Do(write)
				return err
			})
		}
		if err != nil && fault.From(err)[0].Status() >= http.StatusInternalServerError {
			return err
		}
		// One that would be refused has no effect, and those behind it go on.
	}
	return nil
}

// decode reads the request of an operation again.
func (o *Operations) decode(ctx context.Context, job store.Job, accepting bool) (resource.Write, error) {
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
		IfMatch: headerOf(job.IfMatch), IfNoneMatch: headerOf(job.IfNoneMatch), Accepting: accepting,
	}
	if job.Parent != nil && c.ParentLink() == nil {
		return resource.Write{}, fault.New(problem.CodeNotFound, "The collection %s is no sub-collection any more.", job.Collection)
	}
	write, err := o.resources.Decode(ctx, request)
	if err == nil && write.Verb == resource.Create {
		write.SetID(job.Resource)
	}
	// What a client must send was decided when it was accepted, and what it sent is
	// about what it was shown then.
	write.Condition.Required, write.Schema = false, job.Schema
	return write, err
}

// callerOf is whose operation a request becomes.
func callerOf(request resource.Request) auth.Caller {
	if request.Path.By == nil {
		return auth.Caller{}
	}
	return request.Path.By.Caller
}

// headerText is a header as it is kept. Its bytes may be any, and those that are no
// text are in no tag of ours.
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
