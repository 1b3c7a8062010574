package resource

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
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
	Collection *model.Collection
	ID         *model.ID // nil for a new resource without one yet

	// By is the permit of whoever makes it, or set off what makes it; nil is the program
	// itself, or anybody.
	By *auth.Permit

	// Before is the resource as it is stored, nil for a new one, and for a hook
	// ahead of the transaction, which has not read it.
	Before model.Record

	// After is the resource as it is to be, nil for a deletion. Ahead of the
	// transaction it has the columns of Set only. A hook may change it until it
	// is written.
	After model.Record
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
	collection *model.Collection
	verb       Verb
}

// AddHook adds a hook to a verb of a collection. Hooks run in the order in which
// they were added. It is not for use once requests are answered.
func (r *Resources) AddHook(c *model.Collection, verb Verb, hook Hook) {
	key := hookKey{c, verb}
	r.hooks[key] = append(r.hooks[key], hook)
}

// hookTime bounds how long hooks may take together: one that is quick enough by
// itself is not when there are a thousand of them.
func (r *Resources) hookTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.HookTime == 0 || len(r.hooks) == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, r.HookTime, &overdue{"the hooks of a request", r.HookTime})
}

// Keys of context values. They name their Resources, as a program may have several servers.
type (
	hookCallKey    struct{ resources *Resources } // the context of a hook
	transactionKey struct{ resources *Resources } // the context of code that runs inside a transaction
)

// ErrNested refuses a write that would wait for the transaction it is made in.
var ErrNested error = fault.New(problem.CodeConflict, "A transaction is open, and a write through the server would wait for its end: "+
	"write through tx instead, the *plural.Tx that the function was given.")

// hookContext is the context that a hook gets. What a hook does is done by the program,
// so the caller of the request is not in it.
func (r *Resources) hookContext(ctx context.Context) context.Context {
	return auth.WithoutCaller(context.WithValue(ctx, hookCallKey{r}, true))
}

// transactionContext is the context of code that runs inside a transaction.
func (r *Resources) transactionContext(ctx context.Context) context.Context {
	return context.WithValue(context.WithValue(ctx, hookCallKey{r}, true), transactionKey{r}, true)
}

// InHook reports whether a context is that of a hook, or of a function inside a
// transaction: what it calls is part of a request that was accepted before.
func (r *Resources) InHook(ctx context.Context) bool { return ctx.Value(hookCallKey{r}) != nil }

// refuseNested refuses to write while a transaction of the same goroutine is open. SQLite has
// one writer, so the two would wait for each other; PostgreSQL behaves alike.
func (r *Resources) refuseNested(ctx context.Context) error {
	if ctx.Value(transactionKey{r}) != nil {
		return ErrNested
	}
	return nil
}

// before runs the hooks ahead of a transaction. What they set goes into the input.
func (r *Resources) before(ctx context.Context, verb Verb, path Path, id *model.ID, input *model.Input) error {
	c := path.Collection
	hooks := r.hooks[hookKey{c, verb}]
	if len(hooks) == 0 {
		return nil
	}
	hooks = slices.DeleteFunc(slices.Clone(hooks), func(hook Hook) bool { return hook.Before == nil })
	if len(hooks) == 0 {
		return nil
	}
	ctx = r.hookContext(ctx)
	change := &Change{Verb: verb, Collection: c, ID: id, By: path.By}
	if input != nil {
		input.Values, input.Set = slices.Clone(input.Values), slices.Clone(input.Set)
		if verb == Create && !input.HasID() {
			input.Values[model.IDColumn], input.Set[model.IDColumn] = model.IDValue(r.store.NewID()), true
		}
		change.After, change.Set = input.Values, input.Set
	}
	for _, hook := range hooks {
		if err := hook.run(ctx, func(ctx context.Context) error { return hook.Before(ctx, change) }); err != nil {
			return err
		}
	}
	return nil
}

// within runs the hooks inside the transaction.
func (w *Work) within(change *Change) error {
	change.By = w.by
	for _, hook := range w.resources.hooks[hookKey{change.Collection, change.Verb}] {
		if hook.Within == nil {
			continue
		}
		handle := &Handle{work: w}
		err := hook.run(w.resources.transactionContext(w.resources.hookContext(w.ctx)), func(ctx context.Context) error {
			handle.ctx = ctx
			return hook.Within(ctx, handle, change)
		})
		handle.end()
		if err != nil {
			return w.blame(change, err)
		}
	}
	return nil
}

// blame finds who is to blame when a hook could not do what it wanted within the
// transaction. References are checked behind the hooks, which may change them:
// one that led nowhere made the hook stumble, and is the client's mistake.
func (w *Work) blame(change *Change, err error) error {
	if inner := (*fault.Inner)(nil); change.After == nil || !fault.Is(err, problem.CodeInternal) || !errors.As(err, &inner) {
		return err
	}
	dangling, failed := w.checkReferences(nil, change.Collection, change.Before, change.After)
	if failed != nil || len(dangling) == 0 {
		return err
	}
	return dangling
}

// written has the hooks run that follow the commit of a change.
func (w *Work) written(change *Change) {
	change.By = w.by
	for _, hook := range w.resources.hooks[hookKey{change.Collection, change.Verb}] {
		if hook.After != nil {
			w.after = append(w.after, func(ctx context.Context) { w.resources.runAfter(ctx, hook, change) })
		}
	}
}

// runAfter runs a hook behind a commit, which nothing can undo: what goes wrong
// is noted.
func (r *Resources) runAfter(ctx context.Context, hook Hook, change *Change) {
	err := hook.run(r.hookContext(ctx), func(ctx context.Context) error {
		hook.After(ctx, change)
		return nil
	})
	if err != nil && r.AfterFailed != nil {
		r.AfterFailed(ctx, change, err)
	}
}

// overdue is why a hook, or several, had to end.
type overdue struct {
	who   string
	limit time.Duration
}

func (o *overdue) Error() string { return fmt.Sprintf("%s took longer than %s", o.who, o.limit) }

// run runs a function of a hook.
func (h Hook) run(ctx context.Context, fn func(context.Context) error) error {
	late, err := guarded(ctx, "a hook", h.Timeout, fn)
	if late {
		return err
	}
	return hookFaults(err)
}

// guarded runs code of the embedding program in a goroutine of its own, so that neither a
// panic nor a hang reaches whoever waits for it. Late means that the context was over
// first, or the time: the error says so then.
func guarded(ctx context.Context, who string, limit time.Duration, fn func(context.Context) error) (late bool, err error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, &overdue{who, limit})
		defer cancel()
	}
	if ctx.Err() != nil { // others have used up the time
		return true, ended(ctx)
	}
	done := make(chan error, 1)
	go func() {
		err := errors.New(who + " ended its goroutine")
		defer func() {
			if reason := recover(); reason != nil {
				err = fmt.Errorf("panic in %s: %v\n%s", who, reason, debug.Stack())
			}
			done <- err
		}()
		err = fn(ctx)
	}()
	select {
	case err := <-done:
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // it has seen so itself
			return true, ended(ctx)
		}
		return false, err
	case <-ctx.Done():
		return true, ended(ctx)
	}
}

// hookFaults is what a hook returned, as faults that are fit for the client. A
// list of no errors is none.
func hookFaults(err error) error {
	if list, ok := err.(problem.Errors); err == nil || ok && len(list) == 0 {
		return nil
	}
	return fault.From(err)
}

// ended is the error of a hook whose context is over: it had no more time, or
// whoever called does not wait any more.
func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if late := (*overdue)(nil); !errors.As(cause, &late) {
		return cause
	}
	return &problem.Error{Code: problem.CodeHookTimeout, Detail: "A rule of this server took too long. Try again later.", Cause: cause}
}
