package migrate

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/internal/versions"
)

// newAttribute plans an attribute that the old schema does not have. That it must be unique is a step of its own: see planIndexes.
func (p *plan) newAttribute(pair *pair, column int) {
	a := pair.to.Columns()[column].Attribute
	name, what := pair.to.Name, versions.TypeName(a)
	if link := linkAt(pair.to, column); link != nil {
		what = "refers to " + link.To.Name
	}
	switch {
	case a.IsComputed():
		p.newComputed(pair, column, what)
	case !a.DefaultValue().IsNull():
		p.add(Additive, costOf("writes", pair.from, allResources), "%s: new attribute %s (%s); existing resources get the default", name, a.Name, what)
	case a.Required:
		step := p.add(Rewriting, costOf("checks", pair.from, allResources), "%s: new attribute %s (%s), which is required and has no default for existing resources", name, a.Name, what).in(pair.from, allResources)
		pair.changes = append(pair.changes, &change{fromColumn: noSource, toColumn: column, attribute: a, requiredStep: step})
	default:
		p.add(Additive, nil, "%s: new attribute %s (%s)", name, a.Name, what)
	}
}

// compareAttribute plans an attribute that is in both schemas, perhaps under another name.
func (p *plan) compareAttribute(pair *pair, fromColumn, toColumn int) {
	before, a := pair.from.Columns()[fromColumn].Attribute, pair.to.Columns()[toColumn].Attribute
	name, steps := pair.to.Name, len(p.steps)
	values := costOf("checks", pair.from, fromColumn)
	c := &change{fromColumn: fromColumn, toColumn: toColumn, attribute: a}
	if before.Name != a.Name {
		p.add(Rewriting, pair.renameCost(fromColumn), "%s: attribute %s is renamed to %s", name, before.Name, a.Name).in(pair.from, fromColumn)
	}
	if p.compareComputed(pair, c, before) {
		return
	}
	kind, kindBefore := pair.to.Columns()[toColumn].Kind, pair.from.Columns()[fromColumn].Kind
	if kind != kindBefore {
		c.valueStep = p.add(Rewriting, values, "%s: %s is converted from %s to %s", name, a.Name, versions.TypeName(before), versions.TypeName(a)).in(pair.from, fromColumn)
	} else if keywords := a.Tightened(before); len(keywords) > 0 {
		c.valueStep = p.add(Rewriting, values, "%s: %s is restricted by %s", name, a.Name, strings.Join(keywords, ", ")).in(pair.from, fromColumn)
	}
	switch {
	case a.Required && !before.Required && !a.DefaultValue().IsNull():
		c.requiredStep = p.add(Rewriting, costOfNulls(pair.from, fromColumn), "%s: %s becomes required; resources without a value get the default", name, a.Name).in(pair.from, allResources)
	case a.Required && !before.Required:
		c.requiredStep = p.add(Rewriting, costOf("checks", pair.from, allResources), "%s: %s becomes required", name, a.Name).in(pair.from, allResources)
	case !a.Required && before.Required:
		p.add(Additive, nil, "%s: %s becomes optional", name, a.Name)
	}
	p.compareLinks(pair, c, values)
	p.compareLifecycle(pair, c, before)
	if a.WriteOnce && !before.WriteOnce {
		p.add(Rewriting, nil, "%s: later writes cannot change %s (write_once)", name, a.Name).in(pair.from, allResources)
	}
	switch {
	case a.Until == before.Until:
	case a.Until == 0:
		p.add(Additive, nil, "%s: the newest version of the interface has %s again", name, a.Name)
	default:
		p.add(Additive, nil, "%s: only versions up to %d of the interface have %s", name, a.Until, a.Name)
	}
	if c.valueStep != nil || c.requiredStep != nil || c.linkStep != nil {
		pair.changes = append(pair.changes, c)
	}
	if len(p.steps) == steps && !sameAttribute(before, a) {
		p.add(Additive, nil, "%s: %s changes without effect on stored values (%s)", name, a.Name, differingKeywords(before, a))
	}
}

func (p *plan) compareLinks(pair *pair, c *change, values func(*survey) (string, error)) {
	before, after := linkAt(pair.from, c.fromColumn), linkAt(pair.to, c.toColumn)
	name := pair.to.Name
	switch {
	case after == nil && before == nil:
	case after == nil:
		p.add(Additive, nil, "%s: %s no longer refers to %s", name, c.attribute.Name, before.To.Name)
	default:
		target := p.pairOf(after.To)
		if before != nil && target != nil && target.from == before.To {
			return
		}
		c.target = after.To
		c.linkStep = p.add(Rewriting, values, "%s: %s refers to %s", name, c.attribute.Name, after.To.Name).in(pair.from, c.fromColumn)
	}
}

func linkAt(c *model.Collection, column int) *model.Link {
	for i, link := range c.Links() {
		if link.Column == column {
			return &c.Links()[i]
		}
	}
	return nil
}

// sameAttribute compares the declarations of two attributes, without their indexes, which
// are compared with those of the collection.
func sameAttribute(a, b *model.Attribute) bool {
	return bytes.Equal(a.Definition(), b.Definition()) && a.Required == b.Required && onDelete(a) == onDelete(b) && a.As == b.As && a.Inverse == b.Inverse &&
		len(differingRules(a, b)) == 0
}

// differingRules lists the keywords of the rules of the data that differ.
func differingRules(a, b *model.Attribute) (names []string) {
	for _, k := range model.RuleKeywords {
		if !bytes.Equal(model.MustMarshal(k.Value(a)), model.MustMarshal(k.Value(b))) {
			names = append(names, k.Name)
		}
	}
	return names
}

func onDelete(a *model.Attribute) model.OnDelete {
	if a.References == nil {
		return ""
	}
	return a.References.OnDelete
}

// differingKeywords lists the keywords that differ and that users know.
func differingKeywords(before, a *model.Attribute) string {
	var names []string
	note := func(name string, differs bool) {
		if differs {
			names = append(names, name)
		}
	}
	note("on_delete", onDelete(before) != onDelete(a))
	note("as", before.As != a.As)
	note("inverse", before.Inverse != a.Inverse)
	note("description", before.Description != a.Description)
	names = append(names, differingRules(before, a)...)
	note("default", before.DefaultValue() != a.DefaultValue())
	plain := func(x model.Attribute) string {
		x.Description, x.Default = "", nil
		return string(x.Definition())
	}
	note("fewer restrictions", plain(*before) != plain(*a))
	return strings.Join(names, ", ")
}

// costOf returns how many resources a step reads or writes: those with a value in a column,
// or all of the collection.
func costOf(verb string, c *model.Collection, column int) func(*survey) (string, error) {
	return func(s *survey) (string, error) {
		n, err := s.count(c, column, false)
		return fmt.Sprintf("%s %s", verb, suggest.Counted(n, "resource")), err
	}
}

func costOfNulls(c *model.Collection, column int) func(*survey) (string, error) {
	return func(s *survey) (string, error) {
		n, err := s.count(c, column, true)
		return "writes " + suggest.Counted(n, "resource"), err
	}
}
