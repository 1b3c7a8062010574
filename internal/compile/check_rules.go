package compile

import (
	"maps"
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// attributeRules checks what is declared of the values of an attribute over time: that they are computed, set once, or
// the states of a lifecycle. The expressions themselves are compiled later.
func (k *Checker) attributeRules(a *model.Attribute, at Path) {
	if a.IsComputed() {
		k.computed(a, at)
	} else if a.When != "" {
		k.Report(at.To("when"), "when belongs to a computed attribute: add computed, or remove it")
	}
	if a.WriteOnce {
		k.writeOnce(a, at)
	}
	switch {
	case !a.HasLifecycle() && a.Initial != nil:
		k.Report(at.To("initial"), "initial belongs to transitions: add them, or write default for the value of a new resource")
	case a.HasLifecycle() && a.Type == model.String && !a.IsComputed() && !a.WriteOnce:
		k.lifecycle(a, at)
	}
}

func (k *Checker) computed(a *model.Attribute, at Path) {
	if a.When != "" && a.When != model.WhenCreate {
		choices := []string{model.WhenCreate}
		k.Report(at.To("when"), "when must be create, but is %q%s: remove it to compute the value in every write", a.When, suggest.DidYouMean(a.When, choices))
	}
	switch {
	case a.References != nil:
		k.Report(at.To("computed"), "%s is a reference, which cannot be computed: remove computed, or the reference", a.Name)
	case a.Default != nil:
		k.Report(at.To("default"), "%s is computed, so that a default is never used: remove default or computed", a.Name)
	}
	if a.WriteOnce {
		k.Report(at.To("write_once"), "%s is computed, and nobody writes it: to compute it only once, write when: create in place of write_once", a.Name)
	}
	if a.HasLifecycle() {
		k.Report(at.To("transitions"), "%s is computed, and has no lifecycle, which bounds what clients write: remove transitions or computed", a.Name)
	}
}

func (k *Checker) writeOnce(a *model.Attribute, at Path) {
	if a.References != nil && a.References.OnDelete == model.SetNull {
		k.Report(at.To("write_once"), "%s is set once, but on_delete: set_null changes it: use restrict or cascade, or remove write_once", a.Name)
	}
	if a.HasLifecycle() && !a.IsComputed() {
		k.Report(at.To("transitions"), "%s is set once, so that it never leaves a state: remove transitions or write_once", a.Name)
	}
}

func (k *Checker) lifecycle(a *model.Attribute, at Path) {
	switch {
	case a.Format != "" && isFormat(a.Format):
		k.Report(at.To("format"), "%s has transitions, and states have no format: remove it", a.Name)
		return
	case len(a.Enum) == 0:
		k.Report(at.To("enum"), "%s has transitions: add enum with a list of all states", a.Name)
		return
	case len(a.Constraints().Enum) < len(a.Enum):
		return // a state is not valid, or another constraint, which is reported
	case !a.Required: // with a default, it is: see requireStates
		k.Report(at.To("transitions"), "%s has transitions, and null is no state: list it in required, or give it a default", a.Name)
	}
	for _, state := range slices.Sorted(maps.Keys(a.Transitions)) {
		place := at.To("transitions", state)
		k.states(a, []string{state}, func(int) Path { return place })
		k.states(a, a.Transitions[state], place.Item)
		if i := slices.Index(a.Transitions[state], state); i >= 0 {
			k.Report(place.Item(i), "a resource can always stay in a state: remove %s", state)
		}
	}
	if a.Initial == nil {
		return
	}
	place := at.To("initial")
	k.states(a, a.Initial, place.Item)
	initial := a.Constraints().Default
	switch {
	case len(a.Initial) == 0:
		k.Report(place, "name at least one state: nothing could be created")
	case !initial.IsNull() && !slices.Contains(a.Initial, initial.Text()):
		k.Report(at.To("default"), "the default %s is not in initial, so that nothing could be created without %s: add it there, or change the default", initial.Text(), a.Name)
	}
}

// states checks a list of states.
func (k *Checker) states(a *model.Attribute, states []string, place func(i int) Path) {
	for i, state := range states {
		switch {
		case !slices.Contains(a.States(), state):
			k.Report(place(i), "the enum of %s has no state %q%s", a.Name, state, suggest.DidYouMean(state, a.States()))
		case slices.Contains(states[:i], state):
			k.Report(place(i), "%s is listed twice: remove one of them", state)
		}
	}
}

func (k *Checker) checks(c *model.Collection, at Path) {
	for i, check := range c.Checks {
		place := at.Item(i)
		if check.Rule.IsZero() {
			k.Report(place.To("rule"), "a check needs a rule, such as resource.ends_on >= resource.starts_on")
		}
		if check.Message == "" {
			k.Report(place.To("message"), "a check needs a message, which clients read if the rule does not hold")
		}
		if check.Attribute != "" && c.Declared(check.Attribute) == nil {
			k.Report(place.To("attribute"), "%s has no attribute %q%s", c.Name, check.Attribute, suggest.DidYouMean(check.Attribute, c.AttributeNames()))
		}
	}
}
