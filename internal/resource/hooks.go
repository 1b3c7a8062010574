package resource

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/effect"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/tracing"
	"github.com/plural-go/plural/problem"
)

// Hook is code of the embedding program that takes part in changes. Each function may be nil.
// A function that panics, or exceeds Timeout, fails only its own request.
type Hook struct {
	// Before runs before the transaction, and may be slow.
	Before func(context.Context, *Change) error
	// Within runs in the transaction, before the write. It runs again when the transaction is
	// retried.
	Within func(context.Context, *Handle, *Change) error
	// After runs after the commit.
	After func(context.Context, *Change)

	Timeout time.Duration
}

type hookKey struct {
	collection *model.Collection // as it is stored
	verb       Verb
}

// hooksOf lists the hooks of a verb of a collection, which are the same for all versions.
func (r *Resources) hooksOf(c *model.Collection, verb Verb) []Hook {
	return r.hooks[hookKey{c.Base(), verb}]
}

// AddHook adds a hook to a verb of a collection. Hooks run in the order in which they were
// added. It must not be called once requests are handled.
func (r *Resources) AddHook(c *model.Collection, verb Verb, hook Hook) {
	key := hookKey{c.Base(), verb}
	r.hooks[key] = append(r.hooks[key], hook)
}

// hasWithin reports whether a hook takes part in a verb inside the transaction.
func (r *Resources) hasWithin(c *model.Collection, verb Verb) bool {
	return slices.ContainsFunc(r.hooksOf(c, verb), func(hook Hook) bool { return hook.Within != nil })
}

// needsRows reports whether a hook gets the resources of a verb inside the transaction or after it.
func (r *Resources) needsRows(c *model.Collection, verb Verb) bool {
	return slices.ContainsFunc(r.hooksOf(c, verb), func(hook Hook) bool { return hook.Within != nil || hook.After != nil })
}

// hasBefore reports whether a hook takes part in a verb before the transaction.
func (r *Resources) hasBefore(c *model.Collection, verb Verb) bool {
	return slices.ContainsFunc(r.hooksOf(c, verb), func(hook Hook) bool { return hook.Before != nil })
}

// BoundHooks bounds the total time of the hooks of a request, or of those before, in or after its transaction: a
// thousand short hooks are not short together.
func (r *Resources) BoundHooks(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.HookTime == 0 || len(r.hooks) == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, r.HookTime, limit.HookTimeout("the hooks of a request", r.HookTime))
}

// Context keys. They contain their Resources, as a program may have several servers.
type (
	hookCallKey    struct{ resources *Resources } // the context of a hook
	transactionKey struct{ resources *Resources } // the context of code that runs inside a transaction
)

// ErrNested is the error of a write that would wait for the transaction it is made in.
var ErrNested error = fault.New(problem.CodeConflict, "A write through the server would wait for the open transaction: "+
	"use the *plural.Tx of this function instead.")

// hookContext is the context of a hook. The program acts in a hook, so the context has no
// caller, and its reads are not those of a client.
func (r *Resources) hookContext(ctx context.Context) context.Context {
	return limit.WithReader(auth.WithoutCaller(context.WithValue(ctx, hookCallKey{r}, true)), nil)
}

// transactionContext is the context of code that runs inside a transaction.
func (r *Resources) transactionContext(ctx context.Context) context.Context {
	return context.WithValue(context.WithValue(ctx, hookCallKey{r}, true), transactionKey{r}, true)
}

// InHook reports whether a context is that of a hook or of a function in a transaction: its
// calls belong to a request that was accepted before.
func (r *Resources) InHook(ctx context.Context) bool { return ctx.Value(hookCallKey{r}) != nil }

// refuseNested refuses a write inside an open transaction. SQLite has one writer, so the two
// would wait for each other; PostgreSQL behaves alike.
func (r *Resources) refuseNested(ctx context.Context) error {
	if ctx.Value(transactionKey{r}) != nil {
		return ErrNested
	}
	return nil
}

// before runs the hooks before the transaction. Values that they set go into the input.
func (r *Resources) before(ctx context.Context, step *decodedStep, verb Verb, id *model.ID, input *model.Input) error {
	c := step.Path.Collection
	if !r.hasBefore(c, verb) {
		return nil
	}
	ctx = r.hookContext(ctx)
	change := &Change{Verb: verb, Collection: r.newest(c), ID: id, By: step.Path.By, DryRun: step.dryRun}
	if input != nil {
		sent := input.FromClient()
		input.Values, input.Set, input.Sent = slices.Clone(input.Values), slices.Clone(input.Set), &sent
		if verb == Create && !input.HasID() {
			input.Values[model.IDColumn], input.Set[model.IDColumn] = model.IDValue(r.store.NewID()), true
		}
		change.After, change.Set = input.Values, input.Set
	}
	for _, hook := range r.hooksOf(c, verb) {
		if hook.Before == nil {
			continue
		}
		if err := r.runHook(ctx, hook, "before", change, func(ctx context.Context) error { return hook.Before(ctx, change) }); err != nil {
			return r.inNamesOf(c, err)
		}
	}
	return nil
}

// within runs the hooks in the transaction.
func (w *Work) within(verb Verb, c *model.Collection, before, after model.Record) error {
	if !w.resources.hasWithin(c, verb) {
		return nil
	}
	change := &Change{Verb: verb, Collection: w.resources.newest(c), Before: before, After: after, By: w.by, DryRun: w.dryRun}
	for _, hook := range w.resources.hooksOf(c, verb) {
		if hook.Within == nil {
			continue
		}
		handle := &Handle{work: w}
		err := w.resources.runHook(w.resources.transactionContext(w.resources.hookContext(w.ctx)), hook, "within", change, func(ctx context.Context) error {
			handle.ctx = ctx
			return hook.Within(ctx, handle, change)
		})
		handle.end()
		if err != nil {
			return w.hookError(c, change, err)
		}
	}
	return nil
}

// hookError decides whose error it is when a hook fails in the transaction. References are
// checked after the hooks, which may change them. If the client sent a reference that does not
// exist, that is the error.
func (w *Work) hookError(c *model.Collection, change *Change, err error) error {
	if inner := (*fault.Inner)(nil); change.After == nil || !fault.Is(err, problem.CodeInternal) || !errors.As(err, &inner) {
		return w.resources.inNamesOf(c, err)
	}
	dangling := make([]problem.Errors, 1)
	if failed := w.checkReferences(reads.Path{Collection: c}, []model.Record{change.Before}, []model.Record{change.After}, dangling); failed != nil || len(dangling[0]) == 0 {
		return err
	}
	return dangling[0]
}

// scheduleAfter notes a change, and schedules its After hooks, which run once it is committed.
func (w *Work) scheduleAfter(verb Verb, c *model.Collection, before, after model.Record) {
	record := after
	if record == nil {
		record = before
	}
	w.affected.Note(map[Verb]effect.Kind{Create: effect.Created, Update: effect.Updated, Delete: effect.Deleted}[verb], c, record.ID(model.IDColumn))
	for _, hook := range w.resources.hooksOf(c, verb) {
		if hook.After != nil {
			change := &Change{Verb: verb, Collection: w.resources.newest(c), Before: before, After: after, By: w.by}
			w.after = append(w.after, func(ctx context.Context) { w.resources.runAfter(ctx, hook, change) })
		}
	}
}

// runAfter runs a hook after the commit. Its errors are only reported.
func (r *Resources) runAfter(ctx context.Context, hook Hook, change *Change) {
	err := r.runHook(r.hookContext(ctx), hook, "after", change, func(ctx context.Context) error {
		hook.After(ctx, change)
		return nil
	})
	if err != nil && r.AfterFailed != nil {
		r.AfterFailed(ctx, change, err)
	}
}

// runHook runs a function of a hook, as a span if the context is that of a trace that is sampled.
func (r *Resources) runHook(ctx context.Context, hook Hook, phase string, change *Change, fn func(context.Context) error) error {
	if tracing.Sampled(r.Tracer, ctx) == "" {
		return hook.run(ctx, fn)
	}
	collection, verb := change.Collection.Name, string(change.Verb)
	ctx, span := r.Tracer.Start(ctx, tracing.Internal, "hook "+phase+" "+verb+" "+collection,
		slog.String("plural.collection", collection), slog.String("plural.verb", verb), slog.String("plural.hook.phase", phase))
	err := hook.run(ctx, fn)
	tracing.End(span, err)
	return err
}

// run runs a function of a hook. Its error is returned as faults for the client. An empty list is no error.
func (h Hook) run(ctx context.Context, fn func(context.Context) error) error {
	late, err := limit.RunGuarded(ctx, "a hook", h.Timeout, fn)
	if late {
		return err
	}
	if list, ok := err.(problem.Errors); err == nil || ok && len(list) == 0 {
		return nil
	}
	return fault.From(err)
}

// newest is a collection under its names in the newest version, which are those that hooks have.
func (r *Resources) newest(c *model.Collection) *model.Collection { return r.store.Schema().Of(c) }

// inNamesOf renames the attributes in the places of the error of a hook, for a client of another version. An error at an attribute that
// the version does not have gets no place.
func (r *Resources) inNamesOf(c *model.Collection, err error) error {
	newest := r.newest(c)
	if newest == c {
		return err
	}
	renamed := slices.Clone(fault.From(err))
	for i, each := range renamed {
		name, _, _ := strings.Cut(strings.TrimPrefix(each.Source.Pointer, "/"), "/")
		field := newest.Field(name)
		if field == nil || field.Column == model.NoColumn {
			continue
		}
		own := *each
		own.Source.Pointer = strings.Replace(each.Source.Pointer, name, c.Columns()[field.Column].Name, 1)
		if !c.Shows().Has(field.Column) {
			own.Source.Pointer = ""
		}
		renamed[i] = &own
	}
	return renamed
}
