package auth

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// transition is the rule of the transitions to a state of a lifecycle. The resource must meet it before the change, and a new resource as
// it is created.
type transition struct {
	column int
	state  model.Value
	rule   *rule
}

// TransitionRule is the filter that a resource must pass for the transitions that the client asks for, in addition to those of update
// and create; nil: there is none. Before is nil for a new resource. What hooks have set does not count.
func (p *Permit) TransitionRule(c *model.Collection, before model.Record, input model.Input) (rule query.Filter) {
	asked := input.FromClient()
	if asked.Values == nil {
		return nil
	}
	for _, each := range p.restrictions(c).transitions {
		if asked.Set[each.column] && asked.Values[each.column] == each.state && (before == nil || before[each.column] != each.state) {
			rule = query.Both(rule, p.filter(each.rule))
		}
	}
	return rule
}

// Transition says for how many resources the caller may make the transitions to a state, as far as update and create allow
// it, and the lifecycle.
func (p *Permit) Transition(c *model.Collection, attribute, state string) Extent {
	for _, each := range p.restrictions(c).transitions {
		if c.Columns()[each.column].Name != attribute || each.state.Text() != state {
			continue
		}
		switch rule := p.filter(each.rule); {
		case rule == nil:
			return AllowsAll
		case isNone(rule):
			return AllowsNone
		}
		return AllowsSome
	}
	return AllowsAll
}
