package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// sight is what exists for a request: what is stored, what it is about to store
// itself and, if it is one that will be done later, what is to be created by then.
type sight struct {
	tx       *store.Tx
	coming   []identity
	accepted bool        // resources count whose creation was accepted
	relied   []schema.ID // operations that will create what was looked for
}

func (s *sight) exists(c *schema.Collection, id schema.ID) (bool, error) {
	if slices.Contains(s.coming, identity{c, id}) {
		return true, nil
	}
	if found, err := s.tx.View(c, nil, id, nil); found || err != nil {
		return found, err
	}
	return s.promised(c, id)
}

// promised reports whether a resource counts because its creation was accepted.
func (s *sight) promised(c *schema.Collection, id schema.ID) (bool, error) {
	if !s.accepted {
		return false, nil
	}
	operation, found, err := s.tx.Creating(c, id)
	if found {
		s.relied = append(s.relied, operation)
	}
	return found, err
}

// requireParent answers 404 when the parent of a sub-collection does not exist.
func (s *sight) requireParent(p Path) error {
	if p.Parent == nil {
		return nil
	}
	parents := p.Collection.ParentLink().To
	found, err := s.exists(parents, *p.Parent)
	if err == nil && !found {
		err = notFound(parents, *p.Parent)
	}
	return err
}

// checkReferences reports the references of a resource that lead nowhere.
// Before is the resource as it was, nil for a new one: only what has changed is
// looked at.
func (s *sight) checkReferences(c *schema.Collection, before, after schema.Record) (fault.List, error) {
	var faults fault.List
	for _, link := range c.Links() {
		target := after[link.Column]
		if target.IsNull() || before != nil && before[link.Column] == target {
			continue
		}
		found, err := s.exists(link.To, target.ID())
		if err != nil {
			return nil, err
		}
		if !found {
			faults.Add(fault.At("/"+c.Columns()[link.Column].Name, fault.CodeUnknownReference, "There is no resource %s in %s.", target.ID(), link.To.Name))
		}
	}
	return faults, nil
}

// checkNew reports the references of new resources that lead nowhere. A record
// that is nil could not be read.
func (s *sight) checkNew(c *schema.Collection, records []schema.Record, pointer func(i int) string) (fault.List, error) {
	var invalid fault.List
	for i, record := range records {
		if record == nil {
			continue
		}
		faults, err := s.checkReferences(c, nil, record)
		if err != nil {
			return nil, err
		}
		invalid = append(invalid, below(pointer(i), faults)...)
	}
	return invalid, nil
}
