package expression

import (
	"fmt"
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// maxCost limits the cost of the loops of an expression, in steps of cel-go. One loop over the largest
// possible token costs less; nested loops over it would take seconds.
const maxCost = 100_000

// Part compiles a part of the expression for cel-go, as CEL treats null: an operation on it is an error.
func (e *Expression) Part(part ast.Expr) (cel.Program, error) {
	tree := ast.NewCheckedAST(ast.NewAST(part, e.Tree.SourceInfo()), e.Tree.TypeMap(), e.Tree.ReferenceMap())
	return e.env.PlanProgram(tree, bounds(part)...)
}

// bounds returns the cost limit of an expression. Counting takes time, and is only needed if there
// are loops: without them, each part is evaluated once.
func bounds(root ast.Expr) (options []cel.ProgramOption) {
	Visit(root, func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			options = []cel.ProgramOption{cel.CostLimit(maxCost)}
		}
	})
	return options
}

// checkConstants reports conversions of literals that fail, and patterns that are none.
func (e *Expression) checkConstants() {
	Visit(e.Tree.Expr(), func(part ast.Expr) {
		if part.Kind() != ast.CallKind {
			return
		}
		call := part.AsCall()
		args, name := call.Args(), call.FunctionName()
		if len(args) == 0 {
			return
		}
		last := args[len(args)-1]
		if last.Kind() != ast.LiteralKind {
			if name == overloads.Matches && e.Scope.Data {
				e.refuse(last, "the pattern of matches must be a text that is written here: a stored one could take any time")
			}
			return
		}
		var err error
		switch {
		case name == overloads.Matches:
			_, err = regexp.Compile(fmt.Sprint(last.AsLiteral().Value()))
		case len(args) == 1 && overloads.IsTypeConversionFunction(name):
			var program cel.Program
			if program, err = e.Part(part); err == nil {
				_, _, err = program.Eval(cel.NoVars())
			}
		}
		switch {
		case err != nil && name == overloads.TypeConvertDuration:
			e.refuse(part, "this is no duration: write hours, minutes or seconds, such as duration('720h') for 30 days")
		case err != nil:
			e.refuse(part, "this cannot be evaluated: "+err.Error())
		}
	})
}

// Program is an expression that can be evaluated.
type Program struct {
	program cel.Program
	from    map[string]source // of the attributes and other variables
}

// Program compiles the whole expression, for rules of the data: == and != treat null as a value, and
// any other operation on null is undecided.
func (e *Expression) Program() (*Program, []Problem) {
	e.members()
	operands, joins := e.operands(), e.joins()
	options := append(bounds(e.Tree.Expr()), cel.EvalOptions(cel.OptOptimize), cel.CustomDecoratorV2(func(part interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		if operands[part.ID()] {
			return operand{part}, nil
		}
		if call, ok := part.(interpreter.InterpretableCall); ok && joins[part.ID()] {
			return join{call}, nil
		}
		return part, nil
	}))
	program, err := e.env.PlanProgram(e.Tree, options...)
	if err != nil {
		return nil, e.whole("this cannot be evaluated: " + err.Error())
	}
	return &Program{program: program, from: e.sources()}, nil
}

// undecided is the value of an operation on null. cel-go treats it as && and || and ?: must: it counts only where
// nothing else decides.
var undecided = types.NewUnknown(0, nil)

// operand is a part of the expression that is not the value of an operation if it is null.
type operand struct{ interpreter.InterpretableV2 }

// Exec evaluates the part.
func (o operand) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return decided(o.InterpretableV2.Exec(frame))
}

// Eval evaluates the part.
func (o operand) Eval(variables interpreter.Activation) ref.Val {
	return decided(o.InterpretableV2.Eval(variables))
}

func decided(value ref.Val) ref.Val {
	if value == types.NullValue {
		return undecided
	}
	return value
}

// operands finds the parts that operations do not take if they are null, among those that can be.
func (e *Expression) operands() map[int64]bool {
	found := map[int64]bool{}
	add := func(parts ...ast.Expr) {
		for _, part := range parts {
			if e.canBeNull(part) {
				found[part.ID()] = true
			}
		}
	}
	Visit(e.Tree.Expr(), func(part ast.Expr) {
		switch part.Kind() {
		case ast.ComprehensionKind:
			add(part.AsComprehension().IterRange())
		case ast.CallKind:
			call := part.AsCall()
			if call.IsMemberFunction() {
				add(call.Target())
			}
			switch args := call.Args(); call.FunctionName() {
			case operators.Equals, operators.NotEquals, decimalFunction, nullableFunction, "dyn", "type", operators.NotStrictlyFalse:
			case operators.Conditional:
				add(args[0])
			case operators.In, memberFunction, hasFunction: // a member of null is null
				add(args[1])
			default:
				add(args...)
			}
		}
	})
	return found
}

// maxText is how many bytes a text can have that + makes. Otherwise, attributes that are computed from each other could
// double a text any number of times.
const maxText = 1 << 20

// joins finds the uses of + that can make a text.
func (e *Expression) joins() map[int64]bool {
	found := map[int64]bool{}
	Visit(e.Tree.Expr(), func(part ast.Expr) {
		if part.Kind() != ast.CallKind || part.AsCall().FunctionName() != operators.Add {
			return
		}
		switch e.Tree.GetType(part.ID()).Kind() {
		case types.StringKind, types.BytesKind, types.DynKind:
			found[part.ID()] = true
		}
	})
	return found
}

// join is + of texts. For cel-go it still is a call, whose cost it counts.
type join struct{ interpreter.InterpretableCall }

// Exec evaluates the part.
func (j join) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return bounded(j.InterpretableCall.Exec(frame))
}

// Eval evaluates the part.
func (j join) Eval(variables interpreter.Activation) ref.Val {
	return bounded(j.InterpretableCall.Eval(variables))
}

func bounded(value ref.Val) ref.Val {
	size := 0
	switch text := value.(type) {
	case types.String:
		size = len(text)
	case types.Bytes:
		size = len(text)
	}
	if size > maxText {
		return types.NewErr("a text that + makes can have at most %d bytes", maxText)
	}
	return value
}

// canBeNull reports whether a part may have no value.
func (e *Expression) canBeNull(part ast.Expr) bool {
	switch part.Kind() {
	case ast.LiteralKind:
		return isNull(part)
	case ast.IdentKind:
		if a, ok := e.AttributeOf(part); ok {
			return a.Nullable
		}
		name := Identifier(part)
		_, isConstant := e.constants[name]
		return !isConstant && name != nowName && name != "auth.claims"
	case ast.CallKind:
		switch part.AsCall().FunctionName() {
		case operators.Conditional, memberFunction, decimalFunction, nullableFunction, "dyn":
			return true
		}
	}
	return false
}
