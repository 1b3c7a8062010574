package resource

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// Verb is a kind of change.
type Verb string

// The verbs.
const (
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
)

// Change is one resource that is created, updated or deleted.
type Change struct {
	Verb       Verb
	Collection *schema.Collection
	ID         *schema.ID // nil for a new resource without one yet

	// Before is the resource as it is stored, nil for a new one, and for a hook
	// ahead of the transaction, which has not read it.
	Before schema.Record

	// After is the resource as it is to be, nil for a deletion. Ahead of the
	// transaction it has the columns of Set only. A hook may change it until it
	// is written.
	After schema.Record
	Set   []bool
}

// Hook is code of the embedding program that takes part in changes. Each of its
// functions may be nil. A function that panics, or takes longer than Timeout,
// fails its own request only.
type Hook struct {
	// Before runs ahead of the transaction, and may be slow.
	Before func(context.Context, *Change) error
	// Within runs inside the transaction, ahead of the write. It may run more
	// than once, as the transaction may.
	Within func(context.Context, *Handle, *Change) error
	// After runs once the transaction is committed.
	After func(context.Context, *Change)

	Timeout time.Duration
}

type hookKey struct {
	collection *schema.Collection
	verb       Verb
}

// AddHook adds a hook to a verb of a collection. Hooks run in the order in which
// they were added. It is not for use once requests are answered.
func (r *Resources) AddHook(c *schema.Collection, verb Verb, hook Hook) {
	key := hookKey{c, verb}
	r.hooks[key] = append(r.hooks[key], hook)
}

// before runs the hooks ahead of a transaction. What they set goes into the input.
func (r *Resources) before(ctx context.Context, verb Verb, c *schema.Collection, id *schema.ID, input *schema.Input) error {
	hooks := r.hooks[hookKey{c, verb}]
	if len(hooks) == 0 {
		return nil
	}
	change := &Change{Verb: verb, Collection: c, ID: id}
	if input != nil {
		input.Values, input.Set = slices.Clone(input.Values), slices.Clone(input.Set)
		change.After, change.Set = input.Values, input.Set
	}
	for _, hook := range hooks {
		if hook.Before == nil {
			continue
		}
		if err := hook.run(ctx, func(ctx context.Context) error { return hook.Before(ctx, change) }); err != nil {
			return err
		}
	}
	return nil
}

// within runs the hooks inside the transaction.
func (w *work) within(change *Change) error {
	for _, hook := range w.resources.hooks[hookKey{change.Collection, change.Verb}] {
		if hook.Within == nil {
			continue
		}
		handle := &Handle{work: w}
		err := hook.run(w.ctx, func(ctx context.Context) error {
			handle.ctx = ctx
			return hook.Within(ctx, handle, change)
		})
		handle.end()
		if err != nil {
			return err
		}
	}
	return nil
}

// written has the hooks run that follow the commit of a change.
func (w *work) written(change *Change) {
	for _, hook := range w.resources.hooks[hookKey{change.Collection, change.Verb}] {
		if hook.After != nil {
			w.after = append(w.after, func() { w.resources.runAfter(context.WithoutCancel(w.ctx), hook, change) })
		}
	}
}

// runAfter runs a hook behind a commit, which nothing can undo: what goes wrong
// is noted.
func (r *Resources) runAfter(ctx context.Context, hook Hook, change *Change) {
	err := hook.run(ctx, func(ctx context.Context) error {
		hook.After(ctx, change)
		return nil
	})
	if err != nil && r.AfterFailed != nil {
		r.AfterFailed(err)
	}
}

// run runs a function of a hook in a goroutine of its own, so that neither a
// panic nor a hang reaches whoever waits for it.
func (h Hook) run(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := errors.New("a hook ended its goroutine")
		defer func() {
			if reason := recover(); reason != nil {
				err = fmt.Errorf("panic in a hook: %v\n%s", reason, debug.Stack())
			}
			done <- err
		}()
		err = fn(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return &fault.Error{
			Code: fault.CodeHookTimeout, Detail: "A rule of this server took too long. Try again later.",
			Cause: fmt.Errorf("a hook took longer than %s: %w", h.Timeout, ctx.Err()),
		}
	}
}
