package expression

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// Before cel-go checks the types, the other sides of operations with decimals become decimals: a literal becomes the
// decimal that it writes, and anything else is converted when it is evaluated. cel-go then knows operations of decimals
// with decimals only. How many digits a decimal has after the point is known for every part on the way.

// converter prepares the decimals of an expression.
type converter struct {
	*Expression
	factory ast.ExprFactory
	source  []rune
	next    int64          // id of the next new part
	local   map[string]int // variables of loops over decimals, and their digits
}

// decimals converts the parts of the expression, and declares its constants.
func (e *Expression) decimals(result model.Kind) (options []cel.EnvOption) {
	k := &converter{Expression: e, factory: ast.NewExprFactory(), source: []rune(e.Text), next: ast.MaxID(e.Tree), local: map[string]int{}}
	_, isExact := k.part(e.Tree.Expr())
	if result.IsDecimal() && !isExact {
		k.convert(e.Tree.Expr())
	}
	if e.Scope.Data {
		k.orNull()
	}
	for name, value := range k.constants {
		options = append(options, cel.Constant(name, decimalType, value))
	}
	return options
}

// orNull makes the result of ?: nullable where the other one is null: to CEL, they would have different types.
func (k *converter) orNull() {
	var results []ast.Expr // those inside of others first: wrap copies what is inside
	Visit(k.Tree.Expr(), func(part ast.Expr) {
		if part.Kind() != ast.CallKind || part.AsCall().FunctionName() != operators.Conditional {
			return
		}
		for i, result := range part.AsCall().Args()[1:] {
			if _, isExact := k.exact[result.ID()]; !isExact && !isNull(result) && isNull(part.AsCall().Args()[2-i]) {
				results = append(results, result)
			}
		}
	})
	for _, result := range results {
		k.wrap(result, nullableFunction)
	}
}

// part prepares a part, and returns how many digits it has after the point if it is a decimal.
func (k *converter) part(e ast.Expr) (scale int, isExact bool) {
	switch e.Kind() {
	case ast.SelectKind:
		if names, tested := chain(e); len(names) > 0 && !tested {
			if a, ok := k.attributes[strings.Join(names, ".")]; ok && a.Kind.IsDecimal() {
				return k.known(e, a.Kind.Scale()), true
			}
			return 0, false
		}
		k.part(e.AsSelect().Operand())
	case ast.IdentKind:
		if scale, ok := k.local[e.AsIdent()]; ok {
			return k.known(e, scale), true
		}
	case ast.CallKind:
		return k.call(e)
	case ast.ListKind:
		k.list(e.AsList().Elements())
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			k.part(entry.AsMapEntry().Key())
			k.part(entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			k.part(field.AsStructField().Value())
		}
	case ast.ComprehensionKind:
		k.loop(e.AsComprehension())
	}
	return 0, false
}

// known notes how many digits a decimal has.
func (k *converter) known(e ast.Expr, scale int) int {
	k.exact[e.ID()] = scale
	return scale
}

// list prepares the elements of a list: if one is a decimal, all are.
func (k *converter) list(elements []ast.Expr) (scale int, isExact bool) {
	for _, element := range elements {
		digits, exact := k.part(element)
		scale, isExact = max(scale, digits), isExact || exact
	}
	if isExact {
		for _, element := range elements {
			scale = max(scale, k.convert(element))
		}
	}
	return scale, isExact
}

// loop prepares a loop such as exists().
func (k *converter) loop(loop ast.ComprehensionExpr) {
	scale, isExact := 0, false
	if loop.IterRange().Kind() == ast.ListKind {
		scale, isExact = k.list(loop.IterRange().AsList().Elements())
	} else {
		k.part(loop.IterRange())
	}
	k.part(loop.AccuInit())
	before, shadows := k.local[loop.IterVar()]
	delete(k.local, loop.IterVar())
	if isExact && !loop.HasIterVar2() {
		k.local[loop.IterVar()] = scale
	}
	k.part(loop.LoopCondition())
	k.part(loop.LoopStep())
	delete(k.local, loop.IterVar())
	if shadows {
		k.local[loop.IterVar()] = before
	}
	k.part(loop.Result())
}

// call prepares a call or an operation.
func (k *converter) call(e ast.Expr) (scale int, isExact bool) {
	call := e.AsCall()
	args := call.Args()
	if call.IsMemberFunction() {
		k.part(call.Target())
	}
	exact := make([]bool, len(args))
	for i, arg := range args {
		_, exact[i] = k.part(arg)
	}
	name := call.FunctionName()
	if name == operators.Conditional {
		exact = exact[1:] // the condition does not decide the type
	}
	switch {
	case name == operators.In:
		k.membership(args, exact)
		return 0, false
	case !slices.Contains(exact, true):
		return 0, false
	}
	switch name {
	case operators.Conditional, operators.Negate, operators.Add, operators.Subtract, operators.Multiply:
		return k.convert(e), true
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		k.convert(args[0])
		k.convert(args[1])
	case operators.Divide:
		k.refuse(e, "decimals cannot be divided, as the result may have no end: multiply by a number instead, such as * 0.5")
	case operators.Modulo:
		k.refuse(e, "% is for integers only, and not for decimals")
	}
	return 0, false
}

// membership prepares in.
func (k *converter) membership(args []ast.Expr, exact []bool) {
	switch {
	case args[1].Kind() == ast.ListKind && exact[0]:
		for _, element := range args[1].AsList().Elements() {
			k.convert(element)
		}
	case exact[0]:
		k.wrap(args[1], decimalsFunction)
	case args[1].Kind() == ast.ListKind:
		if _, isExact := k.list(args[1].AsList().Elements()); isExact {
			k.convert(args[0])
		}
	}
}

// convert makes a decimal of a part. Null stays null.
func (k *converter) convert(e ast.Expr) (scale int) {
	if scale, ok := k.exact[e.ID()]; ok {
		return scale
	}
	switch e.Kind() {
	case ast.LiteralKind:
		switch e.AsLiteral().(type) {
		case types.Int, types.Double:
			return k.literal(e)
		case types.Null:
			return 0
		}
	case ast.CallKind:
		switch args := e.AsCall().Args(); e.AsCall().FunctionName() {
		case operators.Conditional:
			return k.known(e, max(k.convert(args[1]), k.convert(args[2])))
		case operators.Negate:
			return k.known(e, k.convert(args[0]))
		case operators.Add, operators.Subtract:
			return k.known(e, max(k.convert(args[0]), k.convert(args[1])))
		case operators.Multiply:
			return k.known(e, k.convert(args[0])+k.convert(args[1]))
		}
	}
	k.wrap(e, decimalFunction)
	return k.known(e, 0)
}

// literal makes a constant of a literal.
func (k *converter) literal(e ast.Expr) (scale int) {
	text := k.textOf(e)
	value, ok := parseDecimal(text)
	if !ok {
		k.refuse(e, text+" is no decimal: use at most "+suggest.Counted(model.MaxDecimalDigits, "digit"))
		return 0
	}
	name := decimalFunction + " " + text
	k.constants[name] = value
	e.SetKindCase(k.factory.NewIdent(e.ID(), name))
	return k.known(e, value.scale)
}

// textOf is a number as it is written.
func (k *converter) textOf(e ast.Expr) string {
	if whole, ok := e.AsLiteral().(types.Int); ok {
		return whole.ConvertToType(types.StringType).Value().(string)
	}
	where, _ := k.Tree.SourceInfo().GetOffsetRange(e.ID())
	var text strings.Builder
	for _, r := range k.source[min(max(int(where.Start), 0), len(k.source)):] {
		exponent := strings.HasSuffix(strings.ToLower(text.String()), "e")
		switch {
		case r >= '0' && r <= '9' || r == '.' || r == 'e' || r == 'E', (r == '-' || r == '+') && (text.Len() == 0 || exponent):
			text.WriteRune(r)
		case text.String() == "-" && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
		default:
			return text.String()
		}
	}
	return text.String()
}

// wrap puts a function around a part, in its place.
func (k *converter) wrap(e ast.Expr, function string) {
	inner, old := k.factory.CopyExpr(e), e.ID()
	k.next++
	inner.RenumberIDs(func(id int64) int64 {
		if id == old {
			return k.next
		}
		return id
	})
	info := k.Tree.SourceInfo()
	where, _ := info.GetOffsetRange(old)
	info.SetOffsetRange(k.next, where)
	if scale, ok := k.exact[old]; ok {
		k.exact[k.next] = scale
	}
	e.SetKindCase(k.factory.NewCall(old, function, inner))
}

// Unconverted is a part of an expression without the conversion to a decimal.
func Unconverted(e ast.Expr) ast.Expr {
	if e.Kind() == ast.CallKind && (e.AsCall().FunctionName() == decimalFunction || e.AsCall().FunctionName() == decimalsFunction) {
		return e.AsCall().Args()[0]
	}
	return e
}

// checkDecimals reports what became a decimal although it cannot, and decimals in places where their digits are not
// known.
func (e *Expression) checkDecimals() {
	Visit(e.Tree.Expr(), func(part ast.Expr) {
		if inner := Unconverted(part); inner != part {
			e.checkConverted(inner)
			return
		}
		if _, known := e.exact[part.ID()]; !known && e.Tree.GetType(part.ID()) == decimalType {
			e.refuse(part, "a decimal cannot be taken out of a list or map: use the attribute itself")
		}
	})
}

// checkConverted checks the type of the other side of an operation with a decimal.
func (e *Expression) checkConverted(part ast.Expr) {
	kind := e.Tree.GetType(part.ID())
	if a, ok := e.AttributeOf(part); ok && a.Kind == model.KindJSON {
		if items := a.Collection.Columns()[a.Column].Attribute.ScalarItems(); items != nil && items.Kind().Item() == model.KindText {
			e.refuse(part, "a decimal cannot be compared with a string: convert it with string()")
			return
		}
	}
	if kind.Kind() == types.ListKind {
		kind = kind.Parameters()[0]
	}
	switch kind.Kind() {
	case types.DoubleKind:
		e.refuse(part, "a decimal cannot be mixed with a number, which is not exact: declare this attribute as a decimal too (type: string, format: decimal), or write a number such as 0.19")
	case types.StringKind:
		e.refuse(part, "a decimal cannot be compared with a string: write the number without quotes, such as 0.19")
	case types.IntKind, types.DynKind, types.NullTypeKind, types.StructKind, types.MapKind, types.TypeParamKind:
	default:
		e.refuse(part, "a decimal cannot be used together with "+suggest.Article(typeName(kind)))
	}
}

// checkResult checks the type of the whole.
func (e *Expression) checkResult(got *cel.Type, result model.Kind) {
	root, want := e.Tree.Expr(), typeOf(result)
	switch {
	case got.Kind() == types.DynKind || result != model.KindBoolean && got.Kind() == types.NullTypeKind:
	case result == model.KindBoolean && !want.IsAssignableType(got) && !got.IsAssignableType(want):
		e.problems = append(e.problems, e.whole("a rule must be true or false, but the type of this one is "+typeName(got))...)
	case result == model.KindDate && got.IsAssignableType(cel.TimestampType): // the day in UTC
	case !got.IsAssignableType(want):
		e.problems = append(e.problems, e.whole("the attribute is "+suggest.Article(kindName(result))+", but the expression is "+suggest.Article(typeName(got))+convertHint(got, result))...)
	case result.IsDecimal() && e.exact[root.ID()] > result.Scale():
		e.problems = append(e.problems, e.whole("the result has up to "+suggest.Counted(e.exact[root.ID()], "digit")+" after the point, but the attribute only "+suggest.Counted(result.Scale(), "digit")+": declare scale: "+strconv.Itoa(e.exact[root.ID()]))...)
	}
}
