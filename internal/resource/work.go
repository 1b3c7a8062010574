package resource

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Work is one write in progress: a transaction, and the functions that run after its commit.
type Work struct {
	resources *Resources
	ctx       context.Context // of hooks
	lookup
	by    *auth.Permit // of the caller
	after []func(context.Context)
	depth int // of nested hooks that write

	dryRun   bool                // see DryRun
	affected map[identity]effect // resources that were changed; nil: they are not counted
}

// Sharing tells whether a write may share a transaction with others. The zero value: it takes too long.
type Sharing struct {
	short bool
	id    model.ID // see store.Store.WriteShort
}

// SharingOf tells whether a write may share a transaction.
func (r *Resources) SharingOf(write *Write) Sharing {
	single := !write.Many && write.Range == nil && write.Conflict == nil && !write.DryRun && !r.hasWithin(write.Path.Collection, write.Verb)
	return Sharing{short: single && write.Verb != Delete, id: write.ID}
}

// RunWork runs fn in a transaction, and then the functions that it scheduled. Fn may run more
// than once.
func (r *Resources) RunWork(ctx context.Context, sharing Sharing, fn func(*Work) error) error {
	if err := r.refuseNested(ctx); err != nil {
		return err
	}
	// A started transaction is completed, hooks included, even if the caller is cancelled.
	var within context.Context
	through, cancel := context.WithoutCancel(ctx), func() {}
	defer func() { cancel() }()
	var w *Work
	run := func(tx *store.Tx) error {
		if within == nil { // waiting for the transaction does not count
			within, cancel = r.hookTime(through)
		}
		w = &Work{resources: r, ctx: within, lookup: lookup{tx: tx}} // nothing is left of an earlier run
		return fn(w)
	}
	var err error
	if sharing.short {
		err = r.store.WriteShort(ctx, sharing.id, run)
	} else {
		err = r.store.Write(ctx, run)
	}
	if err != nil || len(w.after) == 0 {
		return err
	}
	afterCommit, cancelAfter := r.hookTime(through)
	defer cancelAfter()
	for _, run := range w.after {
		run(afterCommit)
	}
	return nil
}

// Tx is the transaction.
func (w *Work) Tx() *store.Tx { return w.tx }

// Context is the context of hooks.
func (w *Work) Context() context.Context { return w.ctx }

// Savepoint runs fn in a savepoint: if it fails, its writes and scheduled functions are undone.
func (w *Work) Savepoint(fn func() error) error {
	after, coming, affected := len(w.after), len(w.creating), maps.Clone(w.affected)
	err := w.tx.Savepoint(fn)
	if err != nil {
		w.after, w.creating, w.affected = w.after[:after], w.creating[:coming], affected
	}
	return err
}

// Transaction runs a function of the program in a transaction, with the rights of a caller,
// and then the After hooks. The function may run more than once, and has as much time as hooks
// have. If it fails, nothing is stored. Own means that the error is that of the function,
// unchanged.
func (r *Resources) Transaction(ctx context.Context, by *auth.Permit, fn func(context.Context, *Handle) error) (own bool, err error) {
	var failed error
	err = r.RunWork(ctx, Sharing{}, func(w *Work) error {
		handle := &Handle{work: w, ctx: r.transactionContext(w.ctx), by: by, first: true}
		defer handle.end()
		_, failed = runGuarded(r.transactionContext(ctx), "the function of a transaction", r.HookTime, func(ctx context.Context) error { return fn(ctx, handle) })
		return failed
	})
	if err != nil && failed != nil {
		return true, failed
	}
	return false, err
}

// Handle lets a function read and write in a transaction. It fails once the function has
// returned or exceeded its time.
type Handle struct {
	mutex sync.Mutex // held during each use
	work  *Work      // nil after the function has returned
	ctx   context.Context
	by    *auth.Permit // rights of the function; nil: everything
	first bool         // not in a hook: Before runs with each write
}

// end waits for the current use, and ends the handle.
func (h *Handle) end() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.work = nil
}

var (
	errHookOver  = errors.New("the transaction was used after its function had returned or timed out")
	errTooNested = errors.New("hooks that write are nested too deeply")
)

// maxHookDepth bounds hooks that trigger each other.
const maxHookDepth = 8

func (h *Handle) use(fn func(*Work) error) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.work == nil {
		return errHookOver
	}
	if h.work.depth == maxHookDepth {
		return errTooNested
	}
	// Nested hooks have no more time than this one.
	outer := h.work.ctx
	h.work.ctx = h.ctx
	h.work.depth++
	defer func() {
		h.work.depth--
		h.work.ctx = outer
	}()
	return fn(h.work)
}

// Read reads one resource, or the part of it that a request wants.
func (h *Handle) Read(c *model.Collection, id model.ID, wanted query.Request) (found Resource, err error) {
	path := Path{Collection: c, By: h.by}
	err = h.use(func(w *Work) error {
		if err := path.Allowed(schema.MayRead); err != nil {
			return err
		}
		q, err := query.BuildOne(c, wanted, path.Limits())
		if err == nil {
			found, err = w.resources.readPart(w.tx, path, id, q)
		}
		return err
	})
	return found, err
}

// List reads a range of a collection into memory.
func (h *Handle) List(c *model.Collection, wanted query.Request) (all []Resource, err error) {
	path := Path{Collection: c, By: h.by}
	err = h.list(path, wanted, false, func(w *Work, page *Page, q query.Query) error {
		return w.resources.Each(path, page, q, func(found Resource) error {
			all = append(all, found)
			return nil
		})
	})
	return all, err
}

// Count is the number of resources that a request selects, without its range.
func (h *Handle) Count(c *model.Collection, wanted query.Request) (total int64, err error) {
	err = h.list(Path{Collection: c, By: h.by}, wanted, true, func(_ *Work, page *Page, _ query.Query) error {
		total = page.Total
		return nil
	})
	return total, err
}

func (h *Handle) list(path Path, wanted query.Request, exact bool, read func(*Work, *Page, query.Query) error) error {
	return h.use(func(w *Work) error {
		if err := path.Allowed(schema.MayList); err != nil {
			return err
		}
		q, err := query.Build(path.Collection, wanted, path.Limits())
		if err != nil {
			return err
		}
		selected := pageQuery(path, q, exact)
		selected.Held = len(q.Includes) > 0
		page, err := w.tx.Page(selected)
		if err != nil {
			return err
		}
		defer page.Close()
		return read(w, page, q)
	})
}

// Limits is what the function may name in a query.
func (h *Handle) Limits(c *model.Collection) query.Limits {
	return Path{Collection: c, By: h.by}.Limits()
}

// Do executes a write. If it fails, it is undone and the transaction can go on. If-Match is
// never required: the function has read what it changes.
func (h *Handle) Do(request Request) (results []Resource, err error) {
	request.Path.By = h.by
	err = h.use(func(w *Work) error {
		return w.Savepoint(func() error {
			write, err := w.Decode(request)
			if err != nil {
				return err
			}
			write.Condition.Required, write.withoutBefore = false, !h.first
			if h.first {
				if err := w.resources.runBefore(w.ctx, &write); err != nil {
					return err
				}
			}
			results, err = w.Do(write)
			return err
		})
	})
	return results, err
}
