package plural

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
)

// Verb is a kind of change that a hook takes part in.
type Verb string

// The verbs.
const (
	Create Verb = "create"
	Update Verb = "update" // PUT, PATCH, and a reference that is set to null
	Delete Verb = "delete" // DELETE, and what cascades
)

// Hook is your code that takes part in the changes of a collection. A function that panics, or
// exceeds Timeout, fails only its own request. A function may be nil.
type Hook struct {
	Collection string
	On         []Verb // none: all of them

	// Before runs before the transaction and may be slow: it can call another service. It does not
	// see what is stored. It may change what the request sets, and refuse it by an error. For an
	// array it runs once for each item. It does not run for changes by a cascade or another hook.
	Before func(ctx context.Context, change *Change) error

	// Within runs in the transaction, before the write. It sees the resource before and after, may
	// change the resource, may read and write other collections through the transaction, and may
	// refuse everything by an error. It runs again when the transaction is retried, so it should
	// have no effect outside. On SQLite it blocks all other writes: be quick. A write through the
	// server with the context of the hook is refused with ErrInTransaction, as it would wait for
	// the transaction: use tx.
	Within func(ctx context.Context, tx *Tx, change *Change) error

	// After runs after the commit, before the response.
	After func(ctx context.Context, change *Change)

	// Timeout is how long each of the functions may take. Default: 5 s.
	Timeout time.Duration
}

// Change is one resource that is created, updated or deleted.
type Change struct {
	Verb       Verb
	Collection string
	ID         string
	Before     *Resource // as stored; nil for a new one, and in Hook.Before
	After      *Resource // as it will be stored; nil for a deletion

	// DryRun: the request has dry_run=true, so that the change is undone. A hook that has an effect
	// elsewhere should leave it out. After does not run.
	DryRun bool

	// Caller is who causes the change, also indirectly. It is empty for the program itself, and
	// without Access.
	Caller Caller
}

// Transition is the states of an attribute with a lifecycle, before and after the change. Ok is false if the change stays in its state,
// or is a deletion. A new resource comes from the state "". An update has no state before in Hook.Before, which runs before the
// resource is read, so ok is false there.
func (c *Change) Transition(attribute string) (from, to string, ok bool) {
	if c.After == nil || c.Before == nil && c.Verb != Create {
		return "", "", false
	}
	if c.Before != nil {
		from, _ = c.Before.Get(attribute).(string)
	}
	to, _ = c.After.Get(attribute).(string)
	if from == to {
		return "", "", false
	}
	return from, to, true
}

// Invalid is an error for a hook to refuse a change: the client gets 422, with the JSON
// Pointer of the attribute ("/email"), or "".
func Invalid(pointer, format string, args ...any) error {
	return fault.At(rooted(pointer), problem.CodeRefused, format, args...)
}

// Conflict is an error for a hook to refuse a change: the client gets 409.
func Conflict(pointer, format string, args ...any) error {
	return fault.At(rooted(pointer), problem.CodeConflict, format, args...)
}

// rooted makes a JSON Pointer of the name of an attribute.
func rooted(pointer string) string {
	if pointer != "" && pointer[0] != '/' {
		return "/" + pointer
	}
	return pointer
}

// addHooks checks the hooks and hands them to the resources.
func addHooks(resources *resource.Resources, s *model.Schema, hooks []Hook) {
	for _, hook := range hooks {
		for _, verb := range hook.verbs() {
			resources.AddHook(s.Collection(hook.Collection), resource.Verb(verb), hook.inner(s))
		}
	}
}

// verbs lists the changes that the hook takes part in.
func (h Hook) verbs() []Verb {
	if len(h.On) == 0 {
		return []Verb{Create, Update, Delete}
	}
	return h.On
}

// checkHooks reports everything that is wrong with hooks.
func checkHooks(s *model.Schema, hooks []Hook) error {
	var problems refusals
	for i, hook := range hooks {
		c := s.Collection(hook.Collection)
		if c == nil || c.ReadOnly() {
			problems.addIf(true, "hook %d is for the collection %q, which the schema does not declare", i, hook.Collection)
			continue
		}
		problems.addIf(hook.Before == nil && hook.Within == nil && hook.After == nil, "hook %d for %s has no function", i, hook.Collection)
		problems.addIf(hook.Timeout < 0, "hook %d for %s has a negative Timeout", i, hook.Collection)
		for _, verb := range hook.verbs() {
			problems.addIf(verb != Create && verb != Update && verb != Delete, "hook %d is for the verb %q: use Create, Update or Delete", i, verb)
		}
	}
	return errors.Join(problems...)
}

// inner converts the hook for internal/resource.
func (h Hook) inner(s *model.Schema) resource.Hook {
	inner := resource.Hook{Timeout: cmp.Or(h.Timeout, 5*time.Second)}
	if h.Before != nil {
		inner.Before = func(ctx context.Context, change *resource.Change) error { return h.Before(ctx, outer(change)) }
	}
	if h.Within != nil {
		inner.Within = func(ctx context.Context, handle *resource.Handle, change *resource.Change) error {
			return h.Within(ctx, &Tx{handle: handle, schema: s}, outer(change))
		}
	}
	if h.After != nil {
		inner.After = func(ctx context.Context, change *resource.Change) {
			committed := outer(change)
			committed.After = stored(committed.After)
			h.After(ctx, committed)
		}
	}
	return inner
}

func outer(change *resource.Change) *Change {
	c := &Change{
		Verb: Verb(change.Verb), Collection: change.Collection.Name, DryRun: change.DryRun,
		Before: stored(newResource(change.Collection, change.Before, nil)), After: newResource(change.Collection, change.After, change.Set),
	}
	if change.By != nil {
		by := change.By.Caller
		c.Caller = Caller{ID: by.ID, Role: by.Role, Subject: by.Subject, Claims: by.Claims}
	}
	switch {
	case change.ID != nil:
		c.ID = change.ID.String()
	case c.After != nil:
		c.ID = c.After.ID()
	case c.Before != nil:
		c.ID = c.Before.ID()
	}
	return c
}
