package expression

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/plural-go/plural/internal/model"
)

// State is what expressions are evaluated for, one after the other. It gives cel-go the variables, and converts only
// those that it asks for.
type State struct {
	Before model.Record // the stored state; nil: there is none
	After  model.Record // the resource
	// Auth is the variables of the caller: auth.sub, auth.role and auth.claims; nil: there is no caller. What is
	// missing is null. It is called at most once.
	Auth func() map[string]any
	Now  model.Value

	caller map[string]any
	from   map[string]source // of the program that is evaluated
	parsed map[place]ref.Val // objects and arrays that it has read
}

// variable returns one of the caller.
func (s *State) variable(name string) any {
	if s.caller == nil && s.Auth != nil {
		s.caller = s.Auth()
	}
	switch value, ok := s.caller[name]; {
	case ok:
		return value
	case name == "auth.claims":
		return map[string]any{}
	}
	return types.NullValue
}

// source is where a variable comes from.
type source struct {
	place
	kind   model.Kind
	inside []string // as in Attribute
}

type place struct {
	of     origin
	column int
}

type origin int

const (
	ofCaller origin = iota
	ofResource
	ofPrevious
	ofClock
	whetherPrevious
)

// sources lists the variables of the expression.
func (e *Expression) sources() map[string]source {
	from := map[string]source{nowName: {place: place{of: ofClock}}, previousName: {place: place{of: whetherPrevious}}, "auth.sub": {}, "auth.role": {}, "auth.claims": {}}
	for name, a := range e.attributes {
		of := ofResource
		if a.Previous {
			of = ofPrevious
		}
		from[name] = source{place{of, a.Column}, a.Kind, a.Inside}
	}
	return from
}

// Parent is none.
func (s *State) Parent() interpreter.Activation { return nil }

// ResolveName returns a variable.
func (s *State) ResolveName(name string) (any, bool) {
	from, ok := s.from[name]
	if !ok {
		return nil, false
	}
	switch from.of {
	case ofResource:
		return s.stored(from, s.After), true
	case ofPrevious:
		if s.Before == nil {
			return undecided, true // an operation on previous, which is null
		}
		return s.stored(from, s.Before), true
	case whetherPrevious:
		if s.Before == nil {
			return types.NullValue, true
		}
		return types.True, true // which differs from null
	case ofClock:
		return valueOf(model.KindDateTime, s.Now), true
	}
	return s.variable(name), true
}

// valueOf converts a stored value for cel-go.
func valueOf(kind model.Kind, value model.Value) ref.Val {
	switch {
	case value.IsNull():
		return types.NullValue
	case kind.IsDecimal():
		return NewDecimal(value.Int(), kind.Scale())
	}
	switch kind {
	case model.KindInteger:
		return types.Int(value.Int())
	case model.KindNumber:
		return types.Double(value.Float())
	case model.KindBoolean:
		return types.Bool(value.Bool())
	case model.KindUUID:
		return types.String(value.ID().String())
	case model.KindDateTime:
		return timeOf(value.Text())
	}
	return types.String(value.Text())
}

func timeOf(text string) ref.Val {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Timestamp{Time: at}
}

// ErrUndecided is the result of an expression that depends on null.
var ErrUndecided = errors.New("the value depends on null")

// evaluate evaluates the program. Its error is ErrUndecided if the value is undecided.
func (p *Program) evaluate(state *State) (ref.Val, error) {
	state.from, state.parsed = p.from, nil
	value, _, err := p.program.Eval(state)
	switch {
	case err != nil:
		return nil, err
	case types.IsUnknown(value):
		return nil, ErrUndecided
	}
	return value, nil
}

// Holds evaluates a rule. Its error is ErrUndecided if null is all that the rule depends on.
func (p *Program) Holds(state *State) (bool, error) {
	value, err := p.evaluate(state)
	if err != nil {
		return false, err
	}
	switch holds := value.(type) {
	case types.Bool:
		return bool(holds), nil
	case types.Null:
		return false, ErrUndecided
	}
	return false, fmt.Errorf("the rule is %s, and neither true nor false", value.Type().TypeName())
}

// AppendJSON evaluates the expression, and appends its value as JSON of a kind. An undecided value is null.
func (p *Program) AppendJSON(dst []byte, kind model.Kind, state *State) ([]byte, error) {
	value, err := p.evaluate(state)
	switch {
	case errors.Is(err, ErrUndecided) || err == nil && value == types.NullValue:
		return append(dst, "null"...), nil
	case err != nil:
		return dst, err
	}
	switch value := value.(type) {
	case types.Bool:
		if kind == model.KindBoolean {
			return strconv.AppendBool(dst, bool(value)), nil
		}
	case types.Int:
		switch {
		case kind.IsDecimal():
			return appendExact(dst, kind, NewDecimal(int64(value), 0)), nil
		case kind == model.KindInteger || kind == model.KindNumber:
			return strconv.AppendInt(dst, int64(value), 10), nil
		}
	case types.Double:
		return appendDouble(dst, kind, float64(value))
	case *Decimal:
		if kind.IsDecimal() {
			return appendExact(dst, kind, value), nil
		}
	case types.Timestamp:
		switch kind {
		case model.KindDateTime:
			return append(model.AppendTime(append(dst, '"'), value.Time), '"'), nil
		case model.KindDate:
			return model.AppendQuoted(dst, value.UTC().Format(time.DateOnly)), nil
		}
	case types.String:
		if kind == model.KindText || kind == model.KindUUID || kind == model.KindDate {
			if !utf8.ValidString(string(value)) {
				return dst, errors.New("the text is not valid UTF-8")
			}
			return model.AppendQuoted(dst, string(value)), nil
		}
	}
	return dst, fmt.Errorf("the value is %s, which does not fit", value.Type().TypeName())
}

// appendDouble appends a double. Of a decimal, it comes from a claim.
func appendDouble(dst []byte, kind model.Kind, value float64) ([]byte, error) {
	switch exact, ok := toDecimal(types.Double(value)).(*Decimal); {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return dst, errors.New("the value is no finite number")
	case kind.IsDecimal() && ok:
		return appendExact(dst, kind, exact), nil
	case kind == model.KindNumber:
		return strconv.AppendFloat(dst, value+0, 'g', -1, 64), nil
	}
	return dst, errors.New("the value is a number with a fraction, which does not fit")
}

// appendExact appends a decimal with the digits of a kind, or with all its digits if it does not fit.
func appendExact(dst []byte, kind model.Kind, value *Decimal) []byte {
	if units, fits := value.Units(kind.Scale()); fits {
		value = NewDecimal(units, kind.Scale())
	}
	return append(append(append(dst, '"'), value.String()...), '"')
}
