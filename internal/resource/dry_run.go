package resource

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

var errUndone = errors.New("the savepoint is undone")

// Undone runs fn in a savepoint that is undone, also if it succeeds.
func (w *Work) Undone(fn func() error) error {
	err := w.Savepoint(func() error { return cmp.Or(fn(), errUndone) })
	if errors.Is(err, errUndone) {
		return nil
	}
	return err
}

// DryRun executes writes, counts the resources that they change, and undoes everything. Hooks
// take part, except for those after the commit.
func (w *Work) DryRun(run func() error) (Affected, error) {
	w.dryRun, w.affected = true, map[identity]effect{}
	defer func() { w.dryRun, w.affected = false, nil }()
	var changed map[identity]effect
	seen := map[identity]bool{}
	err := w.Undone(func() error {
		if err := run(); err != nil {
			return err
		}
		changed = w.affected
		return w.addVisible(changed, seen)
	})
	if err != nil {
		return nil, err
	}
	if err := w.addVisible(changed, seen); err != nil {
		return nil, err
	}
	return w.count(changed, seen), nil
}

// addVisible adds the changed resources that the caller sees at this moment. A rule may read other resources, so it is
// evaluated before the first write, which means after all are undone, and after the last one.
func (w *Work) addVisible(changed map[identity]effect, seen map[identity]bool) error {
	ids := map[*model.Collection][]model.ID{}
	for each, effect := range changed {
		switch {
		case effect == temporary:
		case w.by.Scope(each.collection) == nil:
			seen[each] = true
		case !seen[each]:
			ids[each.collection] = append(ids[each.collection], each.id)
		}
	}
	for c, some := range ids {
		found, err := w.tx.Existing(c, w.by.Scope(c), some)
		if err != nil {
			return err
		}
		for id, exists := range found {
			if exists {
				seen[identity{c, id}] = true
			}
		}
	}
	return nil
}

// effect is what writes do to a resource, all together.
type effect int

const (
	changedOnly effect = iota // it existed before, and does after
	created
	deleted
	temporary // created and deleted: nothing
)

// note records changes for a dry run.
func (w *Work) note(verb Verb, c *model.Collection, ids ...model.ID) {
	if w.affected == nil {
		return
	}
	for _, id := range ids {
		key := identity{c, id}
		before, known := w.affected[key]
		switch {
		case !known && verb == Create, known && before == temporary:
			w.affected[key] = created
		case known && before == created && verb == Delete:
			w.affected[key] = temporary
		case verb == Delete:
			w.affected[key] = deleted
		case !known, before == deleted: // if it was deleted, it is created again
			w.affected[key] = changedOnly
		}
	}
}

// Affected is the numbers of resources that a write creates, changes or deletes, by collection.
type Affected []AffectedCollection

// AffectedCollection is the number of affected resources of a collection.
type AffectedCollection struct {
	Collection *model.Collection
	Count      int
	Deleted    int // of these
}

// Include adds a collection, if it is not there, with the number 0.
func (a Affected) Include(c *model.Collection) Affected {
	if slices.ContainsFunc(a, func(each AffectedCollection) bool { return each.Collection == c }) {
		return a
	}
	return append(a, AffectedCollection{Collection: c})
}

// String is the numbers as a header: issues=142, comments=3.
func (a Affected) String() string {
	return a.format(func(each AffectedCollection) (int, bool) { return each.Count, true })
}

// Deletions is the numbers of deleted resources as a header, empty if there are none.
func (a Affected) Deletions() string {
	return a.format(func(each AffectedCollection) (int, bool) { return each.Deleted, each.Deleted > 0 })
}

func (a Affected) format(number func(AffectedCollection) (n int, shown bool)) string {
	var parts []string
	for _, each := range a {
		if n, shown := number(each); shown {
			parts = append(parts, each.Collection.Name+"="+strconv.Itoa(n))
		}
	}
	return strings.Join(parts, ", ")
}

// count counts resources, in the order of the schema.
func (w *Work) count(changed map[identity]effect, seen map[identity]bool) Affected {
	counts, deletions := map[*model.Collection]int{}, map[*model.Collection]int{}
	for each := range seen {
		counts[each.collection]++
		if changed[each] == deleted {
			deletions[each.collection]++
		}
	}
	var affected Affected
	for _, c := range w.resources.store.Schema().All() {
		if counts[c] > 0 {
			affected = append(affected, AffectedCollection{c, counts[c], deletions[c]})
		}
	}
	return affected
}
