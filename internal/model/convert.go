package model

import (
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

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
	text := from.AppendValue(nil, Record{value}, 0)
	if from != a.compiled.Kind {
		plain := text
		if text[0] == '"' {
			plain, _ = jsontext.AppendUnquote(nil, text) // AppendValue has quoted it
		}
		converted, ok := a.compiled.Kind.fromPlain(from, string(plain))
		if !ok {
			return Null, fault.New(problem.CodeType, "Cannot be converted to %s.", a.compiled.Kind)
		}
		text = a.compiled.Kind.AppendValue(nil, Record{converted}, 0)
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

// fromPlain reads the text of a value of another kind, without quotes.
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
