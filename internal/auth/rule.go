package auth

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types/ref"

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
	// Variables are those of the caller: see Caller.variables.
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

// compiler compiles the rules of a collection.
type compiler struct {
	collection *model.Collection
	env        *cel.Env
}

const resourceName = "resource"

func newCompiler(c *model.Collection) (*compiler, error) {
	env, err := cel.NewEnv(
		cel.Variable("auth.sub", cel.StringType),
		cel.Variable("auth.role", cel.StringType),
		cel.Variable("auth.claims", cel.MapType(cel.StringType, cel.DynType)),
	)
	return &compiler{collection: c, env: env}, err
}

// celTypes maps columns to CEL types. Rules cannot use objects, arrays and decimals: CEL has no exact
// decimals.
var celTypes = map[model.Kind]*cel.Type{
	model.KindText: cel.StringType, model.KindUUID: cel.StringType, model.KindDate: cel.StringType, model.KindInteger: cel.IntType,
	model.KindNumber: cel.DoubleType, model.KindBoolean: cel.BoolType, model.KindDateTime: cel.TimestampType,
}

// compile checks a rule and compiles it. Problems are reported with their line and column.
func (k *compiler) compile(source schema.Rule, at []string) (*rule, schema.Problems) {
	if strings.TrimSpace(source.Text) == "" {
		return nil, schema.Problems{problemIn(source, at, 1, 0, "the rule is empty: write true if everything is allowed")}
	}
	parsed, issues := k.env.Parse(source.Text)
	if issues.Err() != nil {
		// Only the first error: the parser reports others that follow from it.
		return nil, reported(source, at, issues.Errors()[:1], "rules are written in CEL, with ==, !=, <, in, &&, || and !")
	}
	t := &translation{compiler: k, env: k.env, tree: parsed.NativeRep(), source: source, at: at, attributes: map[string]attribute{}}
	if t.unknownFields(parsed.NativeRep().Expr()); len(t.problems) > 0 {
		return nil, t.problems
	}
	if err := t.declareAttributes(); err != nil {
		return nil, schema.Problems{problemIn(source, at, 1, 0, err.Error())}
	}
	checked, issues := t.env.Check(parsed)
	if issues.Err() != nil {
		return nil, reported(source, at, issues.Errors(), "a rule can use resource.ATTRIBUTE, resource.RELATION.ATTRIBUTE, auth.sub, auth.role and auth.claims, "+
			"and must compare values of the same type, and times as in timestamp('2026-12-01T00:00:00Z')")
	}
	if kind := checked.OutputType(); !kind.IsAssignableType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return nil, schema.Problems{problemIn(source, at, 1, 0, "a rule must be true or false, but the type of this one is "+kind.String())}
	}
	t.tree = checked.NativeRep()
	if t.wholeClaims(t.tree.Expr()); len(t.problems) > 0 {
		return nil, t.problems
	}
	root := t.condition(t.tree.Expr())
	if len(t.problems) > 0 {
		return nil, t.problems
	}
	r := &rule{text: source.Text, root: root, warnings: t.nullWarnings(t.tree.Expr(), nil, true)}
	visit(t.tree.Expr(), func(e ast.Expr) {
		if a, ok := t.attributeOf(e); ok {
			r.attributes = append(r.attributes, a)
		}
		r.usesClaims = r.usesClaims || identifier(e) == "auth.claims"
		r.usesSub = r.usesSub || identifier(e) == "auth.sub"
	})
	return r, nil
}

// identifier is the name that an expression is, without members after it. Empty: it is anything else.
func identifier(e ast.Expr) string {
	if e.Kind() != ast.IdentKind {
		return ""
	}
	return strings.TrimPrefix(e.AsIdent(), ".")
}

// reported returns the errors of cel-go, with a hint for those who do not know CEL.
func reported(source schema.Rule, at []string, issues []*cel.Error, hint string) (problems schema.Problems) {
	for _, issue := range issues {
		message, _, _ := strings.Cut(issue.Message, "\n")
		problems = append(problems, problemIn(source, at, issue.Location.Line(), max(issue.Location.Column(), 0), message+" ("+hint+")"))
	}
	return problems
}

// translation builds the nodes of one rule.
type translation struct {
	*compiler
	env        *cel.Env             // with the attributes
	attributes map[string]attribute // that the rule names, by the name of the variable: "resource.title"
	tree       *ast.AST
	source     schema.Rule
	at         []string
	problems   schema.Problems
}

// refuse reports an expression that is not supported.
func (t *translation) refuse(e ast.Expr, message string) node {
	where := t.tree.SourceInfo().GetStartLocation(e.ID())
	t.problems = append(t.problems, problemIn(t.source, t.at, max(where.Line(), 1), max(where.Column(), 0), message))
	return nil
}

// wholeClaims refuses the use of all claims as one value: when cel-go compares maps, it ignores a
// claim that is an error.
func (t *translation) wholeClaims(root ast.Expr) {
	single := map[int64]bool{} // uses of a single claim, or of the names of claims
	visit(root, func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			single[e.AsSelect().Operand().ID()] = true
		case ast.ComprehensionKind:
			single[e.AsComprehension().IterRange().ID()] = true
		case ast.CallKind:
			switch args := e.AsCall().Args(); e.AsCall().FunctionName() {
			case operators.Index:
				single[args[0].ID()] = true
			case operators.In:
				single[args[1].ID()] = true
			}
		}
	})
	visit(root, func(e ast.Expr) {
		if identifier(e) == "auth.claims" && !single[e.ID()] {
			t.refuse(e, "auth.claims cannot be used as a whole: use one claim, such as auth.claims.team")
		}
	})
}

func visit(e ast.Expr, each func(ast.Expr)) {
	ast.PostOrderVisit(e, ast.NewExprVisitor(each))
}

// attributeOf returns the attribute that an expression names, if it does.
func (t *translation) attributeOf(e ast.Expr) (a attribute, ok bool) {
	a, ok = t.attributes[identifier(e)]
	return a, ok
}

// mentions reports whether an expression depends on the resource, or on the caller.
func (t *translation) mentions(root ast.Expr) (resource, caller bool) {
	visit(root, func(e ast.Expr) {
		_, isAttribute := t.attributeOf(e)
		resource = resource || isAttribute
		caller = caller || strings.HasPrefix(identifier(e), "auth.")
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
	part := ast.NewCheckedAST(ast.NewAST(e, t.tree.SourceInfo()), t.tree.TypeMap(), t.tree.ReferenceMap())
	proto, err := ast.ToProto(part)
	var program cel.Program
	if err == nil {
		program, err = t.env.Program(cel.CheckedExprToAst(proto), t.bounds(e)...)
	}
	if _, caller := t.mentions(e); err == nil && !caller {
		_, _, err = program.Eval(map[string]any{})
	}
	if err != nil {
		t.refuse(e, "this cannot be evaluated: "+err.Error())
		return nil
	}
	return program
}

// maxCost limits the cost of the loops of a rule, in steps of cel-go. One loop over the largest
// possible token costs less; nested loops over it would take seconds.
const maxCost = 100_000

// bounds returns the cost limit of an expression. Counting takes time, and is only needed if there
// are loops.
func (t *translation) bounds(root ast.Expr) (options []cel.ProgramOption) {
	visit(root, func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			options = []cel.ProgramOption{cel.CostLimit(maxCost)}
		}
	})
	return options
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
	if column.kind == model.KindUUID {
		return t.refuse(e, "ids have no order in a rule: compare them with == or !=")
	}
	if flipped {
		op = flippedOps[op]
	}
	return evaluated{value, func(given ref.Val) (isTrue, isFalse query.Filter) { return column.isOrdered(op, given) }}
}

func (t *translation) part(e ast.Expr, op query.Op, call ast.CallExpr) node {
	a, ok := t.attributeOf(call.Target())
	if !ok || !t.isFree(call.Args()[0]) || a.kind != model.KindText {
		return t.refuse(e, "startsWith and contains need a string attribute without a format, and a value")
	}
	if text := call.Args()[0]; text.Kind() == ast.LiteralKind && len([]rune(fmt.Sprint(text.AsLiteral().Value()))) > query.MaxPart {
		return t.refuse(e, fmt.Sprintf("startsWith and contains take at most %d characters", query.MaxPart))
	}
	return evaluated{t.program(call.Args()[0]), func(given ref.Val) (isTrue, isFalse query.Filter) { return a.hasPart(op, given) }}
}

// problemIn is a problem at a line, from 1, and a column, from 0, of a rule.
func problemIn(source schema.Rule, at []string, line, column int, message string) schema.Problem {
	problem := schema.Problem{Path: at, Message: message}
	if source.Line > 0 {
		problem.Line, problem.Column = source.Line, source.Column+column
		if line > 1 {
			problem.Line, problem.Column = source.Line+line-1, 1
		}
	}
	return problem
}
