package compile

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

func kindOf(a *model.Attribute) model.Kind {
	switch a.Type {
	case model.Integer:
		return model.KindInteger
	case model.Number:
		return model.KindNumber
	case model.Boolean:
		return model.KindBoolean
	case model.Object, model.Array:
		return model.KindJSON
	}
	switch a.Format {
	case model.Decimal:
		return model.DecimalKind(min(max(a.Scale, 0), model.MaxDecimalDigits))
	case model.UUID:
		return model.KindUUID
	case model.Date:
		return model.KindDate
	case model.DateTime:
		return model.KindDateTime
	}
	return model.KindText
}

// NumberSyntax is the syntax of numbers in JSON, with exponents that are small enough for rational
// numbers.
var NumberSyntax = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

const MaxNumberText = 400

// bounds compiles minimum, maximum, their exclusive forms and multipleOf.
func (k *Checker) bounds(a *model.Attribute, at Path) {
	c := a.Constraints()
	c.MinInt, c.MaxInt = math.MinInt64, math.MaxInt64
	c.Min, c.Max = math.Inf(-1), math.Inf(1)
	if a.Type != model.Integer && a.Type != model.Number && a.Format != model.Decimal {
		return
	}
	before := len(k.Problems)
	lower := k.rational(a.Minimum, at.To("minimum"))
	upper := k.rational(a.Maximum, at.To("maximum"))
	above := k.rational(a.ExclusiveMinimum, at.To("exclusiveMinimum"))
	below := k.rational(a.ExclusiveMaximum, at.To("exclusiveMaximum"))
	c.Multiple = k.rational(a.MultipleOf, at.To("multipleOf"))
	if c.Multiple != nil && c.Multiple.Sign() <= 0 {
		k.Report(at.To("multipleOf"), "multipleOf must be more than 0")
	}
	if len(k.Problems) > before {
		return
	}
	bound, what := boundNumbers, string(a.Type)
	switch {
	case a.Type == model.Integer:
		bound = boundIntegers
	case a.Format == model.Decimal:
		bound, what = boundIntegers, string(a.Format)
		units := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Kind.Scale())), nil)
		for _, each := range []*big.Rat{lower, upper, above, below, c.Multiple} {
			if each != nil { // in the smallest units
				each.Mul(each, new(big.Rat).SetInt(units))
			}
		}
	}
	if !bound(c, lower, above, upper, below) {
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
func boundIntegers(c *model.Constraints, lower, above, upper, below *big.Rat) bool {
	first, last := []*big.Int{big.NewInt(math.MinInt64)}, []*big.Int{big.NewInt(math.MaxInt64)}
	one := big.NewInt(1)
	if lower != nil {
		first = append(first, ceiling(lower))
	}
	if above != nil {
		first = append(first, new(big.Int).Add(floor(above), one))
	}
	if upper != nil {
		last = append(last, floor(upper))
	}
	if below != nil {
		last = append(last, new(big.Int).Sub(ceiling(below), one))
	}
	least, most := slices.MaxFunc(first, (*big.Int).Cmp), slices.MinFunc(last, (*big.Int).Cmp)
	if least.Cmp(most) > 0 {
		return false
	}
	c.MinInt, c.MaxInt = least.Int64(), most.Int64()
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
func boundNumbers(c *model.Constraints, lower, above, upper, below *big.Rat) bool {
	if lower != nil {
		c.Min, _ = lower.Float64()
	}
	if above != nil {
		if bound, _ := above.Float64(); bound >= c.Min {
			c.Min, c.MinOpen = bound, true
		}
	}
	if upper != nil {
		c.Max, _ = upper.Float64()
	}
	if below != nil {
		if bound, _ := below.Float64(); bound <= c.Max {
			c.Max, c.MaxOpen = bound, true
		}
	}
	if math.IsInf(c.Min, 1) || math.IsInf(c.Max, -1) {
		return false
	}
	return c.Min < c.Max || c.Min == c.Max && !c.MinOpen && !c.MaxOpen
}

// constants compiles the enumeration and the default.
func (k *Checker) constants(a *model.Attribute, at Path) {
	if a.Enum != nil && len(a.Enum) == 0 {
		k.Report(at.To("enum"), "enum must list at least one value: nothing would be valid")
	}
	// The list is complete before it is set: its values are not checked by it.
	var enum []model.Value
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
	a.Constraints().Enum = enum
	if a.Default != nil && len(enum) == len(a.Enum) {
		a.Constraints().Default, _ = k.constant(a, a.Default, "the default", at.To("default"))
	}
}

func (k *Checker) constant(a *model.Attribute, constant any, what string, at Path) (model.Value, bool) {
	text, err := model.Marshal(constant)
	if err != nil {
		k.Report(at, "%s cannot be written as JSON: %s", what, err)
		return model.Null, false
	}
	if string(text) == "null" {
		k.Report(at, "%s cannot be null: remove it, as every attribute that is not required can be null and is null by default", what)
		return model.Null, false
	}
	value, err := a.DecodeJSON(text)
	if err == nil {
		return value, true
	}
	message := constantProblem(what, err)
	if scalar := text[0] != '"' && text[0] != '{' && text[0] != '['; scalar && a.Type == model.String {
		message += `: write it in quotes, "` + string(text) + `"`
	}
	k.Report(at, "%s", message)
	return model.Null, false
}

// constantProblem turns the error of a value, which is for clients, into a problem of a constant,
// which is for the author of the schema.
func constantProblem(what string, err error) string {
	var wrong *problem.Error
	errors.As(err, &wrong)
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
