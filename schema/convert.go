package schema

import (
	"math"
	"strings"

	"github.com/plural-go/plural/internal/fault"
)

// DefaultValue is the value of a resource that is created without the
// attribute, or Null.
func (a *Attribute) DefaultValue() Value { return a.fallback }

// Convert makes a stored value of a kind, which is not null, a valid value of
// the attribute, if that loses nothing: "12" and 12 become each other, a date is
// midnight in UTC. A value of the attribute's own kind is only checked. The
// fault says what is wrong with the value otherwise.
func (a *Attribute) Convert(from Kind, value Value) (Value, *fault.Error) {
	text := from.appendJSON(nil, Record{value}, 0)
	if from != a.kind {
		plain := string(text)
		if from == KindText || from == KindJSON || from == KindUUID || from == KindDate || from == KindDateTime {
			plain = Record{value}.plain(from)
		}
		converted, ok := a.kind.fromPlain(from, plain)
		if !ok {
			return Null, fault.New(fault.CodeType, "Cannot be converted to %s.", a.kind)
		}
		text = a.kind.appendJSON(nil, Record{converted}, 0)
	}
	d := newDecoder(text, math.MaxInt) // it was let in once
	result, err := d.attribute(a)
	if err == nil {
		err = d.end()
	}
	if err == nil {
		err = d.faults.Err()
	}
	if err != nil {
		return Null, fault.From(err)[0]
	}
	if result.IsNull() { // the text null, which is no JSON of an object or array
		return Null, fault.New(fault.CodeType, "Cannot be converted to %s.", a.kind)
	}
	return result, nil
}

// plain is the text of a value without quotes.
func (r Record) plain(kind Kind) string {
	if kind == KindUUID {
		return r.ID(0).String()
	}
	return r[0].Text()
}

// fromPlain reads the text of a value of another kind.
func (k Kind) fromPlain(from Kind, text string) (Value, bool) {
	switch {
	case from == KindDate && k == KindDateTime:
		return TimeValue(text + "T00:00:00.000Z"), true
	case from == KindDateTime && k == KindDate:
		date, midnight := strings.CutSuffix(text, "T00:00:00.000Z")
		return TextValue(date), midnight
	case k == KindJSON:
		return TextValue(text), from == KindText // read by its definition
	}
	value, problem := k.Parse(text)
	if problem != "" {
		return Null, false
	}
	if from == KindInteger && k == KindNumber && (math.Abs(value.Float()) >= 1<<63 || int64(value.Float()) != mustInt(text)) {
		return Null, false
	}
	return value, true
}

func mustInt(text string) int64 {
	n, _ := parseInteger(text)
	return n
}
