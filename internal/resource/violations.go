package resource

import (
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// A body that is invalid in itself never gets as far as a write. What the write
// would have found is looked up here, so that a client is told of everything at
// once, and of a resource that does not exist before anything else.

// withViolations adds what else is wrong with a write whose inputs, if there are any, are not
// valid. What does not exist, or is not in the state that the write is meant for, is the
// error alone: no body could change it.
func (r *Resources) withViolations(s *sight, write Write, invalid error) error {
	var others problem.Errors
	var err error
	if write.Verb == Create {
		others, err = s.createViolations(write)
	} else {
		others, err = r.updateViolations(s, write)
	}
	if err != nil {
		return err
	}
	return append(fault.From(invalid), others...)
}

func (s *sight) createViolations(write Write) (problem.Errors, error) {
	if err := s.requireParent(write.Path); err != nil {
		return nil, err
	}
	if err := write.Condition.allowsChange(""); err != nil {
		return nil, err
	}
	c := write.Path.Collection
	records := make([]model.Record, len(write.Inputs))
	for i, input := range write.Inputs {
		if records[i] = input.Values; records[i] != nil && input.HasID() {
			s.coming = append(s.coming, identity{c, records[i].ID(model.IDColumn)})
		}
	}
	return s.checkNew(write.Path, records, write.pointer)
}

func (r *Resources) updateViolations(s *sight, write Write) (problem.Errors, error) {
	if err := s.requireParentOfItem(write.Path); err != nil {
		return nil, err
	}
	c := write.Path.Collection
	before, err := s.tx.Get(c, write.Path.scope(), write.ID)
	if err != nil {
		return nil, err
	}
	if before == nil {
		if promised, err := s.promised(write.Path.By, c, write.ID); err != nil || promised {
			return nil, err // there is nothing to compare with yet
		}
		return nil, notFound(c, write.ID)
	}
	if err := write.allowed(before); err != nil {
		return nil, err
	}
	if err := r.checkState(s.tx, write, before); err != nil || len(write.Inputs) == 0 {
		return nil, err
	}
	input := write.Inputs[0]
	dangling, err := s.checkReferences(write.Path.By, c, before, apply(c, before, input))
	return append(checkUnchanged(write, before), dangling...), err
}
