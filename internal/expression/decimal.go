package expression

import (
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/plural-go/plural/internal/model"
)

// Decimal is an exact decimal in an expression: CEL has only doubles. It has any number of digits; only what is stored
// must fit.
type Decimal struct {
	units big.Int // never changed once it is made
	scale int     // how many digits units has after the point
}

// decimalType is the type of all decimals. How many digits one has after the point is not part of it: see
// Expression.exact.
var decimalType = cel.ObjectType("decimal", traits.AdderType, traits.SubtractorType, traits.MultiplierType, traits.NegatorType, traits.ComparerType)

// NewDecimal is a decimal of so many of its smallest units.
func NewDecimal(units int64, scale int) *Decimal {
	d := &Decimal{scale: scale}
	d.units.SetInt64(units)
	return d
}

// maxDigits is how many digits a decimal has that is written in an expression, or is a number of a claim.
const maxDigits = 400

// parseDecimal reads a number as CEL and JSON write it.
func parseDecimal(text string) (*Decimal, bool) {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent := 0
	if power != "" {
		var err error
		if exponent, err = strconv.Atoi(power); err != nil || exponent < -maxDigits || exponent > maxDigits {
			return nil, false
		}
	}
	scale := len(fraction) - exponent
	digits := whole + fraction + strings.Repeat("0", max(-scale, 0))
	if len(digits) > 2*maxDigits {
		return nil, false
	}
	d := &Decimal{scale: max(scale, 0)}
	_, ok := d.units.SetString(digits, 10)
	return d, ok
}

// toDecimal is the conversion of the other side of an operation with a decimal. A double can only come from a claim
// or from inside an object or array: it is the number that is written there. Any other value stays what it is, and differs from every decimal.
func toDecimal(value ref.Val) ref.Val {
	switch value := value.(type) {
	case types.Int:
		return NewDecimal(int64(value), 0)
	case types.Double:
		if d, ok := decimalOf(float64(value)); ok {
			return d
		}
	}
	return value
}

// decimalOf is the shortest decimal that is read as a double.
func decimalOf(double float64) (*Decimal, bool) {
	return parseDecimal(strconv.FormatFloat(double, 'g', -1, 64))
}

// toDecimals converts the members for in.
func toDecimals(value ref.Val) ref.Val {
	iterable, ok := value.(traits.Iterable)
	if !ok {
		return types.MaybeNoSuchOverloadErr(value)
	}
	var items []ref.Val
	for each := iterable.Iterator(); each.HasNext() == types.True; {
		items = append(items, toDecimal(each.Next()))
	}
	return types.NewRefValList(types.DefaultTypeAdapter, items)
}

// The functions that are put around the other sides of operations with decimals.
const (
	decimalFunction  = "@decimal"
	decimalsFunction = "@decimals"
)

// decimalFunctions declares what can be done with decimals. The operators find the methods of Decimal.
func decimalFunctions() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.Function(decimalFunction, cel.Overload(decimalFunction, []*cel.Type{cel.DynType}, decimalType, cel.UnaryBinding(toDecimal))),
		cel.Function(decimalsFunction, cel.Overload(decimalsFunction, []*cel.Type{cel.DynType}, cel.ListType(decimalType), cel.UnaryBinding(toDecimals))),
		cel.Function("string", cel.Overload("string_decimal", []*cel.Type{decimalType}, cel.StringType, cel.UnaryBinding(func(value ref.Val) ref.Val { return value.ConvertToType(types.StringType) }))),
		cel.Function(operators.Negate, cel.Overload("negate_decimal", []*cel.Type{decimalType}, decimalType)),
	}
	for _, kind := range []*cel.Type{cel.StringType, cel.BytesType, cel.BoolType, cel.IntType, cel.UintType, cel.DoubleType} {
		options = append(options, nullable(kind.String(), cel.NullableType(kind)))
	}
	for name, kind := range map[string]*cel.Type{
		"timestamp": cel.TimestampType, "duration": cel.DurationType, "decimal": decimalType,
		"list": cel.ListType(cel.TypeParamType("T")), "map": cel.MapType(cel.TypeParamType("K"), cel.TypeParamType("V")),
	} {
		options = append(options, nullable(name, kind))
	}
	for _, name := range []string{operators.Add, operators.Subtract, operators.Multiply} {
		options = append(options, cel.Function(name, cel.Overload(name+"decimal", []*cel.Type{decimalType, decimalType}, decimalType)))
	}
	for _, name := range []string{operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals} {
		options = append(options, cel.Function(name, cel.Overload(name+"decimal", []*cel.Type{decimalType, decimalType}, cel.BoolType)))
	}
	return options
}

// nullableFunction is put around a result of ?: if the other one is null.
const nullableFunction = "@nullable"

// nullable declares it for a type that includes null.
func nullable(name string, kind *cel.Type) cel.EnvOption {
	return cel.Function(nullableFunction, cel.Overload(nullableFunction+"_"+name, []*cel.Type{kind}, kind, cel.UnaryBinding(func(value ref.Val) ref.Val { return value })))
}

// aligned returns the units of two decimals with the digits of the longer one.
func (d *Decimal) aligned(other *Decimal) (a, b *big.Int, scale int) {
	scale = max(d.scale, other.scale)
	return d.unitsAt(scale), other.unitsAt(scale), scale
}

// unitsAt is the decimal in units of a larger scale.
func (d *Decimal) unitsAt(scale int) *big.Int {
	if scale == d.scale {
		return &d.units
	}
	return new(big.Int).Mul(powerOf10(scale-d.scale), &d.units)
}

// powers are the powers of ten that most decimals need, so that they are not computed again.
var powers = func() (powers [2*model.MaxDecimalDigits + 1]*big.Int) {
	for i := range powers {
		powers[i] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
	}
	return powers
}()

// powerOf10 is a power of ten, which must not be changed.
func powerOf10(exponent int) *big.Int {
	if exponent < len(powers) {
		return powers[exponent]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}

// Units is the decimal in units of a scale, if the digits fit. If they do not, units is the greatest value below it that
// fits, or one less than all that fit.
func (d *Decimal) Units(scale int) (units int64, fits bool) {
	whole, rest := d.unitsAt(max(scale, d.scale)), new(big.Int)
	if d.scale > scale {
		whole, rest = new(big.Int).DivMod(whole, powerOf10(d.scale-scale), rest) // rounds down
	}
	switch {
	case whole.Cmp(big.NewInt(model.MaxDecimalUnits)) > 0:
		return model.MaxDecimalUnits, false
	case whole.Cmp(big.NewInt(-model.MaxDecimalUnits)) < 0:
		return -model.MaxDecimalUnits - 1, false
	}
	return whole.Int64(), rest.Sign() == 0
}

// Add is +.
func (d *Decimal) Add(other ref.Val) ref.Val { return d.combined(other, (*big.Int).Add) }

// Subtract is -.
func (d *Decimal) Subtract(other ref.Val) ref.Val { return d.combined(other, (*big.Int).Sub) }

// combined is the result of an operation on units of the same scale.
func (d *Decimal) combined(other ref.Val, operation func(result, a, b *big.Int) *big.Int) ref.Val {
	o, ok := other.(*Decimal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	a, b, scale := d.aligned(o)
	result := &Decimal{scale: scale}
	operation(&result.units, a, b)
	return result
}

// Multiply is *.
func (d *Decimal) Multiply(other ref.Val) ref.Val {
	o, ok := other.(*Decimal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	product := &Decimal{scale: d.scale + o.scale}
	product.units.Mul(&d.units, &o.units)
	return product
}

// Negate is - in front of a value.
func (d *Decimal) Negate() ref.Val {
	negated := &Decimal{scale: d.scale}
	negated.units.Neg(&d.units)
	return negated
}

// Compare orders decimals by their values.
func (d *Decimal) Compare(other ref.Val) ref.Val {
	o, ok := other.(*Decimal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	a, b, _ := d.aligned(o)
	return types.Int(a.Cmp(b))
}

// Equal compares values: 1.5 equals 1.50.
func (d *Decimal) Equal(other ref.Val) ref.Val {
	o, ok := other.(*Decimal)
	if !ok {
		return types.False
	}
	a, b, _ := d.aligned(o)
	return types.Bool(a.Cmp(b) == 0)
}

// String is the decimal with all its digits.
func (d *Decimal) String() string {
	digits := new(big.Int).Abs(&d.units).String()
	if missing := d.scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	sign := ""
	if d.units.Sign() < 0 {
		sign = "-"
	}
	whole, fraction := digits[:len(digits)-d.scale], digits[len(digits)-d.scale:]
	if fraction == "" {
		return sign + whole
	}
	return sign + whole + "." + fraction
}

// ConvertToNative is not needed, as no Go code receives a decimal from cel-go in another form.
func (d *Decimal) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("a decimal is no %v", to)
}

// ConvertToType is for type(), dyn() and string().
func (d *Decimal) ConvertToType(to ref.Type) ref.Val {
	switch to {
	case types.TypeType:
		return decimalType
	case types.StringType:
		return types.String(d.String())
	}
	return types.NewErr("type conversion error from decimal to %s", to)
}

// Type is the type of all decimals.
func (d *Decimal) Type() ref.Type { return decimalType }

// Value is the decimal itself.
func (d *Decimal) Value() any { return d }
