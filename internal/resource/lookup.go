package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// lookup finds the resources that exist for a request: stored ones, those that it is about to
// store and, for an asynchronous request, those that pending operations will create.
type lookup struct {
	tx           *store.Tx
	creating     []identity
	countPending bool       // include resources that pending operations will create
	awaited      []model.ID // pending operations that create what it has found
}

// isUnsettled reports whether operations on a resource are unfinished while another is accepted: they may change the state that
// it will find.
func (s *lookup) isUnsettled(c *model.Collection, before model.Record) (bool, error) {
	if !s.countPending || before == nil {
		return false, nil
	}
	return s.tx.HasUnfinished(c, before.ID(model.IDColumn))
}

// isPending reports whether a pending operation will create a resource. If a rule restricts
// what the caller sees, only their own operations count: the rule cannot be evaluated yet.
func (s *lookup) isPending(by *auth.Permit, c *model.Collection, id model.ID) (bool, error) {
	if !s.countPending {
		return false, nil
	}
	operation, caller, found, err := s.tx.Creating(c, id)
	if found && by.Scope(c) != nil {
		creator, failed := auth.UnmarshalCaller(caller)
		found, err = failed == nil && !creator.Anonymous() && creator.ID == by.Caller.ID, failed
	}
	if found {
		s.awaited = append(s.awaited, operation)
	}
	return found, err
}

// exists reports whether a resource exists for a caller.
func (s *lookup) exists(by *auth.Permit, c *model.Collection, id model.ID) (bool, error) {
	missing, err := s.missing(by, c, []model.ID{id})
	return len(missing) == 0, err
}

// checkReferences adds to the faults of each resource of a path its references to others that do not exist for the
// caller. Before is the previous states, nil for new resources: only changed references are
// checked. A nil state after could not be decoded.
func (s *lookup) checkReferences(path reads.Path, before, after []model.Record, faults []problem.Errors) error {
	c := path.Collection
	for _, link := range c.Links() {
		changed := func(i int) bool {
			return after[i] != nil && !after[i][link.Column].IsNull() && (before[i] == nil || before[i][link.Column] != after[i][link.Column])
		}
		var targets []model.ID
		for i := range after {
			if changed(i) {
				targets = append(targets, after[i][link.Column].ID())
			}
		}
		missing, err := s.missing(path.By, link.To, targets)
		if err != nil {
			return err
		}
		for i := range after {
			if len(missing) > 0 && changed(i) && missing[after[i][link.Column].ID()] {
				found := fault.At("/"+c.Columns()[link.Column].Name, problem.CodeUnknownReference, "There is no resource %s in %s.", after[i][link.Column].ID(), link.To.Name)
				faults[i].Add(redact(path, problem.Errors{found})[0])
			}
		}
	}
	return nil
}

// missing returns the resources of a list that do not exist for a caller.
func (s *lookup) missing(by *auth.Permit, c *model.Collection, ids []model.ID) (map[model.ID]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	c = c.Base() // a hook may refer to what the version does not have
	missing := map[model.ID]bool{}
	var stored []model.ID
	for _, id := range ids {
		if !missing[id] && !slices.Contains(s.creating, identity{c, id}) {
			missing[id] = true
			stored = append(stored, id)
		}
	}
	found, err := s.tx.Existing(c, by.Scope(c), stored)
	if err != nil {
		return nil, err
	}
	for _, id := range stored {
		exists := found[id]
		if !exists {
			if exists, err = s.isPending(by, c, id); err != nil {
				return nil, err
			}
		}
		if exists {
			delete(missing, id)
		}
	}
	return missing, nil
}
