package resource

import (
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/rules"
	"github.com/plural-go/plural/problem"
)

// refusals returns the faults of the resources that their rules do not allow.
func (w *Work) refusals(path reads.Path, before, after []model.Record, pointer func(i int) string) error {
	set := rules.Of(path.Collection)
	if set == nil {
		return nil
	}
	invalid, conflicts := make([]problem.Errors, len(after)), make([]problem.Errors, len(after))
	for i := range after {
		unsettled, err := w.isUnsettled(path.Collection, before[i])
		if err != nil {
			return err
		}
		if !unsettled {
			invalid[i] = set.WriteOnce(before[i], after[i])
			conflicts[i] = w.transitions(path, set, before[i], after[i])
		}
	}
	if refused := fault.Joined(pointer, invalid); len(refused) > 0 {
		return refused
	}
	return fault.Joined(pointer, conflicts).Err()
}
