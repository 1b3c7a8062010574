package auth

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
)

// fitting is whether a value can be compared with a column.
type fitting int

const (
	fits    fitting = iota // it is a value that the column can have
	differs                // the column can never have it, so it equals no stored value
	clashes                // CEL would compare it in a way that a database does not
)

// maxExact is the largest integer up to which doubles represent all integers exactly.
const maxExact = expression.MaxExact

// fit converts a value of CEL to a value of the column.
func (a attribute) fit(given ref.Val) (model.Value, fitting) {
	switch value := given.(type) {
	case types.String:
		return a.fitText(string(value))
	case types.Bool:
		if a.Kind == model.KindBoolean {
			return model.BoolValue(bool(value)), fits
		}
	case types.Int:
		switch {
		case a.Kind == model.KindInteger:
			return model.IntValue(int64(value)), fits
		case a.Kind == model.KindNumber:
			return model.FloatValue(float64(value)), fits // as CEL does, and as the column was set
		}
	case types.Double:
		return a.fitDouble(float64(value))
	case types.Uint:
		if a.Kind == model.KindNumber || a.Kind == model.KindInteger {
			return model.Null, clashes
		}
	case *expression.Decimal:
		if a.Kind.IsDecimal() {
			if units, exact := value.Units(a.Kind.Scale()); exact {
				return model.IntValue(units), fits
			}
		}
	case types.Timestamp:
		if a.Kind == model.KindDateTime && value.Truncate(time.Millisecond).Equal(value.Time) {
			return model.TimeValue(model.FormatTime(value.Time)), fits
		}
	}
	return model.Null, differs
}

func (a attribute) fitDouble(value float64) (model.Value, fitting) {
	switch {
	case a.Kind != model.KindNumber && a.Kind != model.KindInteger:
		return model.Null, differs
	case math.IsNaN(value) || math.IsInf(value, 0):
		return model.Null, clashes
	case a.Kind == model.KindNumber:
		return model.FloatValue(value), fits
	case value != math.Trunc(value):
		return model.Null, differs
	case math.Abs(value) < maxExact:
		return model.IntValue(int64(value)), fits
	}
	return model.Null, clashes
}

// floor is the largest value of the column below one that lies between two values. False means that
// it does not lie between two.
func (a attribute) floor(given ref.Val) (model.Value, bool) {
	switch value := given.(type) {
	case types.Timestamp:
		return model.TimeValue(model.FormatTime(value.Time)), a.Kind == model.KindDateTime
	case *expression.Decimal:
		if a.Kind.IsDecimal() {
			units, exact := value.Units(a.Kind.Scale())
			return model.IntValue(units), !exact
		}
	case types.Double:
		return model.IntValue(int64(math.Floor(float64(value)))), a.Kind == model.KindInteger
	}
	return model.Null, false
}

// fitText is a text as a column of texts, ids or dates has it: in one form only, and
// without what no database holds.
func (a attribute) fitText(text string) (model.Value, fitting) {
	switch a.Kind {
	case model.KindText:
		if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
			return model.TextValue(text), fits
		}
	case model.KindUUID:
		if id, ok := model.ParseID(text); ok && id.String() == text {
			return model.IDValue(id), fits
		}
	case model.KindDate:
		if value, problem := a.Kind.Parse(text); problem == "" {
			return value, fits
		}
	}
	return model.Null, differs
}
