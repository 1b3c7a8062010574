package openapi

import (
	"cmp"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// extension is the prefix of the members that OpenAPI does not know.
const extension = "x-plural-"

// shown returns whether the reader may see a rule of a collection.
func (b *builder) shown(c *model.Collection) func(model.Rule) bool {
	return rules.Of(c).Shown(b.By.Visible(c))
}

// addRules adds the rules of the data of an attribute for programs.
func (b *builder) addRules(d *object, c *model.Collection, a *model.Attribute) {
	for _, each := range a.RuleMembers(b.shown(c)) {
		d.add(extension+strings.ReplaceAll(each.Name, "_", "-"), each.Value)
	}
}

// describeRules describes the rules of the data of an attribute for people.
func (b *builder) describeRules(c *model.Collection, a *model.Attribute) string {
	text := ""
	if a.HasLifecycle() {
		text = describeLifecycle(a)
	}
	if a.WriteOnce {
		text += " It is set by the create, and does not change."
	}
	if a.IsComputed() {
		text += " The server computes it"
		if a.When == model.WhenCreate {
			text += " when the resource is created"
		}
		if b.shown(c)(a.Computed) {
			text += ": `" + a.Computed.Text + "`"
		}
		text += "."
	}
	return text
}

// describeLifecycle says which states can follow each other.
func describeLifecycle(a *model.Attribute) string {
	text, last := "", []string{}
	if initial := a.InitialStates(); len(initial) < len(a.States()) {
		text = " It begins as " + quoted(initial) + "."
	}
	for _, state := range a.States() {
		if next := a.Transitions[state]; len(next) > 0 {
			text += " `" + state + "` can change to " + quoted(next) + "."
		} else {
			last = append(last, state)
		}
	}
	if len(last) > 0 {
		text += " Nothing follows " + quoted(last) + "."
	}
	return text
}

// quoted lists states as code.
func quoted(states []string) string {
	all := make([]string, len(states))
	for i, state := range states {
		all[i] = "`" + state + "`"
	}
	return suggest.OneOf(all)
}

// tag describes a collection, with the checks that the reader may see.
func (b *builder) tag(c *model.Collection) object {
	description, checks := cmp.Or(c.Description, capital(spaced(c.Name))+"."), c.ShownChecks(b.shown(c))
	for i, check := range checks {
		if i == 0 {
			description += "\n\nEvery resource must meet these rules:\n"
		}
		description += "\n- `" + check.Rule.Text + "`: " + check.Message
	}
	tag := object{{"name", c.Name}, {"description", description}}
	if link := c.ParentLink(); b.Format == Latest && link != nil && b.By.MayKnow(link.To) {
		tag.add("parent", link.To.Name)
	}
	tag.addIf(len(checks) > 0, extension+"checks", checks)
	return tag
}

// ofRules is the codes of the rules of the data, as far as the reader may know of them.
func (b *builder) ofRules(c *model.Collection) (codes []problem.Code) {
	for i := range c.Attributes {
		if a := &c.Attributes[i]; a.HasLifecycle() && b.By.Visible(c).Has(c.Field(a.Name).Column) {
			codes = append(codes, problem.CodeTransition)
		}
	}
	if len(c.ShownChecks(b.shown(c))) > 0 {
		codes = append(codes, problem.CodeCheck)
	}
	return codes
}
