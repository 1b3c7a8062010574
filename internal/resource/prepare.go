package resource

import (
	"context"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
)

// preparation finds what is needed to execute steps: the resources of ranges, what Before hooks change, and the words of texts. It reads
// in snapshots before the transaction, or in the transaction of a function of the program.
type preparation struct {
	resources *Resources
	ctx       context.Context
	work      *Work           // nil: before the transaction
	hooks     context.Context // of the Before hooks of all steps; nil: none has run
	cancel    context.CancelFunc
}

func (p *preparation) end() {
	if p.cancel != nil {
		p.cancel()
	}
}

// snapshot opens a snapshot for a short time. It must be closed.
func (p *preparation) snapshot() (s *lookup, closing func(), err error) {
	if p.work != nil {
		return &lookup{tx: p.work.tx, creating: slices.Clone(p.work.creating)}, func() {}, nil
	}
	tx, err := p.resources.store.Read(p.ctx)
	if err != nil {
		return nil, nil, err
	}
	return &lookup{tx: tx}, tx.Close, nil
}

func (p *preparation) page(wanted store.PageQuery) (*store.Page, error) {
	if p.work != nil {
		return p.work.tx.Page(wanted)
	}
	return p.resources.store.Page(p.ctx, wanted)
}

// prepare prepares a step that is valid.
func (p *preparation) prepare(step *decodedStep) error {
	if err := p.findRange(step); err != nil {
		return err
	}
	if !step.withoutBefore {
		if p.hooks == nil {
			p.hooks, p.cancel = p.resources.BoundHooks(p.ctx)
		}
		if err := p.runBefore(step); err != nil {
			return err
		}
	}
	step.texts = step.splitTexts()
	return nil
}

// runBefore runs the Before hooks of a step.
func (p *preparation) runBefore(step *decodedStep) error {
	r := p.resources
	switch {
	case step.Range != nil:
		return p.runBeforeRange(step)
	case step.Conflict != nil:
		return p.runBeforeUpserts(step)
	case step.verb == Delete:
		return r.before(p.hooks, step, Delete, &step.ID, nil)
	}
	id := &step.ID
	if step.verb == Create {
		id = nil // a new resource has none, or its input has it
	}
	for i := range step.inputs {
		if err := r.before(p.hooks, step, step.verb, id, &step.inputs[i]); err != nil {
			return fault.AtPointer(step.pointer(i), err)
		}
	}
	return nil
}

// splitTexts finds the words of all texts that the step may store.
func (step *decodedStep) splitTexts() *store.Texts {
	c, texts := step.Path.Collection, &store.Texts{}
	add := func(input model.Input) {
		if input.Values != nil {
			texts.Add(c, input.Values)
		}
	}
	for _, input := range step.inputs {
		add(input)
	}
	for _, input := range step.prepared {
		add(input)
	}
	for _, each := range step.upserts {
		add(each.Create)
		add(each.Patch)
	}
	return texts
}
