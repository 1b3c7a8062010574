package resource

import (
	"context"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/effect"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// Work is one write in progress: a transaction, and the functions that run after its commit. A write that changes nothing, as
// execution.onlyReads finds, has a snapshot in place of the transaction.
type Work struct {
	resources *Resources
	ctx       context.Context // of hooks
	lookup                    // tx is the transaction; creating is set while writeAll or an upsert checks and stores new resources
	by        *auth.Permit    // of the caller
	after     []func(context.Context)
	depth     int // of nested hooks that write

	memory   *limit.Reservation // for resources; nil: they are not counted
	reserved int64
	words    int // bytes of words that were given to the search index; see boundWords

	dryRun     bool           // see try
	inSnapshot bool           // tx is a snapshot, and nothing is changed
	affected   effect.Effects // nil: what is changed is not counted
	predicted  *deletion      // the deletion that was not executed; nil: there is none
	tried      int            // resources that deletions of tryDeletion have deleted or changed
}

// long is how a transaction is executed that may take longer than an insert. Functions of the program that take part have time of their own.
func (r *Resources) long(program bool) store.WriteOptions {
	options := store.WriteOptions{Limit: r.WriteTime}
	if options.Limit > 0 && program {
		options.Limit += r.HookTime
	}
	return options
}

// inTransaction runs fn in a transaction, and then the functions that it scheduled. Fn may run more
// than once.
func (r *Resources) inTransaction(ctx context.Context, options store.WriteOptions, fn func(*Work) error) error {
	// A started transaction is completed, hooks included, even if the caller is cancelled.
	through, within, cancel := context.WithoutCancel(ctx), context.Context(nil), func() {}
	defer func() { cancel() }()
	var work *Work // of the last run
	err := r.store.WriteAs(ctx, options, func(tx *store.Tx) error {
		if within == nil { // waiting for the transaction does not count
			within, cancel = r.BoundHooks(through)
		}
		work = &Work{resources: r, ctx: within, lookup: lookup{tx: tx}} // nothing is left of an earlier run
		return fn(work)
	})
	if err != nil || len(work.after) == 0 {
		return err
	}
	afterCommit, cancelAfter := r.BoundHooks(through)
	defer cancelAfter()
	for _, after := range work.after {
		after(afterCommit)
	}
	return nil
}

// inSnapshot runs fn in a snapshot. The context can end it at any time.
func (r *Resources) inSnapshot(ctx context.Context, fn func(*Work) error) error {
	tx, err := r.store.ReadAtLength(ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	return fn(&Work{resources: r, ctx: ctx, lookup: lookup{tx: tx}, inSnapshot: true})
}

// hold makes the work reserve memory for the resources that it reads and returns.
func (w *Work) hold(memory *limit.Reservation) { w.memory, w.reserved, w.words = memory, 0, 0 }

// reserveFor reserves memory for resources before they are encoded: for what the caller can see of them.
func (w *Work) reserveFor(path reads.Path, records ...model.Record) error {
	if w.memory == nil {
		return nil
	}
	bytes, visible := 0, path.By.Visible(path.Collection)
	for _, record := range records {
		bytes += record.TextSizeOf(visible)
	}
	return w.reserveBytes(bytes)
}

func (w *Work) reserveBytes(bytes int) error {
	if w.memory == nil {
		return nil
	}
	most := w.resources.Memory.Most()
	if w.reserved += int64(bytes); w.reserved > most {
		return fault.New(problem.CodeTooManyItems, "The resources that this request reads and returns have more than %d bytes together. Change fewer at once.", most)
	}
	return w.memory.Take(int64(bytes))
}

// boundWords bounds the words of texts that are searched. Only values that the write sets are counted, so that the bound tells
// nothing of values that are hidden from the caller.
func (w *Work) boundWords(c *model.Collection, before, after []model.Record) error {
	if w.memory == nil {
		return nil
	}
	if w.words += w.tx.WordBytes(c, before, after); w.words > store.MaxWordBytes {
		return fault.New(problem.CodeTooManyItems, "The texts that this request changes have more than %d MiB of different words, counted for each resource. Change fewer at once.", store.MaxWordBytes>>20)
	}
	return nil
}

// Savepoint runs fn in a savepoint: if it fails, its writes and scheduled functions are undone.
func (w *Work) Savepoint(fn func() error) error {
	after, creating, affected := len(w.after), len(w.creating), w.affected.Clone()
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
	if err := r.refuseNested(ctx); err != nil {
		return false, err
	}
	var failed error
	err = r.inTransaction(ctx, r.long(true), func(w *Work) error {
		handle := &Handle{work: w, ctx: r.transactionContext(w.ctx), by: by, runsBefore: true}
		defer handle.end()
		_, failed = limit.RunGuarded(r.transactionContext(ctx), "the function of a transaction", r.HookTime, func(ctx context.Context) error { return fn(ctx, handle) })
		return failed
	})
	if err != nil && failed != nil {
		return true, failed
	}
	return false, err
}
