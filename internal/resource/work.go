package resource

import (
	"context"
	"errors"
	"sync"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Work is one write in progress: a transaction, and what is to be done once it
// is committed.
type Work struct {
	resources *Resources
	ctx       context.Context // of its hooks
	sight
	by    *auth.Permit // of whoever set it off
	after []func(context.Context)
	depth int // of writes that hooks make within writes
}

// Transact runs fn in a transaction, and then what it left to be done. It may run
// more than once.
func (r *Resources) Transact(ctx context.Context, fn func(*Work) error) error {
	if err := r.refuseNested(ctx); err != nil {
		return err
	}
	// What has begun goes on to its end, hooks included, whatever becomes of the caller.
	var within context.Context
	through, cancel := context.WithoutCancel(ctx), func() {}
	defer func() { cancel() }()
	var w *Work
	err := r.store.Write(ctx, func(tx *store.Tx) error {
		if within == nil { // the time that it waited for its turn is not its own
			within, cancel = r.hookTime(through)
		}
		w = &Work{resources: r, ctx: within, sight: sight{tx: tx}} // a transaction that is run again starts anew
		return fn(w)
	})
	if err != nil || len(w.after) == 0 {
		return err
	}
	behind, cancelBehind := r.hookTime(through)
	defer cancelBehind()
	for _, run := range w.after {
		run(behind)
	}
	return nil
}

// Tx is the transaction.
func (w *Work) Tx() *store.Tx { return w.tx }

// Context is that of its hooks.
func (w *Work) Context() context.Context { return w.ctx }

// Attempt runs fn in a part of the transaction: if it fails, nothing of it remains,
// and what was to follow it does not.
func (w *Work) Attempt(fn func() error) error {
	after, coming := len(w.after), len(w.coming)
	err := w.tx.Attempt(fn)
	if err != nil {
		w.after, w.coming = w.after[:after], w.coming[:coming]
	}
	return err
}

// Transaction runs a function of the program in a transaction, with the rights of a
// caller, and then the hooks that follow its commit. The function may run more than once, and
// has as much time as hooks have. If it fails, nothing has happened; own tells that the error is
// that of the function, as it is.
func (r *Resources) Transaction(ctx context.Context, by *auth.Permit, fn func(context.Context, *Handle) error) (own bool, err error) {
	var failed error
	err = r.Transact(ctx, func(w *Work) error {
		handle := &Handle{work: w, ctx: r.transactionContext(w.ctx), by: by, first: true}
		defer handle.end()
		_, failed = guarded(r.transactionContext(ctx), "the function of a transaction", r.HookTime, func(ctx context.Context) error { return fn(ctx, handle) })
		return failed
	})
	if err != nil && failed != nil {
		return true, failed
	}
	return false, err
}

// Handle lets a function read and write within a transaction. It is of no use once the
// function has returned or run out of time.
type Handle struct {
	mutex sync.Mutex // held during each use
	work  *Work      // nil when the function is over
	ctx   context.Context
	by    *auth.Permit // what the function may do; nil is everything
	first bool         // nothing came ahead of the transaction: Before runs with each write
}

// end takes the transaction away from the hook, when it is not using it.
func (h *Handle) end() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.work = nil
}

var (
	errHookOver  = errors.New("the function that the transaction was given to is over, and with it the use of the transaction")
	errTooNested = errors.New("hooks that write and thereby run hooks are nested too deeply")
)

// maxHookDepth bounds hooks that set each other off.
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
	// Hooks that run because of this one have no more time than it has.
	outer := h.work.ctx
	h.work.ctx = h.ctx
	h.work.depth++
	defer func() {
		h.work.depth--
		h.work.ctx = outer
	}()
	return fn(h.work)
}

// Read reads one resource.
func (h *Handle) Read(c *model.Collection, id model.ID) (found Resource, err error) {
	path := Path{Collection: c, By: h.by}
	err = h.use(func(w *Work) error {
		if err := path.Allowed(schema.MayRead); err != nil {
			return err
		}
		record, err := path.get(w.tx, id)
		if err == nil {
			found = w.resources.Show(path, record)
		}
		return err
	})
	return found, err
}

// List reads a range of a collection into memory.
func (h *Handle) List(c *model.Collection, wanted query.Request) (all []Resource, err error) {
	path := Path{Collection: c, By: h.by}
	err = h.list(path, wanted, false, func(w *Work, l *Listing) error {
		for {
			row, err := l.Next()
			if err != nil || row == nil {
				return err
			}
			all = append(all, w.resources.Show(path, row))
		}
	})
	return all, err
}

// Count is the number of resources that a request selects, whatever its range.
func (h *Handle) Count(c *model.Collection, wanted query.Request) (total int64, err error) {
	err = h.list(Path{Collection: c, By: h.by}, wanted, true, func(_ *Work, l *Listing) error {
		total = l.Total
		return nil
	})
	return total, err
}

func (h *Handle) list(path Path, wanted query.Request, exact bool, read func(*Work, *Listing) error) error {
	return h.use(func(w *Work) error {
		if err := path.Allowed(schema.MayList); err != nil {
			return err
		}
		q, err := query.Build(path.Collection, wanted, path.By.Visible(path.Collection))
		if err != nil {
			return err
		}
		l := &Listing{tx: w.tx, collection: path.Collection, query: q}
		if err := l.begin(path, exact); err != nil {
			return err
		}
		defer l.endRows()
		return read(w, l)
	})
}

// Do does what a request wants to be written. If it fails, nothing of it remains, and the
// transaction can go on. An If-Match is never demanded: the function has read what it changes.
func (h *Handle) Do(request Request) (results []Resource, err error) {
	request.Path.By = h.by
	err = h.use(func(w *Work) error {
		return w.Attempt(func() error {
			write, err := w.Decode(request)
			if err != nil {
				return err
			}
			write.Condition.Required = false
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
