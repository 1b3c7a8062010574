// Package operation executes the steps that were accepted for later: workers take them from a durable queue and execute each exactly once,
// even across crashes. Package resource accepts steps and executes them.
package operation

import (
	"sync"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/internal/tracing"
)

// Config configures the queue and its workers.
type Config struct {
	Workers int // concurrent operations

	// Lease is how long a claim lasts that its worker does not renew. Default: 15 s.
	Lease time.Duration

	// Pause is the delay after a failed attempt. Default: it grows with every attempt.
	Pause func(attempt int64) time.Duration

	// Failed is called when an attempt fails through no fault of the request, or when the queue
	// itself fails; then the job is zero.
	Failed func(job store.Job, err error)

	// Tracer gets the executions of operations whose requests were in a trace that was sampled. Nil: there is none.
	Tracer tracing.Tracer

	// Finished is called for every operation that this server has finished, with the error if it
	// was refused.
	Finished func(job store.Job, refused error)
}

// Operations is the queue of a store, and its workers.
type Operations struct {
	Config
	store     *store.Store
	resources *resource.Resources
	wake      chan struct{} // signals new work
	renewal   time.Duration // interval of lease renewal

	mutex   sync.Mutex
	waiters map[model.ID]chan resource.Outcome
}

// lease is a variable so that the crash harness can link a shorter one.
var lease = "15s"

// New returns the operations of a store. No work is done until Run.
func New(config Config, st *store.Store, resources *resource.Resources) *Operations {
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
		Config: config, store: st, resources: resources,
		wake: make(chan struct{}, 1), renewal: config.Lease / 3, waiters: map[model.ID]chan resource.Outcome{},
	}
}
