package model

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/format"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// attribute reads the value of an attribute. An invalid value is noted and read
// as null.
func (d *decoder) attribute(a *Attribute) (Value, error) {
	token, err := d.token()
	if err != nil {
		return Null, err
	}
	switch {
	case token.Kind() == 'n':
		if a.Required {
			d.fail(problem.CodeRequired, "The attribute %s is required and cannot be null.", a.Name)
		}
		return Null, nil
	case a.compiled.Kind == KindJSON:
		text, err := d.appendValue(nil, token, a)
		return TextValue(string(text)), err
	case token.Kind() == '{' || token.Kind() == '[':
		d.wrongType(a, token)
		return Null, d.skip(token)
	}
	return d.scalar(a, token), nil
}

func (d *decoder) wrongType(a *Attribute, token jsontext.Token) {
	if a.compiled.Kind.IsDecimal() && token.Kind() == '0' {
		d.fail(problem.CodeType, "Must be a string such as %q, but is a number.", a.compiled.Kind.decimalExample())
		return
	}
	d.fail(problem.CodeType, "Must be %s, but is %s.", suggest.Article(string(a.Type)), jsonNames[token.Kind()])
}

// scalar converts and checks a string, number or boolean.
func (d *decoder) scalar(a *Attribute, token jsontext.Token) Value {
	before := len(d.faults)
	value := Null
	switch {
	case a.Type == Boolean && (token.Kind() == 't' || token.Kind() == 'f'):
		value = BoolValue(token.Bool())
	case a.Type == Integer && token.Kind() == '0':
		value = d.integer(a, token.String())
	case a.Type == Number && token.Kind() == '0':
		value = d.number(a, token.String())
	case a.compiled.Kind.IsDecimal() && token.Kind() == '"':
		value = d.decimal(a, token.String())
	case a.Type == String && token.Kind() == '"':
		value = d.text(a, token.String())
	default:
		d.wrongType(a, token)
	}
	if len(d.faults) == before {
		d.checkEnum(a, value)
	}
	return value
}

func (d *decoder) integer(a *Attribute, text string) Value {
	n, wrong := format.Integer(text)
	switch wrong {
	case format.Fractional:
		d.fail(problem.CodeType, "Must be an integer, but has a fraction.")
	case format.TooLarge:
		d.fail(problem.CodeOutOfRange, "Must be between %d and %d.", math.MinInt64, math.MaxInt64)
	default:
		d.checkInteger(a, n)
		return IntValue(n)
	}
	return Null
}

func (d *decoder) number(a *Attribute, text string) Value {
	f, ok := d.double(text)
	if !ok {
		return Null
	}
	d.checkNumber(a, f)
	return FloatValue(f)
}

// double reads a number that must be a double, with all its digits.
func (d *decoder) double(text string) (f float64, ok bool) {
	f, wrong := format.Number(text)
	switch wrong {
	case format.TooLarge:
		d.fail(problem.CodeOutOfRange, "Must be a number that a double can hold.")
	case format.Imprecise:
		nearest, _ := strconv.ParseFloat(text, 64)
		d.fail(problem.CodePrecision, "Has more digits than a double can hold, and would become %s. Send fewer digits, or declare a decimal: type string, format decimal.", format.AppendFloat(nil, nearest))
	}
	return f, wrong == format.Fits
}

func (d *decoder) decimal(a *Attribute, text string) Value {
	n, wrong := a.compiled.Kind.parseDecimal(text)
	switch wrong {
	case noDecimal:
		d.fail(problem.CodeFormat, "Must be a decimal such as %s.", a.compiled.Kind.decimalExample())
	case tooPrecise:
		d.fail(problem.CodePrecision, "Must have at most %s after the decimal point.", suggest.Counted(a.compiled.Kind.Scale(), "digit"))
	case tooManyDigits:
		limit := a.compiled.Kind.decimalLimit()
		d.fail(problem.CodeOutOfRange, "Must be between -%s and %s.", limit, limit)
	default:
		d.checkInteger(a, n)
		return IntValue(n)
	}
	return Null
}

func (d *decoder) text(a *Attribute, text string) Value {
	d.checkText(a, text)
	parsed, wrong := parseFormat(a.Format, text)
	if wrong != "" {
		d.fail(problem.CodeFormat, "Must be %s.", wrong)
	}
	return parsed
}

// appendValue appends a value as compact JSON and checks it against its
// definition, if it has one. What has no definition is kept as it is, numbers
// in their shortest form.
func (d *decoder) appendValue(dst []byte, token jsontext.Token, a *Attribute) ([]byte, error) {
	switch kind := token.Kind(); {
	case kind == '{' || kind == '[':
		return d.appendContainer(dst, token, a)
	case a != nil && a.compiled.Kind == KindJSON:
		d.wrongType(a, token)
		return dst, nil
	case a != nil:
		return a.compiled.Kind.AppendValue(dst, Record{d.scalar(a, token)}, 0), nil
	case kind == '"':
		return d.appendString(dst, token.String()), nil
	case kind == '0':
		return d.appendNumber(dst, token.String()), nil
	default:
		return append(dst, token.String()...), nil
	}
}

// appendContainer appends an object or an array whose first token was read.
func (d *decoder) appendContainer(dst []byte, token jsontext.Token, a *Attribute) ([]byte, error) {
	start, kind, appendRest := len(dst), Object, d.appendObject
	if token.Kind() == '[' {
		kind, appendRest = Array, d.appendArray
	}
	if a != nil && a.Type != kind {
		d.wrongType(a, token)
		a = nil
	}
	dst, err := appendRest(dst, a)
	if err == nil && a != nil && len(a.compiled.Enum) > 0 {
		d.checkEnum(a, TextValue(string(dst[start:])))
	}
	return dst, err
}

func (d *decoder) appendObject(dst []byte, a *Attribute) ([]byte, error) {
	dst = append(dst, '{')
	var seen []string
	for empty := true; d.json.PeekKind() != '}'; empty = false {
		token, err := d.token()
		if err != nil {
			return dst, err
		}
		name := token.String()
		seen = append(seen, name)
		if !empty {
			dst = append(dst, ',')
		}
		dst = append(d.appendString(dst, name), ':')
		if token, err = d.token(); err != nil {
			return dst, err
		}
		member := a.Property(name)
		if member == nil && a != nil && a.Closed {
			d.fail(problem.CodeUnknownAttribute, "No member of this name is allowed here.")
		}
		if dst, err = d.appendValue(dst, token, member); err != nil {
			return dst, err
		}
	}
	if _, err := d.token(); err != nil {
		return dst, err
	}
	d.checkMembers(a, seen)
	return append(dst, '}'), nil
}

func (d *decoder) appendArray(dst []byte, a *Attribute) ([]byte, error) {
	var items *Attribute
	if a != nil {
		items = a.Items
	}
	dst = append(dst, '[')
	count := 0
	for ; d.json.PeekKind() != ']'; count++ {
		token, err := d.token()
		if err != nil {
			return dst, err
		}
		if count > 0 {
			dst = append(dst, ',')
		}
		if dst, err = d.appendValue(dst, token, items); err != nil {
			return dst, err
		}
	}
	if _, err := d.token(); err != nil {
		return dst, err
	}
	d.checkItems(a, count)
	return append(dst, ']'), nil
}

func (d *decoder) appendString(dst []byte, text string) []byte {
	d.checkNullCharacter(text)
	return AppendQuoted(dst, text)
}

func (d *decoder) appendNumber(dst []byte, text string) []byte {
	n, wrong := format.Integer(text)
	if wrong == format.Fits {
		return strconv.AppendInt(dst, n, 10)
	}
	if wrong == format.TooLarge && !strings.ContainsAny(text, ".eE") {
		// Written as an integer, it is meant to be exact.
		d.fail(problem.CodeOutOfRange, "Integers must be between %d and %d.", math.MinInt64, math.MaxInt64)
		return dst
	}
	f, ok := d.double(text)
	if !ok {
		return dst
	}
	if wrong == format.TooLarge {
		// Not with all its digits: it would be taken for an integer when it is sent back.
		return format.AppendExponent(dst, f)
	}
	return format.AppendFloat(dst, f)
}

// Property finds the definition of a member, or returns nil.
func (a *Attribute) Property(name string) *Attribute {
	if a == nil {
		return nil
	}
	return attributeNamed(a.Properties, name)
}

// DecodeJSON reads and validates one value of the attribute. Its error is a *problem.Error.
func (a *Attribute) DecodeJSON(text []byte) (Value, error) {
	value, wrong := a.decode(text, maxConstantDepth)
	if wrong != nil {
		return Null, wrong
	}
	return value, nil
}

func (a *Attribute) decode(text []byte, maxDepth int) (Value, *problem.Error) {
	d := newDecoder(text, maxDepth)
	defer d.release()
	value, err := d.attribute(a)
	if err == nil {
		err = d.end()
	}
	if err == nil {
		err = d.faults.Err()
	}
	if err != nil {
		return Null, fault.From(err)[0]
	}
	return value, nil
}

const maxConstantDepth = 64
