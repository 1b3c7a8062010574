package expression

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/plural-go/plural/internal/model"
)

// MaxExact is the largest integer up to which doubles represent all integers exactly.
const MaxExact = 1 << 53

// Number converts a number of a claim, or from inside an object or array: to an integer if it is whole, else to a
// double. False means that neither holds it exactly.
func Number(number json.Number) (any, bool) {
	if !strings.ContainsAny(number.String(), ".eE") {
		whole, err := number.Int64()
		return whole, err == nil
	}
	double, err := number.Float64()
	if err != nil {
		return nil, false
	}
	written, ok := parseDecimal(number.String())
	held, finite := decimalOf(double)
	if !ok || !finite || written.Equal(held) != types.True {
		return nil, false
	}
	return Float(double)
}

// Float makes integers of whole numbers, as far as a double can tell them apart.
func Float(double float64) (any, bool) {
	if double != math.Trunc(double) { // nor is NaN
		return double, !math.IsNaN(double)
	}
	return int64(double), math.Abs(double) < MaxExact
}

// object is an object inside an attribute. Unlike those of a claim, its missing members are null, as they are for
// filters.
type object struct{ traits.Mapper }

// stored converts a value of a record, or of a property inside it.
func (s *State) stored(from source, record model.Record) ref.Val {
	value := record[from.column]
	if from.kind != model.KindJSON && from.inside == nil || value.IsNull() {
		return valueOf(from.kind, value)
	}
	read, known := s.parsed[from.place]
	if !known {
		var parsed any
		if err := model.DecodeExactly([]byte(value.Text()), &parsed); err != nil {
			return types.WrapErr(err)
		}
		read = fromJSON(parsed)
		if s.parsed == nil {
			s.parsed = map[place]ref.Val{}
		}
		s.parsed[from.place] = read
	}
	for _, name := range from.inside {
		read = member(read, types.String(name))
	}
	return typed(from.kind, read)
}

// fromJSON converts JSON. A number that is neither an integer nor a double is a decimal: it equals only itself, and it is
// an error to compute with it, except with decimals.
func fromJSON(value any) ref.Val {
	switch value := value.(type) {
	case json.Number:
		if plain, ok := Number(value); ok {
			return types.DefaultTypeAdapter.NativeToValue(plain)
		}
		if exact, ok := parseDecimal(value.String()); ok {
			return exact
		}
		return types.NewErr("a number has too many digits")
	case map[string]any:
		members := make(map[string]any, len(value))
		for name, each := range value {
			converted := fromJSON(each)
			if types.IsError(converted) {
				return converted
			}
			members[name] = converted
		}
		return object{types.NewStringInterfaceMap(types.DefaultTypeAdapter, members)}
	case []any:
		items := make([]ref.Val, len(value))
		for i, each := range value {
			if items[i] = fromJSON(each); types.IsError(items[i]) {
				return items[i]
			}
		}
		return types.NewRefValList(types.DefaultTypeAdapter, items)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

// typed converts the value of a property to the type that it has in expressions.
func typed(kind model.Kind, value ref.Val) ref.Val {
	text, isText := value.(types.String)
	switch {
	case kind == model.KindDateTime && isText:
		return timeOf(string(text))
	case kind.IsDecimal() && isText:
		if exact, ok := parseDecimal(string(text)); ok {
			return exact
		}
	case kind == model.KindNumber:
		if exact, ok := toDecimal(value).(*Decimal); ok {
			double, _ := strconv.ParseFloat(exact.String(), 64) // which it was validated as
			return types.Double(double)
		}
	}
	return value
}

// The functions that take a member out of a map or list, and test whether there is one.
const (
	memberFunction = "@member"
	hasFunction    = "@has"
)

// memberFunctions declares them.
func memberFunctions() []cel.EnvOption {
	arguments := []*cel.Type{cel.DynType, cel.DynType}
	return []cel.EnvOption{
		cel.Function(memberFunction, cel.Overload(memberFunction, arguments, cel.DynType, cel.BinaryBinding(member))),
		cel.Function(hasFunction, cel.Overload(hasFunction, arguments, cel.BoolType, cel.BinaryBinding(has))),
	}
}

// members replaces all uses of members by the functions, as members of null are null, and so are missing ones of objects.
func (e *Expression) members() {
	factory, next := ast.NewExprFactory(), ast.MaxID(e.Tree)
	Visit(e.Tree.Expr(), func(part ast.Expr) {
		function, id := memberFunction, part.ID()
		var args []ast.Expr
		switch {
		case part.Kind() == ast.SelectKind:
			selected := part.AsSelect()
			if selected.IsTestOnly() {
				function = hasFunction
			}
			next++
			args = []ast.Expr{selected.Operand(), factory.NewLiteral(next, types.String(selected.FieldName()))}
		case part.Kind() == ast.CallKind && part.AsCall().FunctionName() == operators.Index:
			args = part.AsCall().Args()
		default:
			return
		}
		part.SetKindCase(factory.NewCall(id, function, args...))
		e.Tree.ReferenceMap()[id] = ast.NewFunctionReference(function)
	})
}

func member(of, name ref.Val) ref.Val {
	switch of := of.(type) {
	case types.Null:
		return of
	case object:
		value, found := of.Find(name)
		if !found && !types.IsError(value) {
			return types.NullValue
		}
		return value
	case traits.Indexer:
		return of.Get(name)
	}
	return types.MaybeNoSuchOverloadErr(of)
}

func has(of, name ref.Val) ref.Val {
	switch of := of.(type) {
	case types.Null:
		return types.False
	case traits.Mapper:
		_, found := of.Find(name)
		return types.Bool(found)
	}
	return types.MaybeNoSuchOverloadErr(of)
}
