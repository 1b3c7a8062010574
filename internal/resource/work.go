package resource

import (
	"context"
	"errors"
	"sync"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// work is one write in progress: a transaction, and what is to be done once it
// is committed.
type work struct {
	resources *Resources
	ctx       context.Context
	tx        *store.Tx
	coming    []identity // resources that are about to be stored
	after     []func()
	depth     int // of writes that hooks make within writes
}

// write runs fn in a transaction, and then what it left to be done.
func (r *Resources) write(ctx context.Context, fn func(*work) error) error {
	var w *work
	err := r.store.Write(ctx, func(tx *store.Tx) error {
		// A transaction that is run again starts anew. What has begun goes on to its
		// end, hooks included, whatever becomes of the caller.
		w = &work{resources: r, ctx: context.WithoutCancel(ctx), tx: tx}
		return fn(w)
	})
	if err != nil {
		return err
	}
	for _, run := range w.after {
		run()
	}
	return nil
}

// Handle lets a hook read and write within the transaction that it takes part
// in. It is of no use once the hook has returned or run out of time.
type Handle struct {
	mutex sync.Mutex // held during each use
	work  *work      // nil when the hook is over
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

func (h *Handle) use(fn func(*work) error) error {
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

// attempt is a use that writes: if it fails, nothing of it remains, and what was
// to follow it does not.
func (h *Handle) attempt(fn func(*work) error) error {
	return h.use(func(w *work) error {
		after, coming := len(w.after), len(w.coming)
		err := w.tx.Attempt(func() error { return fn(w) })
		if err != nil {
			w.after, w.coming = w.after[:after], w.coming[:coming]
		}
		return err
	})
}

// Read reads one resource.
func (h *Handle) Read(c *schema.Collection, id schema.ID) (record schema.Record, err error) {
	err = h.use(func(w *work) error {
		record, err = Path{Collection: c}.get(w.tx, id)
		return err
	})
	return record, err
}

// List reads a range of a collection into memory.
func (h *Handle) List(c *schema.Collection, q query.Query) (records []schema.Record, err error) {
	err = h.use(func(w *work) error {
		l := &Listing{tx: w.tx, collection: c, query: q}
		if err := l.begin(Path{Collection: c}, false); err != nil {
			return err
		}
		defer l.endRows()
		for {
			row, err := l.Next()
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
	err = h.attempt(func(w *work) error {
		all, err := w.create(Path{Collection: c}, []schema.Input{input}, alone)
		if err == nil {
			created = all[0]
		}
		return err
	})
	return created, err
}

// Update updates a resource.
func (h *Handle) Update(c *schema.Collection, id schema.ID, input schema.Input) (updated Resource, err error) {
	err = h.attempt(func(w *work) error {
		updated, err = w.update(Path{Collection: c}, id, input)
		return err
	})
	return updated, err
}

// Delete deletes a resource.
func (h *Handle) Delete(c *schema.Collection, id schema.ID) (deleted Resource, err error) {
	err = h.attempt(func(w *work) error {
		deleted, err = w.delete(Path{Collection: c}, id)
		return err
	})
	return deleted, err
}
