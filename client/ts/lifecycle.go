package ts

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// lifecycles lists the attributes with a lifecycle, as far as the role sees them.
func (f family) lifecycles() (all []*model.Attribute) {
	for i := range f.Attributes {
		if a := &f.Attributes[i]; a.HasLifecycle() && f.maySee(a.Name) {
			all = append(all, a)
		}
	}
	return all
}

// next lists the states that can follow a state, without those that the role can never bring a resource into.
func (f family) next(a *model.Attribute, state string) []string {
	return slices.DeleteFunc(settable(a, a.Transitions[state]), func(to string) bool {
		return f.grant != nil && f.grant.Transitions[f.newest(a.Name)][to].Text == "false"
	})
}

// settable lists the states of some that a client of the version can write. It reads newer ones too.
func settable(a *model.Attribute, states []string) []string {
	declared := a.InVersion().States()
	return slices.DeleteFunc(slices.Clone(states), func(state string) bool {
		return len(declared) > 0 && !slices.Contains(declared, state)
	})
}

// transitions writes the type of the states that can follow each state.
func (g *generator) transitions(f family) {
	if len(f.lifecycles()) == 0 {
		return
	}
	g.line("\n/** The states that can follow each state of %s. */\nexport interface %sTransitions {", f.Name, f.name)
	for _, a := range f.lifecycles() {
		g.line("  readonly %s: {", a.Name)
		for _, state := range a.States() {
			g.line("    readonly %s: readonly [%s];", member(state), strings.Join(quotedAll(f.next(a, state)), ", "))
		}
		g.line("  };")
	}
	g.line("}")
}

// transitionsType is the member transitions of a shape.
func (g *generator) transitionsType(f family) string {
	if len(f.lifecycles()) == 0 {
		return "{}"
	}
	return f.name + "Transitions"
}

// transitionSpecs lists the states that can follow each state, for the runtime.
func (g *generator) transitionSpecs(f family) (facts []string) {
	for _, a := range f.lifecycles() {
		var all []string
		for _, state := range a.States() {
			all = append(all, member(state)+": ["+strings.Join(quotedAll(f.next(a, state)), ", ")+"]")
		}
		facts = append(facts, a.Name+": { "+strings.Join(all, ", ")+" }")
	}
	return facts
}

// patchable lists the lifecycles whose states a patch can change.
func (f family) patchable() []*model.Attribute {
	return slices.DeleteFunc(f.lifecycles(), func(a *model.Attribute) bool { return !f.mayWrite(a.Name) || a.WriteOnce })
}

// statesOf is the parameters of the type of a patch: the state of each lifecycle, which is any if it is not given.
func (g *generator) statesOf(f family) (parameters []string) {
	for _, a := range f.patchable() {
		known := "keyof " + f.name + "Transitions[" + literal(a.Name) + "]"
		parameters = append(parameters, stateParameter(a)+" extends "+known+" = "+known)
	}
	return parameters
}

func stateParameter(a *model.Attribute) string { return "From" + model.Pascal(a.Name) }

// stateType is the type of a state in the body of a write: an initial state in a create, a following state in a patch, any state in a
// replacement.
func (g *generator) stateType(f family, a *model.Attribute, v variant) string {
	switch {
	case v == createVariant:
		return union(quotedAll(settable(a, a.InitialStates())))
	case v == patchVariant && f.maySee(a.Name):
		from := stateParameter(a)
		return from + " | " + f.name + "Transitions[" + literal(a.Name) + "][" + from + "][number]"
	}
	return union(quotedAll(settable(a, a.States())))
}
