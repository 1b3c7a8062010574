package resource

import (
	"context"
	"maps"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// Work is one write in progress: a transaction, and the functions that run after its commit.
type Work struct {
	resources *Resources
	ctx       context.Context // of hooks
	lookup                    // tx is the transaction; creating is set while writeAll or an upsert checks and stores new resources
	by        *auth.Permit    // of the caller
	after     []func(context.Context)
	depth     int // of nested hooks that write

	reserve  func(bytes int64) error // memory for resources; nil: they are not counted
	most     int64                   // that may be reserved
	reserved int64
	words    int // bytes of words that were given to the search index; see boundWords

	dryRun   bool                // see DryRun
	affected map[identity]effect // resources that were changed; nil: they are not counted

	predicts  bool     // see Predict
	predicted Affected // by a deletion
}

// Sharing tells whether a write may share a transaction with others. The zero value: it takes too long.
type Sharing struct {
	short   bool
	id      model.ID // see store.Writing
	program bool     // a function of the program takes part, which has time of its own
}

// writingOf is how the transaction of a work is executed. Hooks have time of their own.
func (r *Resources) writingOf(sharing Sharing) store.Writing {
	how := store.Writing{Short: sharing.short, ID: sharing.id}
	if r.WriteTime > 0 && !sharing.short {
		how.Limit = r.WriteTime
		if sharing.program || len(r.hooks) > 0 {
			how.Limit += r.HookTime
		}
	}
	return how
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
	run := &workRun{resources: r, through: context.WithoutCancel(ctx), fn: fn, cancel: func() {}}
	defer func() { run.cancel() }()
	err := r.store.WriteAs(ctx, r.writingOf(sharing), run.run)
	if err != nil || len(run.work.after) == 0 {
		return err
	}
	afterCommit, cancelAfter := r.BoundHooks(run.through)
	defer cancelAfter()
	for _, after := range run.work.after {
		after(afterCommit)
	}
	return nil
}

// workRun is the execution of a work, which may be repeated.
type workRun struct {
	resources *Resources
	through   context.Context // is not cancelled
	within    context.Context // of hooks; nil: the transaction has not begun
	cancel    context.CancelFunc
	fn        func(*Work) error
	work      *Work // of the last run
}

func (r *workRun) run(tx *store.Tx) error {
	if r.within == nil { // waiting for the transaction does not count
		r.within, r.cancel = r.resources.BoundHooks(r.through)
	}
	r.work = &Work{resources: r.resources, ctx: r.within, lookup: lookup{tx: tx}} // nothing is left of an earlier run
	return r.fn(r.work)
}

// Reserve makes the work reserve memory for the resources that it reads and returns, at most so much.
func (w *Work) Reserve(most int64, reserve func(bytes int64) error) {
	w.reserve, w.most, w.reserved, w.words = reserve, most, 0, 0
}

// withMemory runs a write of a program, which reserves memory as requests do if it writes many resources. Memory of a
// request is reserved until its response is sent: see Work.Reserve.
func (w *Work) withMemory(write *Write, run func() error) error {
	budget := w.resources.Memory
	if budget == nil || w.reserve != nil || !write.OfMany() {
		return run()
	}
	who := "program"
	if by := write.Path.By; by != nil {
		who = "caller:" + by.Caller.ID
	}
	held := budget.Begin(who, nil)
	defer func() {
		w.reserve = nil
		held.End()
	}()
	w.Reserve(budget.Most(), held.Take)
	return run()
}

// reserveFor reserves memory for resources before they are encoded: for what the caller can see of them.
func (w *Work) reserveFor(path Path, records ...model.Record) error {
	if w.reserve == nil {
		return nil
	}
	bytes, visible := 0, path.By.Visible(path.Collection)
	for _, record := range records {
		bytes += record.TextSizeOf(visible)
	}
	return w.reserveBytes(bytes)
}

func (w *Work) reserveBytes(bytes int) error {
	if w.reserve == nil {
		return nil
	}
	if w.reserved += int64(bytes); w.reserved > w.most {
		return fault.New(problem.CodeTooManyItems, "The resources that this request reads and returns have more than %d bytes together. Change fewer at once.", w.most)
	}
	return w.reserve(int64(bytes))
}

// boundWords bounds the words of texts that are searched. Only values that the write sets are counted, so that the bound tells
// nothing of values that are hidden from the caller.
func (w *Work) boundWords(c *model.Collection, before, after []model.Record) error {
	if w.reserve == nil {
		return nil
	}
	if w.words += w.tx.WordBytes(c, before, after); w.words > store.MaxWordBytes {
		return fault.New(problem.CodeTooManyItems, "The texts that this request changes have more than %d MiB of different words, counted for each resource. Change fewer at once.", store.MaxWordBytes>>20)
	}
	return nil
}

// Tx is the transaction.
func (w *Work) Tx() *store.Tx { return w.tx }

// Savepoint runs fn in a savepoint: if it fails, its writes and scheduled functions are undone.
func (w *Work) Savepoint(fn func() error) error {
	after, creating, affected := len(w.after), len(w.creating), maps.Clone(w.affected)
	err := w.tx.Savepoint(fn)
	if err != nil {
		w.after, w.creating, w.affected = w.after[:after], w.creating[:creating], affected
	}
	return err
}

// Transaction runs a function of the program in a transaction, with the rights of a caller,
// and then the After hooks. The function may run more than once, and has as much time as hooks
// have. If it fails, nothing is stored. Own means that the error is that of the function,
// unchanged.
func (r *Resources) Transaction(ctx context.Context, by *auth.Permit, fn func(context.Context, *Handle) error) (own bool, err error) {
	var failed error
	err = r.RunWork(ctx, Sharing{program: true}, func(w *Work) error {
		handle := &Handle{work: w, ctx: r.transactionContext(w.ctx), by: by, runsBefore: true}
		defer handle.end()
		_, failed = runGuarded(r.transactionContext(ctx), "the function of a transaction", r.HookTime, func(ctx context.Context) error { return fn(ctx, handle) })
		return failed
	})
	if err != nil && failed != nil {
		return true, failed
	}
	return false, err
}
