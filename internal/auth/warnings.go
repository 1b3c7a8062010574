package auth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
	"github.com/plural-go/plural/schema"
)

// Warnings lists declarations that are valid but probably a mistake: a create that always fails, a
// rule that null makes true, rules of the data that tell about hidden attributes, and children that are visible although
// their parents are not.
func (p *Policy) Warnings() []string { return p.warnings }

// MustWrite lists the attributes that every create requires, and that the role may not write. If
// there are any, the role can create nothing. It can only be the attribute of the parent: others are
// refused as mistakes of the schema.
func (p *Policy) MustWrite(role string, c *model.Collection) []string {
	g := p.roles[role].of(c)
	if g == nil {
		return nil
	}
	var names []string
	for i, column := range c.Columns() {
		if a := column.Attribute; a != nil && column.NotNull && a.Default == nil && !a.IsComputed() && !g.writable.Has(i) {
			names = append(names, column.Name)
		}
	}
	return names
}

// warnAbout warns of a role that is granted create, and can create nothing, that learns of hidden attributes, or that
// sees children of parents that it does not see.
func (p *Policy) warnAbout(role *schema.Role, s *model.Schema) {
	for _, granted := range role.Grants {
		c := s.Collection(granted.Collection)
		if slices.Contains(granted.Verbs, schema.MayCreate) {
			for _, name := range p.MustWrite(role.Name, c) {
				p.warnings = append(p.warnings, fmt.Sprintf("%s is granted create in %s, but every create fails: %s is required, has no default, and is not writable for the role: add it to writable",
					role.Name, c.Name, name))
			}
		}
		p.warnAboutRules(role.Name, c)
		if parent := p.ruledParent(role.Name, c); parent != nil {
			p.warnings = append(p.warnings, fmt.Sprintf("%s sees only some of %s, by a rule, but all of %s: the rule of a parent does not apply to GET /%s: give %s a read rule of its own, for example one that reads through the reference to the parent",
				role.Name, parent.Name, c.Name, c.Name, c.Name))
		}
	}
}

// warnAboutRules warns of a role that learns of hidden attributes by the rules of the data: by a check that fails or
// not for a value that it writes, or by a computed attribute that it sees.
func (p *Policy) warnAboutRules(role string, c *model.Collection) {
	set, g := rules.Of(c), p.roles[role].of(c)
	if set == nil {
		return
	}
	names := func(some, in model.ColumnSet, want bool) (names []string) {
		for i, column := range c.Columns() {
			if column.Attribute != nil && some.Has(i) && in.Has(i) == want {
				names = append(names, column.Name)
			}
		}
		return names
	}
	if slices.Contains(g.verbs, schema.MayRead) {
		for _, computed := range set.Computed() {
			if hidden := names(computed.Reads, g.visible, false); g.visible.Has(computed.Column) && len(hidden) > 0 {
				p.warnings = append(p.warnings, fmt.Sprintf("%s sees %s of %s, but not %s, from which it is computed: the value tells about hidden ones",
					role, c.Columns()[computed.Column].Name, c.Name, strings.Join(hidden, " and ")))
			}
		}
	}
	if !slices.Contains(g.verbs, schema.MayCreate) && !slices.Contains(g.verbs, schema.MayUpdate) {
		return
	}
	for _, check := range set.Checks() {
		reads := slices.Clone(check.Reads)
		for _, computed := range slices.Backward(set.Computed()) { // what it is computed from comes before it
			if reads.Has(computed.Column) {
				reads.Add(computed.Reads)
			}
		}
		written, hidden := names(reads, g.writable, true), names(reads, g.visible, false)
		onlyIts := len(written) == 1 && slices.Equal(written, hidden) // a check of nothing but what the role sends
		if len(written) > 0 && len(hidden) > 0 && !onlyIts {
			p.warnings = append(p.warnings, fmt.Sprintf("%s can write %s of %s, but not see %s, which the same check reads: its error, %q, tells about hidden values",
				role, strings.Join(written, " and "), c.Name, strings.Join(hidden, " and "), check.Declared.Message))
		}
	}
}

// ruledParent is the parent of a collection if the role sees only some of its resources, by
// a rule, but all resources of the collection itself. Nil: there is no such parent. The rule
// of a parent covers /parents/<id>/children only, and not /children.
func (p *Policy) ruledParent(role string, c *model.Collection) *model.Collection {
	g, link := p.roles[role].of(c), c.ParentLink()
	if link == nil || g == nil || !slices.Contains(g.verbs, schema.MayRead) || g.rules[schema.MayRead] != nil {
		return nil
	}
	if above := p.roles[role].of(link.To); above == nil || above.rules[schema.MayRead] == nil {
		return nil
	}
	return link.To
}

// nullWarnings warns of attributes that can be null and are compared with a claim: a token
// whose claim is null would match the resources that belong to nobody. Conditions are those
// that are known to hold where e counts. A part counts if it holds, or, below a negation, if it does not.
func (t *translation) nullWarnings(e ast.Expr, conditions []string, holds bool) []string {
	if e.Kind() != ast.CallKind {
		return nil
	}
	args := e.AsCall().Args()
	switch name := e.AsCall().FunctionName(); name {
	case operators.LogicalNot:
		return t.nullWarnings(args[0], conditions, !holds)
	case operators.LogicalAnd, operators.LogicalOr:
		if name == operators.LogicalAnd && holds {
			conditions = append(notNull(e), conditions...)
		}
		return append(t.nullWarnings(args[0], conditions, holds), t.nullWarnings(args[1], conditions, holds)...)
	case operators.Conditional:
		warnings := append(t.nullWarnings(args[1], append(notNull(args[0]), conditions...), holds), t.nullWarnings(args[2], conditions, holds)...)
		if !isLiteral(args[1], types.Bool(!holds)) {
			warnings = append(warnings, t.nullWarnings(args[0], conditions, true)...)
		}
		if !isLiteral(args[2], types.Bool(!holds)) {
			warnings = append(warnings, t.nullWarnings(args[0], conditions, false)...)
		}
		return warnings
	case operators.Equals, operators.In:
		if holds {
			return t.nullWarning(e, conditions)
		}
	case operators.NotEquals:
		if !holds {
			return t.nullWarning(e, conditions)
		}
	}
	return nil
}

// isLiteral reports whether an expression is a value, as it is written.
func isLiteral(e ast.Expr, value ref.Val) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == value
}

func (t *translation) nullWarning(e ast.Expr, conditions []string) []string {
	args := e.AsCall().Args()
	a, isLeft := t.attributeOf(args[0])
	value := args[1]
	if !isLeft {
		a, _ = t.attributeOf(args[1]) // one that is not found is not nullable
		value = args[0]
	}
	value = expression.Unconverted(value)
	claim := claimIn(value)
	if !a.Nullable || claim == "" || slices.Contains(conditions, a.Variable()) || nameOf(value) != "" && slices.Contains(conditions, nameOf(value)) {
		return nil
	}
	advice := fmt.Sprintf("list %s in required, or add %s != null to the rule", a.Name, a.Variable())
	if len(a.Steps) > 0 {
		advice = fmt.Sprintf("add %s != null to the rule", a.Variable())
	}
	return []string{fmt.Sprintf("%s can be null in %s, and is compared with %s: for a caller whose claim is, or contains, null, the rule is true of resources where %s is null: %s",
		a.Name, t.Scope.Collection.Name, claim, a.Name, advice)}
}

// notNull lists what a condition says not to be null, itself or by its parts that are joined by &&.
func notNull(e ast.Expr) []string {
	if e.Kind() != ast.CallKind {
		return nil
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd:
		return append(notNull(args[0]), notNull(args[1])...)
	case operators.NotEquals:
		if isLiteral(args[1], types.NullValue) {
			return []string{nameOf(args[0])}
		}
		if isLiteral(args[0], types.NullValue) {
			return []string{nameOf(args[1])}
		}
	}
	return nil
}

// nameOf is a name with its members as it is written: auth.claims.team. Anything else
// has none.
func nameOf(e ast.Expr) string {
	member := func(operand ast.Expr, name string) string {
		if prefix := nameOf(operand); prefix != "" && name != "" {
			return prefix + "." + name
		}
		return ""
	}
	switch {
	case e.Kind() == ast.IdentKind:
		return expression.Identifier(e)
	case e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly():
		return member(e.AsSelect().Operand(), e.AsSelect().FieldName())
	case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index && e.AsCall().Args()[1].Kind() == ast.LiteralKind:
		name, _ := e.AsCall().Args()[1].AsLiteral().Value().(string)
		return member(e.AsCall().Args()[0], name)
	}
	return ""
}

// claimIn is a claim that an expression depends on.
func claimIn(e ast.Expr) (claim string) {
	expression.Visit(e, func(e ast.Expr) {
		if name := nameOf(e); strings.HasPrefix(name, "auth.claims.") {
			claim = name
		}
	})
	return claim
}
