package model

import (
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/format"
)

// parseDecimal reads a decimal as clients write it: digits, with an optional minus, and a
// point with digits after it. The value is in the smallest units of the scale.
func (k Kind) parseDecimal(text string) (value int64, problem decimalProblem) {
	unsigned, negative := strings.CutPrefix(text, "-")
	whole, fraction, pointed := strings.Cut(unsigned, ".")
	scale := k.Scale()
	switch {
	case !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || pointed && !isDigits(fraction):
		return 0, noDecimal
	case len(fraction) > scale:
		return 0, tooPrecise
	case whole != "0" && len(whole) > MaxDecimalDigits-scale:
		return 0, tooManyDigits
	}
	value, _ = strconv.ParseInt(whole+fraction+strings.Repeat("0", scale-len(fraction)), 10, 64)
	if negative {
		value = -value
	}
	return value, decimalFits
}

type decimalProblem int

const (
	decimalFits   decimalProblem = iota
	noDecimal                    // not written as a decimal
	tooPrecise                   // too many digits after the point
	tooManyDigits                // too many digits before it
)

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// decimalExample is a decimal of the scale.
func (k Kind) decimalExample() string {
	scale, value := k.Scale(), int64(0)
	if scale > 0 {
		value = 5 * pow10(scale-1)
	}
	if scale <= MaxDecimalDigits-2 {
		value += 12 * pow10(scale)
	}
	return string(k.appendDecimal(nil, value))
}

// decimalLimit is the greatest decimal of the scale.
func (k Kind) decimalLimit() string {
	return string(k.appendDecimal(nil, pow10(MaxDecimalDigits)-1))
}

func pow10(exponent int) int64 {
	power := int64(1)
	for range exponent {
		power *= 10
	}
	return power
}

// appendDecimal appends a decimal with all the digits of its scale.
func (k Kind) appendDecimal(dst []byte, value int64) []byte {
	if value < 0 {
		dst, value = append(dst, '-'), -value
	}
	unit := pow10(k.Scale())
	dst = strconv.AppendInt(dst, value/unit, 10)
	if unit == 1 {
		return dst
	}
	dst = append(dst, '.')
	fraction := strconv.FormatInt(value%unit, 10)
	for range k.Scale() - len(fraction) {
		dst = append(dst, '0')
	}
	return append(dst, fraction...)
}

// DecimalText is a decimal of the kind as it is shown.
func (k Kind) DecimalText(value Value) string { return string(k.appendDecimal(nil, value.Int())) }

// decimalFrom converts a JSON number to a decimal, if that loses nothing.
func (k Kind) decimalFrom(number string) (Value, bool) {
	if !isNumber(number) {
		return Null, false
	}
	d := format.DigitsOf(number)
	zeros := d.Exponent + k.Scale()
	if zeros < 0 || len(d.Text)+zeros > MaxDecimalDigits {
		return Null, false
	}
	value, _ := d.Units(zeros)
	return IntValue(value), true
}
