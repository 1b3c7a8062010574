package model

import (
	"math"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// DefaultValue is the value of a resource that is created without the
// attribute, or Null.
func (a *Attribute) DefaultValue() Value { return a.compiled.Default }

// Convert converts a stored value of a kind, which is not null, to a valid value of the attribute,
// if that loses nothing: "12" becomes 12 and 12 becomes "12", a date becomes midnight in UTC, and a
// number keeps all its digits. A value of the attribute's own kind is only checked. The error says
// why the value cannot be converted.
func (a *Attribute) Convert(from Kind, value Value) (Value, *problem.Error) {
	text := from.appendJSON(nil, Record{value}, 0)
	if from != a.compiled.Kind {
		plain := string(text)
		if from.IsDecimal() {
			plain = string(from.appendDecimal(nil, value.Int()))
		} else if from == KindText || from == KindJSON || from == KindUUID || from == KindDate || from == KindDateTime {
			plain = Record{value}.plain(from)
		}
		converted, ok := a.compiled.Kind.fromPlain(from, plain)
		if !ok {
			return Null, fault.New(problem.CodeType, "Cannot be converted to %s.", a.compiled.Kind)
		}
		text = a.compiled.Kind.appendJSON(nil, Record{converted}, 0)
	}
	result, wrong := a.decode(text, math.MaxInt) // it was accepted before
	if wrong != nil {
		return Null, wrong
	}
	if result.IsNull() { // the text null, which is no JSON of an object or array
		return Null, fault.New(problem.CodeType, "Cannot be converted to %s.", a.compiled.Kind)
	}
	return result, nil
}

// plain is the text of a value without quotes.
func (r Record) plain(kind Kind) string {
	if kind == KindUUID {
		return r.ID(0).String()
	}
	return r[0].Text() // #nosec G602 -- a record of one value, as above
}

// fromPlain reads the text of a value of another kind.
func (k Kind) fromPlain(from Kind, text string) (Value, bool) {
	switch {
	case k.IsDecimal():
		return k.decimalFrom(text)
	case from == KindDate && k == KindDateTime:
		return TimeValue(text + "T00:00:00.000Z"), true
	case from == KindDateTime && k == KindDate:
		date, midnight := strings.CutSuffix(text, "T00:00:00.000Z")
		return TextValue(date), midnight
	case k == KindJSON:
		return TextValue(text), from == KindText // read by its definition
	}
	value, wrong := k.Parse(text)
	return value, wrong == ""
}

// decimal is a number in normal form: the digits without leading and trailing zeros, and the power
// of ten that they are multiplied by.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// decimalOf reads a JSON number in the range of doubles.
func decimalOf(text string) decimal {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	unsigned, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	all := strings.TrimLeft(whole+fraction, "0")
	digits := strings.TrimRight(all, "0")
	if digits == "" {
		return decimal{}
	}
	exponent, _ := strconv.Atoi(power) // too large for a double long before it is for this
	return decimal{negative, digits, exponent + len(all) - len(digits) - len(fraction)}
}
