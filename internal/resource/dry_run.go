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
	if errors.Is(err, errUndone) {
		return nil
	}
	return err
}

// try executes the steps of a dry run, counts the resources that they change, and undoes everything. Hooks take part, except for those
// after the commit. A resource counts if the caller sees it before the first step, which means after all are undone, or after the
// last one. That is not the same: a rule may read other resources.
func (w *Work) try(run func() error) (effect.Affected, error) {
	w.dryRun, w.affected = true, effect.Effects{}
	var changed effect.Effects
	steps := func() error {
		err := run()
		changed = w.affected
		return err
	}
	now := func() error { return w.see(changed, w.tx.Existing) }
	after := func() error {
		if w.predicted != nil {
			return w.see(changed, w.predicted.existing)
		}
		return now()
	}
	var err error
	if w.reads { // the snapshot is the state before the first step
		err = inOrder(steps, now, after)
	} else {
		err = inOrder(func() error { return w.undone(func() error { return inOrder(steps, after) }) }, now)
	}
	if err != nil {
		return nil, err
	}
	return changed.Count(w.resources.store.Schema().All()), nil
}

// inOrder calls functions until one fails.
func inOrder(functions ...func() error) error {
	for _, fn := range functions {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}

// existing finds which resources of a list exist, as far as they pass a filter.
type existing func(c *model.Collection, scope query.Filter, ids []model.ID) (map[model.ID]bool, error)

// see marks the changed resources that the caller sees at this moment.
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
func (w *Work) boundTrial(resources int) error {
	if !w.bounded {
		return nil
	}
	if w.tried += resources; w.tried > maxTried {
		return fault.New(problem.CodeTooManyItems, "This dry run deletes or changes more than %d resources by deletions that other steps follow. Put the deletion last, or send it in a dry run of its own, which can be of any size.", maxTried)
	}
	return nil
}
