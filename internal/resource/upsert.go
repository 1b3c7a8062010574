package resource

import (
	"cmp"
	"context"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// An upsert creates resources, and changes those that have the same values of a unique group as
// by PATCH. Which of the two happens is known in the transaction only. Checks and hooks are those of what
// happens.

// upsert is one input of an upsert, for both cases.
type upsert struct {
	model.Upsert
	readOnly readOnlyValues
	missing  problem.Errors // values of the unique group that the input does not have
	before   Verb           // whose Before hooks have run; empty: none have
}

// isInvalid reports whether the input is wrong in a case.
func (u *upsert) isInvalid(verb Verb) bool {
	if verb == Create {
		return len(u.missing)+len(u.CreateFaults) > 0
	}
	return len(u.missing)+len(u.PatchFaults) > 0
}

// writing is what happens: the owner of the values of the unique group is changed, or a resource is created if there is none.
func (u *upsert) writing(owner loaded) writing {
	if owner.record == nil {
		return writing{input: u.Create}
	}
	return writing{before: owner, input: u.Patch, readOnly: u.readOnly}
}

// decodeUpserts reads the body of an upsert. What is wrong in only one case is an error when
// that happens.
func (step *decodedStep) decodeUpserts(options model.DecodeOptions) error {
	c := step.Path.Collection
	decoded, many, err := c.DecodeUpserts(step.Body, options)
	if err != nil {
		return err
	}
	step.many, step.upserts = many, make([]upsert, len(decoded))
	for i, each := range decoded {
		step.upserts[i].readOnly = separateReadOnly(c, &each.Patch, options.Writable)
		if options.Parent != nil && each.Patch.Values != nil {
			for _, wrong := range each.CreateFaults {
				if wrong.Code == problem.CodeParentMismatch { // a POST cannot move a child
					each.PatchFaults = append(each.PatchFaults, wrong)
				}
			}
			each.Patch.Values[options.Parent.Column], each.Patch.Set[options.Parent.Column] = model.IDValue(options.ParentID), true
		}
		step.upserts[i].Upsert = each
		step.upserts[i].missing = step.missingKey(i)
	}
	return nil
}

// key is the values of the unique group of an input, in their columns.
func (step *decodedStep) key(i int) model.Record {
	each := step.upserts[i]
	key := make(model.Record, len(step.Path.Collection.Columns()))
	for _, column := range step.Conflict {
		switch {
		case each.Patch.Values == nil:
		case each.Patch.Set[column]:
			key[column] = each.Patch.Values[column]
		case each.readOnly.set != nil && each.readOnly.set[column]:
			key[column] = each.readOnly.values[column]
		}
	}
	return key
}

// missingKey reports values of the unique group that an input does not have. An invalid value is
// reported elsewhere.
func (step *decodedStep) missingKey(i int) (faults problem.Errors) {
	if step.upserts[i].Patch.Values == nil {
		return nil
	}
	key := step.key(i)
	for _, column := range step.Conflict {
		name := step.Path.Collection.Columns()[column].Name
		pointer := step.pointer(i) + "/" + name
		invalid := slices.ContainsFunc(step.upserts[i].PatchFaults, func(f *problem.Error) bool { return f.Source.Pointer == pointer })
		if key[column].IsNull() && !invalid {
			faults.Add(fault.At(pointer, problem.CodeRequired, "on_conflict=%s needs a value of %s.", name, name))
		}
	}
	return faults
}

// owners finds the resources that have the values of the unique group of inputs; nil: none that the
// caller may see on the path. An input whose owner is hidden is created, as by POST without on_conflict:
// it conflicts only after all other checks. Otherwise, its answer would tell about a resource under a
// parent that the caller may not see.
func (step *decodedStep) owners(tx *store.Tx, items []int, visit func(model.Record) error) ([]model.Record, error) {
	keys := make([]model.Record, len(items))
	for k, i := range items {
		keys[k] = step.key(i)
	}
	return tx.Owners(step.Path.Collection, step.Path.Scope(), step.Conflict, keys, visit)
}

// loadOwners reads the resources that have the values of the unique group of inputs. So many bytes are reserved for them already.
func (w *Work) loadOwners(step *decodedStep, items []int, reserved int) ([]loaded, error) {
	byID, loader := map[model.ID]loaded{}, w.newLoader(step.Path)
	loader.reserved = reserved
	owners, err := step.owners(w.tx, items, func(record model.Record) (err error) {
		byID[record.ID(model.IDColumn)], err = loader.add(record)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([]loaded, len(items))
	for k, owner := range owners {
		if owner != nil {
			all[k] = byID[owner.ID(model.IDColumn)]
		}
	}
	return all, nil
}

// runBeforeUpserts runs the hooks before the transaction, for what happens now if nothing changes
// until then.
func (p *preparation) runBeforeUpserts(step *decodedStep) error {
	r := p.resources
	if c := step.Path.Collection; !r.hasBefore(c, Create) && !r.hasBefore(c, Update) {
		return nil
	}
	stored, closing, err := p.snapshot()
	if err != nil {
		return err
	}
	owners, err := step.owners(stored.tx, positions(len(step.upserts)), func(owner model.Record) error {
		store.KeepOnly(owner, step.Conflict) // only their ids are needed
		return nil
	})
	closing()
	if err != nil {
		return err
	}
	for i := range step.upserts {
		if err := r.runBeforeUpsert(p.hooks, step, i, owners[i]); err != nil {
			return err
		}
	}
	return nil
}

// runBeforeUpsert runs the Before hooks of one input, unless they have run or the input is invalid.
func (r *Resources) runBeforeUpsert(ctx context.Context, step *decodedStep, i int, found model.Record) (err error) {
	each := &step.upserts[i]
	switch {
	case step.withoutBefore:
	case found != nil && each.before != Update && !each.isInvalid(Update):
		each.before = Update
		id := found.ID(model.IDColumn)
		err = r.before(ctx, step, Update, &id, &each.Patch)
	case found == nil && each.before != Create && !each.isInvalid(Create):
		each.before = Create
		err = r.before(ctx, step, Create, nil, &each.Create)
	}
	return fault.AtPointer(step.pointer(i), err)
}

// upsert creates and changes the resources of the inputs, or none of them.
func (w *Work) upsert(step decodedStep) ([]reads.Resource, error) {
	// The write changes the collection, which has no ETag.
	if err := cmp.Or(step.Path.RequireParent(w.exists), step.condition.AllowsChange("")); err != nil {
		return nil, err
	}
	step.upserts = slices.Clone(step.upserts) // the transaction may run again
	items := positions(len(step.upserts))
	owners, err := w.loadOwners(&step, items, 0)
	if err == nil {
		err = w.checkUpserts(step, items, owners)
	}
	if err != nil {
		return nil, err
	}
	c, results := step.Path.Collection, make([]reads.Resource, len(items))
	if !w.resources.hasWithin(c, Create) && !w.resources.hasWithin(c, Update) {
		return results, w.upsertItems(step, items, owners, results)
	}
	// A hook may create, change or delete resources that the next inputs are about. So each is read again, in place of what
	// was read before.
	visible := step.Path.By.Visible(c)
	for _, i := range items {
		reserved := owners[i].record.TextSizeOf(visible)
		owners[i] = loaded{}
		current, err := w.loadOwners(&step, []int{i}, reserved)
		if err == nil {
			err = w.checkUpserts(step, []int{i}, current)
		}
		if err == nil {
			err = w.upsertItems(step, []int{i}, current, results)
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// checkUpserts refuses inputs that are wrong for what happens.
func (w *Work) checkUpserts(step decodedStep, items []int, owners []loaded) error {
	c, path := step.Path.Collection, step.Path
	invalid, wrong := make([]problem.Errors, len(items)), false
	for k, i := range items {
		each, pointer, record := step.upserts[i], step.pointer(i), owners[k].record
		if len(each.missing) > 0 { // what would happen is not known: these errors are those of both cases
			invalid[k], wrong = slices.Concat(each.missing, each.PatchFaults), true
			continue
		}
		if err := path.Require(verbFor(record)); err != nil {
			return fault.AtPointer(pointer, err)
		}
		if record == nil {
			invalid[k], wrong = each.CreateFaults, wrong || len(each.CreateFaults) > 0
			continue
		}
		if err := w.requireOn(path, Update, record, each.Patch); err != nil {
			return fault.AtPointer(pointer, err)
		}
		if c.RequireIfMatch {
			return fault.AtPointer(pointer, fault.New(problem.CodePreconditionRequired, "The resource %s/%s exists, and this collection requires If-Match to change it. Use PATCH.", c.Name, record.ID(model.IDColumn)))
		}
		invalid[k] = slices.Clone(each.PatchFaults)
		if each.Patch.HasID() && each.Patch.Values[model.IDColumn] != record[model.IDColumn] {
			invalid[k].Add(fault.At(pointer+"/id", problem.CodeReadOnly, "The resource exists with the id %s, which cannot change. Leave the id out.", record.ID(model.IDColumn)))
		}
		wrong = wrong || len(invalid[k]) > 0
	}
	if wrong {
		return w.upsertViolations(step, items, owners, invalid)
	}
	var conflicts problem.Errors
	seen := keySet{step.Conflict, map[model.Value][]model.Record{}}
	for _, i := range items {
		if again := seen.add(step.key(i)); again {
			conflicts = append(conflicts, fault.Prefixed(step.pointer(i), problem.Errors{store.ConflictOf(c, step.Conflict)})...)
		}
	}
	return conflicts.Err()
}

// upsertViolations returns the errors of inputs in their order, together with references to nothing and
// attributes that the caller may not change. Invalid is the errors that were found before.
func (w *Work) upsertViolations(step decodedStep, items []int, owners []loaded, invalid []problem.Errors) error {
	all := make([]writing, len(items))
	for k, i := range items {
		each := &step.upserts[i]
		if all[k] = each.writing(owners[k]); len(each.missing) > 0 {
			all[k] = writing{input: each.Patch, partial: true}
		}
	}
	found, err := w.violations(step.Path, all)
	if err != nil {
		return err
	}
	var faults problem.Errors
	for k, i := range items {
		faults = append(faults, withOthers(invalid[k], fault.Prefixed(step.pointer(i), found[k]))...)
	}
	return faults.Err()
}

// keySet is the values of a unique group that were seen.
type keySet struct {
	group []int
	seen  map[model.Value][]model.Record
}

// add adds the values of a record, and reports whether they were there already.
func (k keySet) add(record model.Record) (again bool) {
	first := record[k.group[0]]
	for _, other := range k.seen[first] {
		if !slices.ContainsFunc(k.group, func(column int) bool { return other[column] != record[column] }) {
			return true
		}
	}
	k.seen[first] = append(k.seen[first], record)
	return false
}

// upsertItems changes the resources of inputs that exist, and creates the others.
func (w *Work) upsertItems(step decodedStep, items []int, owners []loaded, results []reads.Resource) error {
	all := make([]writing, len(items))
	for k, i := range items {
		if err := w.resources.runBeforeUpsert(w.resources.transactionContext(w.ctx), &step, i, owners[k].record); err != nil {
			return err
		}
		all[k] = step.upserts[i].writing(owners[k])
	}
	written, err := w.writeAll(step.Path, all, func(k int) string { return step.pointer(items[k]) })
	if err != nil {
		return err
	}
	for k, i := range items {
		results[i] = written[k]
	}
	return nil
}

// positions lists the positions of n items.
func positions(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
