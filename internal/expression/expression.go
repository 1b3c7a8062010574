// Package expression reads the expressions of a schema: rules of access, checks, computed attributes and rules of
// transitions. They are CEL, parsed, checked and evaluated by cel-go, with exact decimals added. All of them have the
// same names and types and the same messages for mistakes. Package auth turns a rule of access into a filter; package
// rules evaluates the others.
package expression

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/plural-go/plural/internal/model"
)

// Scope is where an expression stands, which decides what it can use.
type Scope struct {
	Collection *model.Collection // that resource is one of

	// MaxSteps is through how many references a path may lead.
	MaxSteps int

	// Data is whether this is a rule of the data: there are previous and now, and there may be no caller.
	Data bool
}

// Problem is a mistake in an expression.
type Problem struct {
	Line, Column int // from 1, in the file of the schema; 0: it did not come from a file
	Message      string
}

// Expression is an expression that was checked.
type Expression struct {
	Text  string
	Tree  *ast.AST
	Scope Scope

	source     model.Rule
	env        *cel.Env
	attributes map[string]Attribute // that it names, by the name of the variable: "resource.title"
	exact      map[int64]int        // the parts that are decimals, and how many digits they have after the point
	constants  map[string]*Decimal  // that it writes
	previous   bool                 // whether it names previous, as a whole or with an attribute
	problems   []Problem
}

// environments are those of cel-go for rules of access and for rules of the data.
var environments = map[bool]func() (*cel.Env, error){
	false: sync.OnceValues(func() (*cel.Env, error) {
		return cel.NewEnv(append(decimalFunctions(), timestampOfDate,
			cel.Variable("auth.sub", cel.StringType), cel.Variable("auth.role", cel.StringType), cel.Variable("auth.claims", claimsType))...)
	}),
	true: sync.OnceValues(func() (*cel.Env, error) {
		return cel.NewEnv(append(append(decimalFunctions(), memberFunctions()...), timestampOfDate,
			cel.Variable("auth.sub", cel.NullableType(cel.StringType)), cel.Variable("auth.role", cel.NullableType(cel.StringType)), cel.Variable("auth.claims", claimsType),
			cel.Variable(previousName, cel.DynType), cel.Variable(nowName, cel.TimestampType))...)
	}),
}

// timestampOfDate lets timestamp() take a date too, which is its start in UTC: dates are texts, with which CEL cannot
// compute.
var timestampOfDate = cel.Function(overloads.TypeConvertTimestamp, cel.Overload(overloads.StringToTimestamp, []*cel.Type{cel.StringType}, cel.TimestampType,
	cel.UnaryBinding(func(value ref.Val) ref.Val {
		if text, ok := value.(types.String); ok && len(text) == len(time.DateOnly) {
			value = text + "T00:00:00Z"
		}
		return value.ConvertToType(types.TimestampType)
	})))

var claimsType = cel.MapType(cel.StringType, cel.DynType)

const (
	resourceName = "resource"
	previousName = "previous"
	nowName      = "now"
)

// Compile checks an expression whose value is of a kind. Boolean is that of rules.
func Compile(source model.Rule, scope Scope, result model.Kind) (*Expression, []Problem) {
	e := &Expression{Text: source.Text, Scope: scope, source: source, attributes: map[string]Attribute{}, exact: map[int64]int{}, constants: map[string]*Decimal{}}
	env, err := environments[scope.Data]()
	if err != nil {
		return nil, e.whole(err.Error())
	}
	e.env = env
	if strings.TrimSpace(source.Text) == "" {
		return nil, e.whole("the expression is empty: write true for a rule that always holds")
	}
	parsed, issues := env.Parse(source.Text)
	if issues.Err() != nil {
		// Only the first error: the parser reports others that follow from it.
		return nil, e.syntax(issues.Errors()[0])
	}
	e.Tree = parsed.NativeRep()
	if e.names(e.Tree.Expr()); len(e.problems) > 0 {
		return nil, e.problems
	}
	variables := e.variables()
	variables = append(variables, e.decimals(result)...)
	if len(e.problems) > 0 {
		return nil, e.problems
	}
	if e.env, err = env.Extend(variables...); err != nil {
		return nil, e.whole(err.Error())
	}
	checked, issues := e.env.Check(parsed)
	if issues.Err() != nil {
		return nil, e.mistyped(issues.Errors())
	}
	e.Tree = checked.NativeRep()
	e.checkDecimals()
	e.checkConstants()
	e.wholeClaims(e.Tree.Expr())
	if len(e.problems) == 0 {
		e.checkResult(checked.OutputType(), result)
	}
	if len(e.problems) > 0 {
		return nil, e.problems
	}
	return e, nil
}

// Attributes lists what the expression reads, each once, in the order of their names.
func (e *Expression) Attributes() []Attribute {
	var all []Attribute
	for _, name := range slices.Sorted(maps.Keys(e.attributes)) {
		all = append(all, e.attributes[name])
	}
	return all
}

// AttributeOf returns the attribute that a part of the expression names, if it does.
func (e *Expression) AttributeOf(part ast.Expr) (a Attribute, ok bool) {
	a, ok = e.attributes[Identifier(part)]
	return a, ok
}

// UsesPrevious reports whether the expression depends on the stored state.
func (e *Expression) UsesPrevious() bool { return e.previous }

// DependsOnWrite reports whether the expression depends on more than the resource: the stored state, the time or the caller.
func (e *Expression) DependsOnWrite() bool {
	return e.previous || e.Uses(nowName, "auth.sub", "auth.role", "auth.claims")
}

// Uses reports whether the expression names one of some variables.
func (e *Expression) Uses(variables ...string) (found bool) {
	Visit(e.Tree.Expr(), func(part ast.Expr) { found = found || slices.Contains(variables, Identifier(part)) })
	return found
}

// Identifier is the name that a part is, without members after it. Empty: it is anything else.
func Identifier(e ast.Expr) string {
	if e.Kind() != ast.IdentKind {
		return ""
	}
	return strings.TrimPrefix(e.AsIdent(), ".")
}

// Visit calls a function for a part and for all parts of it.
func Visit(e ast.Expr, each func(ast.Expr)) {
	ast.PostOrderVisit(e, ast.NewExprVisitor(each))
}

// ProblemAt is a problem with a part of the expression.
func (e *Expression) ProblemAt(part ast.Expr, message string) Problem {
	where := e.Tree.SourceInfo().GetStartLocation(part.ID())
	return e.at(max(where.Line(), 1), max(where.Column(), 0), message)
}

// refuse reports a part that is not supported.
func (e *Expression) refuse(part ast.Expr, message string) {
	e.problems = append(e.problems, e.ProblemAt(part, message))
}

// whole is a problem with all of the expression.
func (e *Expression) whole(message string) []Problem { return []Problem{e.at(1, 0, message)} }

// at is a problem at a line, from 1, and a column, from 0, of the expression.
func (e *Expression) at(line, column int, message string) Problem {
	p := Problem{Message: message}
	p.Line, p.Column = e.source.At(line, column)
	return p
}

// wholeClaims refuses the use of all claims as one value: when cel-go compares maps, it ignores a
// claim that is an error.
func (e *Expression) wholeClaims(root ast.Expr) {
	single := map[int64]bool{} // uses of a single claim, or of the names of claims
	Visit(root, func(part ast.Expr) {
		switch part.Kind() {
		case ast.SelectKind:
			single[part.AsSelect().Operand().ID()] = true
		case ast.ComprehensionKind:
			single[part.AsComprehension().IterRange().ID()] = true
		case ast.CallKind:
			switch args := part.AsCall().Args(); part.AsCall().FunctionName() {
			case operators.Index:
				single[args[0].ID()] = true
			case operators.In:
				single[args[1].ID()] = true
			}
		}
	})
	Visit(root, func(part ast.Expr) {
		if Identifier(part) == "auth.claims" && !single[part.ID()] {
			e.refuse(part, "auth.claims cannot be used as a whole: use one claim, such as auth.claims.team")
		}
	})
}
