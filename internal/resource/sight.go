package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// sight is what exists for a request: what is stored, what it is about to store
// itself and, if it is one that will be done later, what is to be created by then.
type sight struct {
	tx       *store.Tx
	coming   []identity
	accepted bool       // resources count whose creation was accepted
	relied   []model.ID // operations that will create what was looked for
}

// exists reports whether a resource exists for a caller.
func (s *sight) exists(by *auth.Permit, c *model.Collection, id model.ID) (bool, error) {
	if slices.Contains(s.coming, identity{c, id}) {
		return true, nil
	}
	if found, err := s.tx.View(c, by.Rows(c), id, nil); found || err != nil {
		return found, err
	}
	return s.promised(by, c, id)
}

// promised reports whether a resource counts because its creation was accepted. If
// a rule decides what the caller sees, only their own do: nobody knows yet what the rule
// will say of others.
func (s *sight) promised(by *auth.Permit, c *model.Collection, id model.ID) (bool, error) {
	if !s.accepted {
		return false, nil
	}
	operation, kept, found, err := s.tx.Creating(c, id)
	if found && by.Rows(c) != nil {
		creator, failed := auth.UnmarshalCaller(kept)
		found, err = failed == nil && !creator.Anonymous() && creator.ID == by.Caller.ID, failed
	}
	if found {
		s.relied = append(s.relied, operation)
	}
	return found, err
}

// requireParent answers 404 when the parent of a sub-collection does not exist for the
// caller, or they may not know what is below whom.
func (s *sight) requireParent(p Path) error {
	if p.Parent == nil {
		return nil
	}
	parents := p.Collection.ParentLink().To
	if p.IsHidden() {
		return notFound(parents, *p.Parent)
	}
	found, err := s.exists(p.By, parents, *p.Parent)
	if err == nil && !found {
		err = notFound(parents, *p.Parent)
	}
	return err
}

// requireParentOfItem does the same where an item is looked for, which has a parent if it
// is there: only whether the caller sees that one is left to find out.
func (s *sight) requireParentOfItem(p Path) error {
	if p.Parent == nil || !p.IsHidden() && p.By.Rows(p.Collection.ParentLink().To) == nil {
		return nil
	}
	return s.requireParent(p)
}

// checkReferences reports the references of a resource that lead nowhere, or to
// what does not exist for the caller.
// Before is the resource as it was, nil for a new one: only what has changed is
// looked at.
func (s *sight) checkReferences(by *auth.Permit, c *model.Collection, before, after model.Record) (problem.Errors, error) {
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

// checkNew reports the references of new resources that lead nowhere. A record
// that is nil could not be read.
func (s *sight) checkNew(path Path, records []model.Record, pointer func(i int) string) (problem.Errors, error) {
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
