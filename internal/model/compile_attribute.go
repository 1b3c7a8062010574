package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/plural-go/plural/problem"
)

// compiled is the constraints of an attribute, in the form that checks use.
type compiled struct {
	kind     Kind
	pattern  *regexp.Regexp
	enum     []Value // empty: any value
	fallback Value   // the default, or Null

	// Integers and decimals: the bounds, exclusive ones included, as the first and
	// the last integer that is valid. Those of decimals are in their smallest units.
	minInt, maxInt int64

	// Numbers: the tightest bounds, and whether the bound itself is excluded.
	min, max         float64
	minOpen, maxOpen bool

	multiple *big.Rat // nil: none
}

func kindOf(a *Attribute) Kind {
	switch a.Type {
	case Integer:
		return KindInteger
	case Number:
		return KindNumber
	case Boolean:
		return KindBoolean
	case Object, Array:
		return KindJSON
	}
	switch a.Format {
	case Decimal:
		return DecimalKind(min(max(a.Scale, 0), MaxDecimalDigits))
	case UUID:
		return KindUUID
	case Date:
		return KindDate
	case DateTime:
		return KindDateTime
	}
	return KindText
}

// NumberSyntax is the syntax of numbers in JSON, with exponents that are small enough for rational
// numbers.
var NumberSyntax = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

const MaxNumberText = 400

// bounds compiles minimum, maximum, their exclusive forms and multipleOf.
func (k *Checker) bounds(a *Attribute, at Path) {
	a.minInt, a.maxInt = math.MinInt64, math.MaxInt64
	a.min, a.max = math.Inf(-1), math.Inf(1)
	if a.Type != Integer && a.Type != Number && a.Format != Decimal {
		return
	}
	before := len(k.Problems)
	lower := k.rational(a.Minimum, at.To("minimum"))
	upper := k.rational(a.Maximum, at.To("maximum"))
	above := k.rational(a.ExclusiveMinimum, at.To("exclusiveMinimum"))
	below := k.rational(a.ExclusiveMaximum, at.To("exclusiveMaximum"))
	a.multiple = k.rational(a.MultipleOf, at.To("multipleOf"))
	if a.multiple != nil && a.multiple.Sign() <= 0 {
		k.Report(at.To("multipleOf"), "multipleOf must be more than 0")
	}
	if len(k.Problems) > before {
		return
	}
	bound, what := a.boundNumbers, string(a.Type)
	switch {
	case a.Type == Integer:
		bound = a.boundIntegers
	case a.Format == Decimal:
		bound, what = a.boundIntegers, string(a.Format)
		for _, each := range []*big.Rat{lower, upper, above, below, a.multiple} {
			if each != nil { // in the smallest units
				each.Mul(each, new(big.Rat).SetInt64(pow10(a.kind.Scale())))
			}
		}
	}
	if !bound(lower, above, upper, below) {
		keyword := "minimum"
		switch {
		case upper != nil:
			keyword = "maximum"
		case below != nil:
			keyword = "exclusiveMaximum"
		case above != nil:
			keyword = "exclusiveMinimum"
		}
		k.Report(at.To(keyword), "no %s is within these bounds: nothing would be valid", what)
	}
}

// rational parses a bound. It returns nil if there is none, or if it is not a number.
func (k *Checker) rational(text json.Number, at Path) *big.Rat {
	if text == "" {
		return nil
	}
	if len(text) <= MaxNumberText && NumberSyntax.MatchString(string(text)) {
		if value, ok := new(big.Rat).SetString(string(text)); ok {
			return value
		}
	}
	k.Report(at, "%s must be a decimal number such as 10 or 0.5, but is %s", at[len(at)-1], text)
	return nil
}

// boundIntegers rounds the bounds inwards, to integers. It reports whether any
// integer is left.
func (a *Attribute) boundIntegers(lower, above, upper, below *big.Rat) bool {
	first, last := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	one := big.NewInt(1)
	raise := func(to *big.Int) {
		if to.Cmp(first) > 0 {
			first = to
		}
	}
	reduce := func(to *big.Int) {
		if to.Cmp(last) < 0 {
			last = to
		}
	}
	if lower != nil {
		raise(ceiling(lower))
	}
	if above != nil {
		raise(new(big.Int).Add(floor(above), one))
	}
	if upper != nil {
		reduce(floor(upper))
	}
	if below != nil {
		reduce(new(big.Int).Sub(ceiling(below), one))
	}
	if first.Cmp(last) > 0 {
		return false
	}
	a.minInt, a.maxInt = first.Int64(), last.Int64()
	return true
}

// floor is the greatest integer that is not greater: big.Int's Euclidean
// division rounds that way, as a denominator is positive.
func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func ceiling(r *big.Rat) *big.Int {
	negated := floor(new(big.Rat).Neg(r))
	return negated.Neg(negated)
}

// boundNumbers takes the doubles next to the bounds, as a value is also the
// double next to what was written: 0.1 is within a maximum of 0.1. It reports
// whether any number is left.
func (a *Attribute) boundNumbers(lower, above, upper, below *big.Rat) bool {
	if lower != nil {
		a.min, _ = lower.Float64()
	}
	if above != nil {
		if bound, _ := above.Float64(); bound >= a.min {
			a.min, a.minOpen = bound, true
		}
	}
	if upper != nil {
		a.max, _ = upper.Float64()
	}
	if below != nil {
		if bound, _ := below.Float64(); bound <= a.max {
			a.max, a.maxOpen = bound, true
		}
	}
	if math.IsInf(a.min, 1) || math.IsInf(a.max, -1) {
		return false
	}
	return a.min < a.max || a.min == a.max && !a.minOpen && !a.maxOpen
}

// constants compiles the enumeration and the default.
func (k *Checker) constants(a *Attribute, at Path) {
	if a.Enum != nil && len(a.Enum) == 0 {
		k.Report(at.To("enum"), "enum must list at least one value: nothing would be valid")
	}
	// The list is complete before it is set: its values are not checked by it.
	var enum []Value
	for i, constant := range a.Enum {
		place := at.To("enum").Item(i)
		value, ok := k.constant(a, constant, "this value", place)
		switch {
		case ok && slices.Contains(enum, value):
			k.Report(place, "this value is listed twice: remove one of them")
		case ok:
			enum = append(enum, value)
		}
	}
	a.enum = enum
	if a.Default != nil && len(enum) == len(a.Enum) {
		a.fallback, _ = k.constant(a, a.Default, "the default", at.To("default"))
	}
}

func (k *Checker) constant(a *Attribute, constant any, what string, at Path) (Value, bool) {
	text, err := Marshal(constant)
	if err != nil {
		k.Report(at, "%s cannot be written as JSON: %s", what, err)
		return Null, false
	}
	if string(text) == "null" {
		k.Report(at, "%s cannot be null: remove it, as every attribute that is not required can be null and is null by default", what)
		return Null, false
	}
	value, wrong := a.decodeConstant(text)
	if wrong == nil {
		return value, true
	}
	message := constantProblem(what, wrong)
	if scalar := text[0] != '"' && text[0] != '{' && text[0] != '['; scalar && a.Type == String {
		message += `: write it in quotes, "` + string(text) + `"`
	}
	k.Report(at, "%s", message)
	return Null, false
}

func Marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// constantProblem turns the error of a value, which is for clients, into a problem of a constant,
// which is for the author of the schema.
func constantProblem(what string, wrong *problem.Error) string {
	if pointer := wrong.Source.Pointer; pointer != "" {
		what += " at " + pointer
	}
	detail := strings.TrimSuffix(wrong.Detail, ".")
	if rest, ok := strings.CutPrefix(detail, "Must "); ok {
		return what + " must " + rest
	}
	return what + " is not valid: " + detail
}

// regexpProblem is the error of regexp.Compile without its preamble.
func regexpProblem(err error) string {
	var wrong *syntax.Error
	if errors.As(err, &wrong) {
		return string(wrong.Code) + ": " + wrong.Expr
	}
	return err.Error()
}
