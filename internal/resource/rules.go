package resource

import (
	"cmp"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/rules"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// The rules of the data are evaluated for each state that would be stored, whoever writes it: computed attributes before the rules of
// access, which may read them, and what refuses the state after these.

// derive sets the computed attributes that depend on the resource alone, for hooks. Its errors are found by compute.
func derive(c *model.Collection, before, after model.Record) {
	if set := rules.Of(c); set != nil {
		set.Derive(before, after)
	}
}

// compute sets the computed attributes of resources, adds to the errors of each, and returns the changes; a zero one: the resource does not
// change. Attributes that read auth, now or previous stay as they are, unless something else changes. An import can bring what they were:
// given has the columns that each input sets; nil: none.
func (w *Work) compute(path reads.Path, before, after []model.Record, given func(i int) []bool, invalid []problem.Errors) (changes []rules.Change, err error) {
	c, set := path.Collection, rules.Of(path.Collection)
	if set == nil {
		return nil, nil
	}
	changes = make([]rules.Change, len(after))
	grown, columns := 0, set.ComputedColumns()
	for i := range after {
		found := set.Derive(before[i], after[i])
		if !slices.Equal(before[i], after[i]) {
			if before[i] != nil {
				touch(w.tx, c, before[i], after[i]) // rules read the time that is stored
			}
			if changes[i], err = w.ruleChange(c, before[i], after[i]); err != nil {
				return nil, err
			}
			if before[i] == nil && given != nil && w.resources.AcceptTimestamps {
				changes[i].Given = given(i)
			}
			found = append(found, set.Compute(changes[i])...)
		}
		// What was read is bounded, but short values of many resources can make long texts of each.
		grown += after[i].TextSizeOf(columns)
		if before[i] != nil {
			grown -= before[i].TextSizeOf(columns)
		}
		if grown > MaxManyBytes {
			return nil, tooMuch()
		}
		invalid[i] = append(invalid[i], redact(path, found)...)
	}
	return changes, nil
}

// ruleChange is a state of a resource for its rules. The caller is the one who causes the change, also by a hook.
func (w *Work) ruleChange(c *model.Collection, before, after model.Record) (change rules.Change, err error) {
	change = rules.Change{Before: before, After: after, Now: w.tx.Now()}
	if !c.NoTimestamps {
		change.Now = after[c.UpdatedColumn()]
	}
	if w.by != nil {
		change.Auth = w.by.Caller.Variables
	}
	change.Unsettled, err = w.isUnsettled(c, before)
	return change, err
}

// refusals adds to the errors of each resource what its rules refuse of the change. It returns the conflicts with lifecycles, which are
// reported only if nothing is invalid. Checks are evaluated only for resources without other errors.
func (w *Work) refusals(path reads.Path, changes []rules.Change, invalid []problem.Errors) (conflicts []problem.Errors, err error) {
	set := rules.Of(path.Collection)
	conflicts = make([]problem.Errors, len(changes))
	for i, change := range changes {
		if change.After == nil {
			continue
		}
		if !change.Unsettled {
			invalid[i] = append(invalid[i], redact(path, set.WriteOnce(change.Before, change.After))...)
			if !w.resources.ForceStates {
				conflicts[i] = redact(path, set.Transition(change.Before, change.After))
			}
		}
		if len(invalid[i]) == 0 {
			invalid[i] = redact(path, set.Check(change))
		}
	}
	return conflicts, w.explainExisting(path.Collection, changes, conflicts)
}

// explainExisting replaces the conflicts of new resources whose ids exist: an import decides by the id whether to change the resource
// instead.
func (w *Work) explainExisting(c *model.Collection, changes []rules.Change, conflicts []problem.Errors) error {
	var ids []model.ID
	for i, change := range changes {
		if change.Before == nil && len(conflicts[i]) > 0 {
			ids = append(ids, change.After.ID(model.IDColumn))
		}
	}
	if ids == nil {
		return nil
	}
	existing, err := w.tx.Existing(c, nil, ids)
	for i, change := range changes {
		if change.Before != nil || len(conflicts[i]) == 0 {
			continue
		}
		if id := change.After.ID(model.IDColumn); existing[id] {
			conflicts[i] = problem.Errors{store.IDExists(id)}
		}
	}
	return err
}

// nameInDetail names the resources of a range in the errors of checks and lifecycles, as the body has no place for each.
func nameInDetail(all []writing, found []problem.Errors) {
	for i, own := range found {
		for k, one := range own {
			if all[i].inRange && fault.IsOfOne(one) {
				named := *one
				named.Detail = all[i].before.record.ID(model.IDColumn).String() + ": " + one.Detail
				own[k] = &named
			}
		}
	}
}

// checkWriteOnce adds the errors of write-once attributes, for a write whose body is invalid anyway.
func (s *lookup) checkWriteOnce(path reads.Path, before, after model.Record, faults *problem.Errors) error {
	set := rules.Of(path.Collection)
	if set == nil {
		return nil
	}
	unsettled, err := s.isUnsettled(path.Collection, before)
	if err == nil && !unsettled {
		*faults = append(*faults, redact(path, set.WriteOnce(before, after))...)
	}
	return err
}

// keepComputed copies the columns that rules set or read from a partial state into the whole state, in which nothing was computed.
func keepComputed(c *model.Collection, computed, whole model.Record) model.Record {
	if set := rules.Of(c); set != nil {
		for column, has := range set.Reads() {
			if has {
				whole[column] = computed[column]
			}
		}
	}
	return whole
}

// readsReference reports whether rules take part where a deletion sets a reference to null.
func readsReference(link model.Link) bool {
	set := rules.Of(link.From)
	return set != nil && set.Concerns(link.Column)
}

// checkRules sets the computed attributes of resources that a deletion changes, and returns 409 if rules refuse the change.
func (d *deletion) checkRules(link model.Link, before, after []model.Record) error {
	path := reads.Path{Collection: link.From, By: d.by}
	refused := make([]problem.Errors, len(after))
	changes, err := d.work.compute(path, before, after, nil, refused)
	if err != nil {
		return err
	}
	conflicts, err := d.work.refusals(path, changes, refused)
	if err != nil {
		return err
	}
	for i, found := range conflicts {
		refused[i] = append(refused[i], found...)
	}
	return d.refuseRows(link, before, refused)
}

// refuseRows returns 409, as for references with on_delete restrict, if some of the resources that refer to deleted ones cannot be
// changed. Of those that refer to the same one, it names the first.
func (d *deletion) refuseRows(link model.Link, before []model.Record, refused []problem.Errors) error {
	var deleted []model.ID
	first, why := map[model.ID]model.ID{}, map[model.ID]string{}
	for i, faults := range refused {
		if referred := before[i].ID(link.Column); len(faults) > 0 && first[referred] == (model.ID{}) {
			deleted = append(deleted, referred)
			first[referred], why[referred] = before[i].ID(model.IDColumn), "It cannot be without it: "+faults[0].Detail+" "
		}
	}
	err := d.refuse(link, deleted, first, func(referred model.ID) string { return why[referred] })
	return cmp.Or(err, d.faults.Err())
}
