package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// lookup finds the resources that exist for a request: stored ones, those that it is about to
// store and, for an asynchronous request, those that pending operations will create.
type lookup struct {
	tx           *store.Tx
	creating     []identity
	countPending bool       // include resources that pending operations will create
	dependsOn    []model.ID // pending operations that it relied on
}

// exists reports whether a resource exists for a caller.
func (s *lookup) exists(by *auth.Permit, c *model.Collection, id model.ID) (bool, error) {
	if slices.Contains(s.creating, identity{c, id}) {
		return true, nil
	}
	if found, err := s.tx.View(c, by.Rows(c), id, nil); found || err != nil {
		return found, err
	}
	return s.isPending(by, c, id)
}

// isPending reports whether a pending operation will create a resource. If a rule restricts
// what the caller sees, only their own operations count: the rule cannot be evaluated yet.
func (s *lookup) isPending(by *auth.Permit, c *model.Collection, id model.ID) (bool, error) {
	if !s.countPending {
		return false, nil
	}
	operation, kept, found, err := s.tx.Creating(c, id)
	if found && by.Rows(c) != nil {
		creator, failed := auth.UnmarshalCaller(kept)
		found, err = failed == nil && !creator.Anonymous() && creator.ID == by.Caller.ID, failed
	}
	if found {
		s.dependsOn = append(s.dependsOn, operation)
	}
	return found, err
}

// RequireParent returns 404 if the parent of a sub-collection does not exist for the caller.
func (p Path) RequireParent(tx *store.Tx) error { return (&lookup{tx: tx}).requireParent(p) }

// requireParent returns 404 if the parent of a sub-collection does not exist for the caller,
// or if they may not see the attribute of the parent.
func (s *lookup) requireParent(p Path) error {
	if p.Parent == nil {
		return nil
	}
	parents := p.Collection.ParentLink().To
	if p.IsHidden() {
		return NotFound(parents, *p.Parent)
	}
	found, err := s.exists(p.By, parents, *p.Parent)
	if err == nil && !found {
		err = NotFound(parents, *p.Parent)
	}
	return err
}

// requireParentOfItem does the same for an item. A stored item has a parent, so only its
// visibility is checked.
func (s *lookup) requireParentOfItem(p Path) error {
	if p.Parent == nil || !p.IsHidden() && p.By.Rows(p.Collection.ParentLink().To) == nil {
		return nil
	}
	return s.requireParent(p)
}

// checkReferences reports references to resources that do not exist for the caller. Before is
// the previous state, nil for a new resource: only changed references are checked.
func (s *lookup) checkReferences(by *auth.Permit, c *model.Collection, before, after model.Record) (problem.Errors, error) {
	var faults problem.Errors
	for _, link := range c.Links() {
		target := after[link.Column]
		if target.IsNull() || before != nil && before[link.Column] == target {
			continue
		}
		found, err := s.exists(by, link.To, target.ID())
		if err != nil {
			return nil, err
		}
		if !found {
			faults.Add(fault.At("/"+c.Columns()[link.Column].Name, problem.CodeUnknownReference, "There is no resource %s in %s.", target.ID(), link.To.Name))
		}
	}
	return faults, nil
}

// checkNew reports references of new resources to resources that do not exist. A nil record
// could not be decoded.
func (s *lookup) checkNew(path Path, records []model.Record, pointer func(i int) string) (problem.Errors, error) {
	var invalid problem.Errors
	for i, record := range records {
		if record == nil {
			continue
		}
		faults, err := s.checkReferences(path.By, path.Collection, nil, record)
		if err != nil {
			return nil, err
		}
		invalid = append(invalid, below(pointer(i), faults)...)
	}
	return invalid, nil
}
