package resource

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// Write is one write as data. Requests and operations all become one.
type Write struct {
	Verb Verb
	Path Path
	ID   model.ID // of the resource to update or delete

	Inputs []model.Input // one, or several if Many
	Many   bool          // the body is an array

	// Range selects the resources to update or delete; nil: the one with the ID. See range.go.
	Range *query.Query
	found []model.ID // by FindRange

	// Conflict is the unique group of an upsert, nil if the write only creates. See upsert.go.
	Conflict []int
	upserts  []upsert

	Condition headers.Condition
	DryRun    bool // see Work.DryRun

	bodyLimits BodyLimits
	readOnly   readOnlyValues

	withoutBefore bool // a hook writes, whose writes run no Before hooks

	texts *store.Texts // whose words were found before the transaction; nil: none

	// prepared is the inputs of the updates of a range after their Before hooks.
	prepared map[model.ID]model.Input

	// Schema is the schema version of the server that accepted the write, for its condition. Zero:
	// this server's.
	Schema int64

	// CountPending: resources that pending operations will create count as existing. It is set for a write that is
	// executed later: it is executed once to see whether it can be, and the caller undoes that (Work.Undone).
	CountPending bool
}

// OfMany reports whether the write can be of several resources, or reads one that it does not name.
func (write *Write) OfMany() bool { return write.Many || write.Range != nil || write.Conflict != nil }

// pointer is the JSON Pointer of an input in the body.
func (write *Write) pointer(i int) string {
	if write.Many {
		return "/" + strconv.Itoa(i)
	}
	return ""
}

// Do executes a write of a program with its hooks in a transaction; api does the same for a request in api/write.go, with the
// idempotency record. It returns the resources as stored, or their last state if
// deleted. A dry run is undone, or only reads, and returns what it would affect.
func (r *Resources) Do(ctx context.Context, write Write) (results []Resource, affected Affected, err error) {
	if err := r.FindRange(ctx, &write); err != nil {
		return nil, nil, err
	}
	if err := r.Before(ctx, &write); err != nil {
		return nil, nil, err
	}
	if r.OnlyReads(&write) {
		err = r.RunReading(ctx, func(w *Work) error {
			return w.withMemory(&write, func() (err error) {
				results, affected, err = w.Predict(write)
				return err
			})
		})
		return results, affected, err
	}
	err = r.RunWork(ctx, r.SharingOf(&write), func(w *Work) error {
		return w.withMemory(&write, func() (err error) {
			do := func() (err error) {
				results, err = w.Do(write)
				return err
			}
			if !write.DryRun {
				return do()
			}
			affected, err = w.DryRun(do)
			return err
		})
	})
	return results, affected, err
}

// Do executes a write in the transaction.
func (w *Work) Do(write Write) ([]Resource, error) {
	if err := write.require(); err != nil {
		return nil, err
	}
	if by := write.Path.By; by != nil {
		w.by = by
		w.tx.As(by.Caller.ID)
	}
	w.tx.UseTexts(cmp.Or(write.texts, &store.Texts{})) // of each write its own, so that a long transaction does not keep all
	w.countPending = w.countPending || write.CountPending
	switch {
	case write.Range != nil:
		return w.changeRange(write)
	case write.Conflict != nil:
		return w.upsert(write)
	case write.Verb == Create:
		return w.create(write)
	case write.Verb == Update:
		return w.update(write)
	}
	return w.delete(write)
}

// require returns why the caller may not make such a write at all, or nil.
func (write *Write) require() error {
	if write.Path.Collection.ReadOnly() {
		return fault.New(problem.CodeMethodNotAllowed, "Only the server writes %s. They are read-only.", write.Path.Collection.Name)
	}
	if write.Conflict != nil { // what an upsert needs depends on what it does
		return nil
	}
	return write.Path.Require(write.Verb)
}

// Announce announces writes that will be done in the transaction, as far as they name the resources that they change. Each
// is announced again when it is done, but together they wait only once for others that write to the same resources.
func (w *Work) Announce(writes []*Write) error {
	var named []store.ResourceID
	for _, write := range writes {
		if write.ID != (model.ID{}) {
			named = append(named, store.ResourceID{Collection: write.Path.Collection.Name, ID: write.ID})
		}
	}
	return w.tx.Announce(named...)
}

// Before runs the hooks before the transaction of a write, and finds the words of its texts.
func (r *Resources) Before(ctx context.Context, write *Write) error {
	if err := r.refuseNested(ctx); err != nil {
		return err
	}
	ctx, cancel := r.BoundHooks(ctx)
	defer cancel()
	if err := r.runBefore(ctx, write); err != nil {
		return err
	}
	write.texts = write.splitTexts()
	return nil
}

// splitTexts finds the words of all texts that the write may store.
func (write *Write) splitTexts() *store.Texts {
	c, texts := write.Path.Collection, &store.Texts{}
	add := func(input model.Input) {
		if input.Values != nil {
			texts.Add(c, input.Values)
		}
	}
	for _, input := range write.Inputs {
		add(input)
	}
	for _, input := range write.prepared {
		add(input)
	}
	for _, each := range write.upserts {
		add(each.Create)
		add(each.Patch)
	}
	return texts
}

func (r *Resources) runBefore(ctx context.Context, write *Write) error {
	switch {
	case write.Range != nil:
		return r.runBeforeRange(ctx, write)
	case write.Conflict != nil:
		return r.runBeforeUpserts(ctx, write)
	case write.Verb == Delete:
		return r.before(ctx, write, Delete, &write.ID, nil)
	}
	id := &write.ID
	if write.Verb == Create {
		id = nil // a new resource has none, or its input has it
	}
	for i := range write.Inputs {
		if err := r.before(ctx, write, write.Verb, id, &write.Inputs[i]); err != nil {
			return atPointer(write.pointer(i), err)
		}
	}
	return nil
}

// requireOn returns why the caller may not change a resource that they see, or nil.
func (p Path) requireOn(tx *store.Tx, verb Verb, before model.Record) error {
	allowed, err := p.By.Allows(verb, p.Collection, before, tx.Find)
	if err == nil && !allowed {
		err = p.By.Denied("You may not %s this resource.", verb)
	}
	return err
}

// load reads the resource to change. It returns 404, 403 if the caller may not change it, and
// 412 or 428 if the condition fails.
func (w *Work) load(write Write) (model.Record, error) {
	if err := w.requireParentOfItem(write.Path); err != nil {
		return nil, err
	}
	record, err := write.Path.get(w.tx, write.ID)
	if err != nil {
		return nil, err
	}
	if err := write.Path.requireOn(w.tx, write.Verb, record); err != nil {
		return nil, err
	}
	return record, w.resources.checkCondition(w.tx, write, record)
}

// checkCondition compares the condition with the ETag that the resource has for the caller. That of an operation is for
// the schema of the server that accepted it.
func (r *Resources) checkCondition(tx *store.Tx, write Write, record model.Record) error {
	if write.Condition == (headers.Condition{}) {
		return nil
	}
	c := write.Path.Collection
	tag := r.etag(write.Path, record.Int(c.RevisionColumn()))
	if write.Schema != 0 {
		declaredIn, err := tx.DeclaredInOther(c, write.Schema)
		if err != nil {
			return err
		}
		tag = r.etagOf(record.Int(c.RevisionColumn()), declaredIn, write.Path.By.ColumnsTag(c))
	}
	return write.Condition.AllowsChange(tag)
}

// SetID sets the id of the resource that a write creates, if the client sent none, and
// returns it.
func (w *Work) SetID(write *Write) model.ID {
	if !write.Inputs[0].HasID() {
		write.SetID(w.tx.NewID())
	}
	return write.Inputs[0].Values.ID(model.IDColumn)
}

// SetID sets the id of the resource that a write creates. It copies the input: the transaction
// may run again.
func (write *Write) SetID(id model.ID) {
	input := model.Input{Values: slices.Clone(write.Inputs[0].Values), Set: slices.Clone(write.Inputs[0].Set)}
	input.Values[model.IDColumn], input.Set[model.IDColumn] = model.IDValue(id), true
	write.Inputs = []model.Input{input}
}

// Awaited lists the pending operations that must be executed before the writes.
func (w *Work) Awaited() []model.ID { return w.awaited }
