package format

import (
	"math"
	"strconv"
	"strings"
)

// Number reads a JSON number that must be a double. One that is too large, or too
// small to be told from zero, is none. One with more digits than the double has is
// Imprecise: it would not come back as it was sent.
func Number(text string) (float64, Problem) {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return 0, TooLarge
	case f == 0:
		mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
		if strings.ContainsAny(mantissa, "123456789") {
			return 0, TooLarge
		}
		return 0, Fits
	// Any 15 digits are exact, unless the number is among the smallest there are.
	case (len(text) > 15 || math.Abs(f) < 0x1p-1022) && DigitsOf(text) != DigitsOf(string(AppendFloat(nil, f))):
		return 0, Imprecise
	}
	return f, Fits
}

// Problem is what is wrong with a number.
type Problem int

// What can be wrong with a number.
const (
	Fits Problem = iota
	Fractional
	TooLarge
	Imprecise
)

// Integer reads a JSON number that must be an int64. 1.0 and 1e3 are
// integers; nothing is rounded, and no exponent is too large to be judged.
func Integer(text string) (int64, Problem) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, Fits
	}
	d := DigitsOf(text)
	switch {
	case d.Exponent < 0:
		return 0, Fractional
	case len(d.Text)+d.Exponent > 19:
		return 0, TooLarge
	}
	n, fits := d.Units(d.Exponent)
	if !fits {
		return 0, TooLarge
	}
	return n, Fits
}

// Digits is a number in normal form: the digits without leading and trailing zeros, and the power
// of ten that they are multiplied by.
type Digits struct {
	Negative bool
	Text     string
	Exponent int
}

// DigitsOf reads a JSON number.
func DigitsOf(text string) Digits {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	unsigned, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	all := strings.TrimLeft(whole+fraction, "0")
	digits := strings.TrimRight(all, "0")
	if digits == "" {
		return Digits{}
	}
	exponent, _ := strconv.Atoi(power)                          // the nearest int if it is out of range
	exponent = max(math.MinInt32, min(exponent, math.MaxInt32)) // far beyond every integer and double
	return Digits{negative, digits, exponent + len(all) - len(digits) - len(fraction)}
}

// Units is the number with zeros after its digits, as an integer. False: it has more than 64 bits.
func (d Digits) Units(zeros int) (int64, bool) {
	text := "0" + d.Text + strings.Repeat("0", zeros)
	if d.Negative {
		text = "-" + text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// AppendFloat appends the shortest JSON number that reads back as f, with an
// exponent only where the plain form would be long.
func AppendFloat(dst []byte, f float64) []byte {
	size := math.Abs(f)
	if size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(dst, f+0, 'f', -1, 64)
	}
	return AppendExponent(dst, f)
}

// AppendExponent appends it with an exponent in any case.
func AppendExponent(dst []byte, f float64) []byte {
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// strconv writes e-07; JSON by convention e-7.
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
