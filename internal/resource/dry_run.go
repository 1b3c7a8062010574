package resource

import (
	"cmp"
	"errors"

	"github.com/plural-go/plural/internal/effect"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
)

var errUndone = errors.New("the savepoint is undone")

// undone runs fn in a savepoint that is undone, also if it succeeds.
func (w *Work) undone(fn func() error) error {
	err := w.Savepoint(func() error { return cmp.Or(fn(), errUndone) })
	if err == errUndone { // joined with another error, it was not undone
		return nil
	}
	return err
}

// try executes the steps of a dry run, counts the resources that they change, and undoes everything. Hooks take part, except for those
// after the commit. A resource counts if the caller sees it before the first step or after the last. Both are asked, as a rule may
// read other resources that the steps change.
func (w *Work) try(run func() error) (changed effect.Effects, err error) {
	w.dryRun, w.affected = true, effect.Effects{}
	if w.inSnapshot {
		return w.tryInSnapshot(run)
	}
	return w.tryAndUndo(run)
}

// tryInSnapshot executes steps that write nothing: the snapshot is the state before them.
func (w *Work) tryInSnapshot(run func() error) (changed effect.Effects, err error) {
	if err := run(); err != nil {
		return nil, err
	}
	changed = w.affected
	if err := w.seenBefore(changed); err != nil { // first, as it leaves less to seenAfter, which may read each resource
		return nil, err
	}
	return changed, w.seenAfter(changed)
}

// tryAndUndo executes steps in a savepoint: when it is undone, the state is that before them.
func (w *Work) tryAndUndo(run func() error) (changed effect.Effects, err error) {
	err = w.undone(func() error {
		if err := run(); err != nil {
			return err
		}
		changed = w.affected // kept here, because Savepoint resets it
		return w.seenAfter(changed)
	})
	if err != nil {
		return nil, err
	}
	return changed, w.seenBefore(changed)
}

// seenBefore marks the changed resources that the caller sees in the state before the first step.
func (w *Work) seenBefore(changed effect.Effects) error { return w.see(changed, w.tx.Existing) }

// seenAfter marks the changed resources that the caller sees in the state after the last step.
func (w *Work) seenAfter(changed effect.Effects) error {
	if w.predicted != nil {
		return w.see(changed, w.predicted.existing)
	}
	return w.see(changed, w.tx.Existing)
}

// existing finds which resources of a list exist, as far as they pass a filter.
type existing func(c *model.Collection, scope query.Filter, ids []model.ID) (map[model.ID]bool, error)

// see marks the changed resources that the caller sees in a state.
func (w *Work) see(changed effect.Effects, exists existing) error {
	for c := range changed {
		unseen, scope := changed.Unseen(c), w.by.Scope(c)
		if len(unseen) == 0 {
			continue
		}
		if scope == nil {
			for _, id := range unseen {
				changed.See(c, id)
			}
			continue
		}
		found, err := exists(c, scope, unseen)
		if err != nil {
			return err
		}
		for id, exists := range found {
			if exists {
				changed.See(c, id)
			}
		}
	}
	return nil
}

// maxTried is how many resources the deletions of a dry run may delete or change that other steps follow. It is a variable for tests.
var maxTried = 5000

// boundTrial refuses a deletion that is executed only to be undone, if it concerns so many resources that other writes would wait long
// for it: see decision 47.
func (d *deletion) boundTrial(resources int) error {
	if d.mode != tryDeletion {
		return nil
	}
	if d.work.tried += resources; d.work.tried > maxTried {
		return fault.New(problem.CodeTooManyItems, "This dry run deletes or changes more than %d resources by deletions that other steps follow. Put the deletion last, or send it in a dry run of its own, which can be of any size.", maxTried)
	}
	return nil
}
