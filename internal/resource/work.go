package resource

import (
	"context"
	"errors"
	"sync"

	"github.com/plural-go/plural/internal/auth"
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

// Handle lets a hook read and write within the transaction that it takes part
// in. It is of no use once the hook has returned or run out of time.
type Handle struct {
	mutex sync.Mutex // held during each use
	work  *Work      // nil when the hook is over
	ctx   context.Context
}

// end takes the transaction away from the hook, when it is not using it.
func (h *Handle) end() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.work = nil
}

var (
	errHookOver  = errors.New("the hook is over, and with it the use of its transaction")
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

// attempt is a use that writes.
func (h *Handle) attempt(fn func(*Work) error) error {
	return h.use(func(w *Work) error { return w.Attempt(func() error { return fn(w) }) })
}

// Read reads one resource.
func (h *Handle) Read(c *schema.Collection, id schema.ID) (record schema.Record, err error) {
	err = h.use(func(w *Work) error {
		record, err = Path{Collection: c}.get(w.tx, id)
		return err
	})
	return record, err
}

// List reads a range of a collection into memory.
func (h *Handle) List(c *schema.Collection, q query.Query) (records []schema.Record, err error) {
	err = h.use(func(w *Work) error {
		page, err := w.tx.Page(store.PageQuery{Collection: c, Filter: q.Filter, Sort: q.Sort, Range: q.Range, Whole: q.Filter == nil})
		if err != nil {
			return err
		}
		defer page.Close()
		for {
			row, err := page.Next()
			if err != nil || row == nil {
				return err
			}
			records = append(records, c.Scan(row))
		}
	})
	return records, err
}

// Create creates a resource.
func (h *Handle) Create(c *schema.Collection, input schema.Input) (created Resource, err error) {
	err = h.attempt(func(w *Work) error {
		all, err := w.Do(Write{Verb: Create, Path: Path{Collection: c}, Inputs: []schema.Input{input}})
		if err == nil {
			created = all[0]
		}
		return err
	})
	return created, err
}

// Update updates a resource.
func (h *Handle) Update(c *schema.Collection, id schema.ID, input schema.Input) (updated Resource, err error) {
	err = h.attempt(func(w *Work) error {
		updated, err = first(w.Do(Write{Verb: Update, Path: Path{Collection: c}, ID: id, Inputs: []schema.Input{input}}))
		return err
	})
	return updated, err
}

// Delete deletes a resource.
func (h *Handle) Delete(c *schema.Collection, id schema.ID) (deleted Resource, err error) {
	err = h.attempt(func(w *Work) error {
		deleted, err = first(w.Do(Write{Verb: Delete, Path: Path{Collection: c}, ID: id}))
		return err
	})
	return deleted, err
}
