package resource

import (
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
	"github.com/plural-go/plural/problem"
)

// refuseStates returns the faults of the resources that their rules do not allow.
func (w *Work) refuseStates(path Path, before, after []model.Record, pointer func(i int) string) problem.Errors {
	set := rules.Of(path.Collection)
	if set == nil || w.unsettled {
		return nil
	}
	faults := make([]problem.Errors, len(after))
	for i := range after {
		faults[i] = set.WriteOnce(before[i], after[i])
	}
	if refused := fault.Joined(pointer, faults); len(refused) > 0 {
		return refused
	}
	for i := range after {
		faults[i] = w.transitions(path, set, before[i], after[i])
	}
	return fault.Joined(pointer, faults)
}
