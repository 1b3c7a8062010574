package resource

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// errDryRun undoes a dry run that succeeded.
var errDryRun = errors.New("only a dry run")

// DryRun executes writes, counts the resources that they change, and undoes everything. Hooks
// take part, except for those after the commit.
func (w *Work) DryRun(run func() error) (Affected, error) {
	var affected Affected
	w.dryRun, w.affected = true, map[identity]bool{}
	err := w.Savepoint(func() error {
		if err := run(); err != nil {
			return err
		}
		if w.uncounted != nil {
			return w.uncounted
		}
		affected = w.counted()
		return errDryRun
	})
	w.dryRun, w.affected = false, nil
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return affected, err
}

// Affected is the numbers of resources that a write creates, changes or deletes, by collection.
type Affected []AffectedCollection

// AffectedCollection is the number of affected resources of a collection.
type AffectedCollection struct {
	Collection *model.Collection
	Count      int
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
	parts := make([]string, len(a))
	for i, each := range a {
		parts[i] = each.Collection.Name + "=" + strconv.Itoa(each.Count)
	}
	return strings.Join(parts, ", ")
}

// count counts a changed resource. One that the caller may not see does not exist for them.
func (w *Work) count(change *Change) {
	if w.affected == nil {
		return
	}
	c, record := change.Collection, change.After
	if record == nil {
		record = change.Before
	}
	seen, err := w.by.Sees(c, record, w.tx.Find)
	if err == nil && !seen && change.Before != nil {
		seen, err = w.by.Sees(c, change.Before, w.tx.Find)
	}
	if seen {
		w.affected[identity{c, record.ID(model.IDColumn)}] = true
	}
	w.uncounted = errors.Join(w.uncounted, err)
}

// counted is the counted resources, in the order of the schema.
func (w *Work) counted() Affected {
	counts := map[*model.Collection]int{}
	for each := range w.affected {
		counts[each.collection]++
	}
	var affected Affected
	for _, c := range w.resources.store.Schema().All() {
		if counts[c] > 0 {
			affected = append(affected, AffectedCollection{c, counts[c]})
		}
	}
	return affected
}
