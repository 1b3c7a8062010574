package resource

import (
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/rules"
	"github.com/plural-go/plural/problem"
)

// forcedStates is who changes resources where Resources.ForceStates is set.
const forcedStates = "import:force-state"

// transitions returns a fault for each lifecycle that does not allow a change. It depends on the stored state: the transaction has read it,
// and fails if another one changes it. A caller who does not see the attribute is told neither its name nor its states.
func (w *Work) transitions(path reads.Path, set *rules.Set, before, after model.Record) problem.Errors {
	if w.resources.ForceStates {
		return nil
	}
	faults, visible := set.Transition(before, after), path.By.Visible(path.Collection)
	for i, each := range faults {
		if !visible.Has(path.Collection.Field(each.Source.Pointer[1:]).Column) {
			faults[i] = fault.New(problem.CodeTransition, "The lifecycle of the resource does not allow this change.")
		}
	}
	return faults
}
