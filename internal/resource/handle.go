package resource

import (
	"context"
	"errors"
	"sync"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/schema"
)

// Handle lets a function read and write in a transaction. It fails once the function has
// returned or exceeded its time.
type Handle struct {
	mutex      sync.Mutex // held during each use
	work       *Work      // nil after the function has returned
	ctx        context.Context
	by         *auth.Permit // rights of the function; nil: everything
	runsBefore bool         // the Before hooks of its writes run; not those of what a hook writes
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
	back := h.work.tx.WithSpan(h.ctx)
	defer func() {
		back()
		h.work.depth--
		h.work.ctx = outer
	}()
	return fn(h.work)
}

// Read reads one resource, or the part of it that a query string selects.
func (h *Handle) Read(c *model.Collection, id model.ID, wanted string) (found reads.Resource, err error) {
	path := reads.Path{Collection: c, By: h.by}
	err = h.use(func(w *Work) error {
		if err := path.Require(schema.MayRead); err != nil {
			return err
		}
		q, err := path.Parse(query.OfOne, wanted, 0)
		if err == nil {
			found, err = w.resources.GetIn(w.tx, path, id, q)
		}
		return err
	})
	return found, err
}

// List reads the range of a collection that a query string selects into memory. The limit is used if it has none.
func (h *Handle) List(c *model.Collection, wanted string, limit int64) (all []reads.Resource, err error) {
	path := reads.Path{Collection: c, By: h.by}
	err = h.list(path, wanted, limit, false, func(page *reads.List) error {
		return page.Each(func(found reads.Resource) error {
			all = append(all, found)
			return nil
		})
	})
	return all, err
}

// Count is the number of resources that the filters of a query string select.
func (h *Handle) Count(c *model.Collection, wanted string) (total int64, err error) {
	err = h.list(reads.Path{Collection: c, By: h.by}, wanted, 0, true, func(page *reads.List) error {
		total = page.Total
		return nil
	})
	return total, err
}

func (h *Handle) list(path reads.Path, wanted string, limit int64, exact bool, read func(*reads.List) error) error {
	return h.use(func(w *Work) error {
		if err := path.Require(schema.MayList); err != nil {
			return err
		}
		q, err := path.Parse(query.OfList, wanted, limit)
		if err != nil {
			return err
		}
		page, err := w.resources.ListIn(w.tx, path, q, exact)
		if err != nil {
			return err
		}
		defer page.Close()
		return read(page)
	})
}

// Limits is what the function may name in a query.
func (h *Handle) Limits(c *model.Collection) query.Limits {
	return reads.Path{Collection: c, By: h.by}.Limits()
}

// Do executes a step. If it fails, it is undone and the transaction can go on. If-Match is
// never required: the function has read what it changes.
func (h *Handle) Do(from Step) (results []reads.Resource, err error) {
	from.Path.By, from.IfMatchOptional = h.by, true
	err = h.use(func(w *Work) error {
		return w.Savepoint(func() error {
			inside := &preparation{resources: w.resources, ctx: w.ctx, work: w}
			defer inside.end()
			step := w.resources.decode(from)
			if isInvalid(step.failure) {
				return inside.withViolations(&step, step.failure)
			}
			step.withoutBefore = !h.runsBefore
			if step.failure == nil {
				step.failure = inside.prepare(&step)
			}
			if step.failure != nil {
				return step.failure
			}
			if w.memory == nil && step.ofMany() {
				held := w.resources.HoldMemory(h.by)
				w.hold(held)
				defer func() {
					w.hold(nil)
					held.End()
				}()
			}
			results, err = w.do(step)
			return err
		})
	})
	return results, err
}

// HoldMemory begins a reservation for the resources of a call of the program. It must be ended. Nil: they are not bounded.
func (r *Resources) HoldMemory(by *auth.Permit) *limit.Reservation {
	who := "program"
	if by != nil {
		who = "caller:" + by.Caller.ID
	}
	if r.Memory == nil {
		return nil
	}
	return r.Memory.Begin(who, nil)
}
