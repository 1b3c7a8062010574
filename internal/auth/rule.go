package auth

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types/ref"

	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/schema"
)

// A rule is a CEL expression, parsed and checked by cel-go. Parts that do not mention the resource
// are evaluated by cel-go when the caller is known. The rest must be comparisons of one column with
// such a value, joined by &&, ||, ! and ?:, which become a filter.

// rule is a compiled rule that can be bound to a caller.
type rule struct {
	text     string // as it is declared
	root     node
	warnings []string

	// What it reads: attributes, and parts of the caller.
	attributes          []attribute
	usesClaims, usesSub bool
}

// node is a boolean part of a rule. It becomes two filters: one for the resources for which it is
// true, and one for those for which it is false. For resources that pass neither it is an error,
// and an error denies access.
type node interface {
	// Variables are those of the caller: see Caller.Variables.
	bind(variables map[string]any) (isTrue, isFalse query.Filter)
}

// bind returns the filter of the resources that the rule allows a caller. Nil: all of them.
func (r *rule) bind(caller Caller) query.Filter {
	isTrue, _ := r.root.bind(caller.Variables())
	if query.IsAll(isTrue) {
		return nil
	}
	return isTrue
}

// maxSteps is through how many references a rule reads.
const maxSteps = 2

// compileRule checks a rule of a collection and compiles it. Problems are reported with their line and column.
func compileRule(c *model.Collection, source schema.Rule, at []string) (*rule, schema.Problems) {
	checked, wrong := expression.Compile(model.Rule(source), expression.Scope{Collection: c, MaxSteps: maxSteps}, model.KindBoolean)
	t := &translation{Expression: checked, at: at}
	if t.report(wrong...); len(t.problems) > 0 {
		return nil, t.problems
	}
	root := t.condition(t.Tree.Expr())
	if len(t.problems) > 0 {
		return nil, t.problems
	}
	r := &rule{text: source.Text, root: root, warnings: t.nullWarnings(t.Tree.Expr(), nil, true)}
	for _, a := range t.Attributes() {
		r.attributes = append(r.attributes, attribute{a})
	}
	r.usesClaims, r.usesSub = t.Uses("auth.claims"), t.Uses("auth.sub")
	return r, nil
}

// translation builds the nodes of one rule.
type translation struct {
	*expression.Expression
	at       []string
	problems schema.Problems
}

func (t *translation) report(problems ...expression.Problem) {
	for _, each := range problems {
		t.problems = append(t.problems, schema.Problem{Path: t.at, Line: each.Line, Column: each.Column, Message: each.Message})
	}
}

// refuse reports an expression that is not supported.
func (t *translation) refuse(e ast.Expr, message string) node {
	t.report(t.ProblemAt(e, message))
	return nil
}

// attributeOf returns the attribute that an expression names, if it does.
func (t *translation) attributeOf(e ast.Expr) (attribute, bool) {
	a, ok := t.AttributeOf(e)
	return attribute{a}, ok
}

// mentions reports whether an expression depends on the resource, or on the caller.
func (t *translation) mentions(root ast.Expr) (resource, caller bool) {
	expression.Visit(root, func(e ast.Expr) {
		_, isAttribute := t.attributeOf(e)
		resource = resource || isAttribute
		caller = caller || strings.HasPrefix(expression.Identifier(e), "auth.")
	})
	return resource, caller
}

func (t *translation) isFree(e ast.Expr) bool {
	resource, _ := t.mentions(e)
	return !resource
}

// program compiles a part of the rule with cel-go. A part that does not depend on the caller must
// evaluate without error: otherwise the rule would always deny, without an explanation.
func (t *translation) program(e ast.Expr) cel.Program {
	program, err := t.Part(e)
	if _, caller := t.mentions(e); err == nil && !caller {
		_, _, err = program.Eval(map[string]any{})
	}
	if err != nil {
		t.refuse(e, "this cannot be evaluated: "+err.Error())
		return nil
	}
	return program
}

var comparisons = map[string]query.Op{
	operators.Less: query.Less, operators.LessEquals: query.LessOrEqual,
	operators.Greater: query.Greater, operators.GreaterEquals: query.GreaterOrEqual,
	overloads.StartsWith: query.StartsWith, overloads.Contains: query.Contains,
}

// condition translates a boolean expression.
func (t *translation) condition(e ast.Expr) node {
	if t.isFree(e) {
		return evaluated{t.program(e), fact}
	}
	if a, ok := t.attributeOf(e); ok {
		return flag{a}
	}
	if e.Kind() != ast.CallKind {
		return t.refuse(e, "this cannot become a filter: compare attributes with values, and join comparisons with &&, ||, ! and ?:")
	}
	call := e.AsCall()
	args := call.Args()
	switch name := call.FunctionName(); name {
	case operators.LogicalAnd, operators.LogicalOr:
		return junction{and: name == operators.LogicalAnd, left: t.condition(args[0]), right: t.condition(args[1])}
	case operators.LogicalNot:
		return negation{t.condition(args[0])}
	case operators.Conditional:
		return choice{t.condition(args[0]), t.condition(args[1]), t.condition(args[2])}
	case operators.Equals:
		return t.equality(e, args)
	case operators.NotEquals:
		return negation{t.equality(e, args)}
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return t.order(e, comparisons[name], args)
	case operators.In:
		if a, ok := t.attributeOf(args[0]); ok && t.isFree(args[1]) {
			return evaluated{t.program(args[1]), a.isIn}
		}
		return t.refuse(e, "the right side of in must be a list of values")
	case overloads.StartsWith, overloads.Contains:
		return t.part(e, comparisons[name], call)
	default:
		return t.refuse(e, "there is no filter for "+strings.Trim(name, "_@")+": use ==, !=, <, <=, >, >=, in, startsWith and contains")
	}
}

// sides finds the column and the value of a comparison, and whether the column is on the right.
func (t *translation) sides(e ast.Expr, args []ast.Expr) (column attribute, value cel.Program, flipped, ok bool) {
	left, isLeft := t.attributeOf(args[0])
	right, isRight := t.attributeOf(args[1])
	switch {
	case isLeft && t.isFree(args[1]):
		return left, t.program(args[1]), false, true
	case isRight && t.isFree(args[0]):
		return right, t.program(args[0]), true, true
	case isLeft && isRight:
		t.refuse(e, "two attributes cannot be compared with each other: compare an attribute with a value")
	default:
		t.refuse(e, "one side of a comparison must be an attribute alone, and the other side a value without attributes")
	}
	return attribute{}, nil, false, false
}

func (t *translation) equality(e ast.Expr, args []ast.Expr) node {
	column, value, _, ok := t.sides(e, args)
	if !ok {
		return nil
	}
	return evaluated{value, column.equals}
}

var flippedOps = map[query.Op]query.Op{
	query.Less: query.Greater, query.LessOrEqual: query.GreaterOrEqual, query.Greater: query.Less, query.GreaterOrEqual: query.LessOrEqual,
}

func (t *translation) order(e ast.Expr, op query.Op, args []ast.Expr) node {
	column, value, flipped, ok := t.sides(e, args)
	if !ok {
		return nil
	}
	if column.Kind == model.KindUUID {
		return t.refuse(e, "ids have no order in a rule: compare them with == or !=")
	}
	if flipped {
		op = flippedOps[op]
	}
	return evaluated{value, func(given ref.Val) (isTrue, isFalse query.Filter) { return column.isOrdered(op, given) }}
}

func (t *translation) part(e ast.Expr, op query.Op, call ast.CallExpr) node {
	a, ok := t.attributeOf(call.Target())
	if !ok || !t.isFree(call.Args()[0]) || a.Kind != model.KindText {
		return t.refuse(e, "startsWith and contains need a string attribute without a format, and a value")
	}
	if text := call.Args()[0]; text.Kind() == ast.LiteralKind && len([]rune(fmt.Sprint(text.AsLiteral().Value()))) > query.MaxPart {
		return t.refuse(e, fmt.Sprintf("startsWith and contains take at most %d characters", query.MaxPart))
	}
	return evaluated{t.program(call.Args()[0]), func(given ref.Val) (isTrue, isFalse query.Filter) { return a.hasPart(op, given) }}
}
