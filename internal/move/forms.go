package move

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/model"
)

// numeral is a number that was read: its digits, and the power of ten that they are multiplied by. Nothing is rounded.
type numeral struct {
	negative bool
	digits   string // at least one, without zeros at the beginning unless the number is zero
	exponent int
}

// maxNumeral bounds the digits of a number and its exponent: no attribute has as many.
const maxNumeral = 400

// parseNumeral reads a number. With a mark, which is a point or a comma, digits before it can be in groups of three with the
// other one, spaces or apostrophes between them.
func parseNumeral(text string, mark byte) (n numeral, ok bool) {
	separators, point := "", "."
	if mark != 0 {
		separators, point = " \u00a0\u202f'’", string(mark)
		separators += map[byte]string{'.': ",", ',': "."}[mark]
	}
	text = strings.TrimSpace(text)
	unsigned := strings.TrimLeft(text, "+-−")
	switch text[:len(text)-len(unsigned)] {
	case "-", "−":
		n.negative = true
	case "", "+":
	default:
		return n, false
	}
	power := ""
	if at := strings.IndexAny(unsigned, "eE"); at >= 0 {
		unsigned, power = unsigned[:at], unsigned[at+1:]
		exponent, err := strconv.ParseInt(power, 10, 32)
		if err != nil || exponent < -maxNumeral || exponent > maxNumeral {
			return n, false
		}
		n.exponent = int(exponent)
	}
	whole, fraction, _ := strings.Cut(unsigned, point)
	whole, ok = joined(whole, separators)
	if !ok || !areDigits(whole) || !areDigits(fraction) || whole+fraction == "" || len(whole+fraction) > maxNumeral {
		return n, false
	}
	n.digits = strings.TrimLeft(whole+fraction, "0")
	n.exponent -= len(fraction)
	if n.digits == "" {
		return numeral{digits: "0"}, true
	}
	return n, true
}

// joined removes one kind of separator between groups of three digits.
func joined(whole, separators string) (digits string, ok bool) {
	at := strings.IndexAny(whole, separators)
	if at < 0 {
		return whole, true
	}
	separator := string([]rune(whole[at:])[:1])
	groups := strings.Split(whole, separator)
	for i, group := range groups {
		if len(group) != 3 && !(i == 0 && len(group) > 0 && len(group) < 3) {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

func areDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// append appends the number as JSON writes it, without an exponent and without zeros at the end of its fraction.
func (n numeral) append(body []byte) []byte {
	if n.negative {
		body = append(body, '-')
	}
	digits := n.digits
	if n.exponent >= 0 {
		body = append(body, digits...)
		if digits == "0" {
			return body
		}
		return append(body, strings.Repeat("0", n.exponent)...)
	}
	if missing := 1 - n.exponent - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, fraction := digits[:len(digits)+n.exponent], strings.TrimRight(digits[len(digits)+n.exponent:], "0")
	body = append(body, whole...)
	if fraction != "" {
		body = append(append(body, '.'), fraction...)
	}
	return body
}

func numberReader(argument string, a client.Attribute) (reader, error) {
	var mark byte
	expected := "a number such as 1234.5"
	switch argument {
	case "":
	case ",":
		mark, expected = ',', "a number with a decimal comma, such as 1234,5 or 1.234,5"
	case ".":
		mark, expected = '.', "a number with a decimal point, such as 1234.5 or 1,234.5"
	default:
		return nil, fmt.Errorf("write %[1]s=number:, for a decimal comma, or %[1]s=number:. for a decimal point", a.Name)
	}
	quoted := a.Type == "string"
	return func(body []byte, text string) ([]byte, string) {
		n, ok := parseNumeral(text, mark)
		if !ok {
			return nil, expected
		}
		if !quoted {
			return n.append(body), ""
		}
		return append(n.append(append(body, '"')), '"'), ""
	}, nil
}

// booleans are the texts of true and false.
var booleans = [][2]string{{"true", "false"}, {"yes", "no"}, {"1", "0"}, {"on", "off"}, {"t", "f"}, {"y", "n"}}

func booleanReader(argument string, a client.Attribute) (reader, error) {
	pairs, expected := booleans, "true or false, yes or no, 1 or 0, on or off"
	if argument != "" {
		yes, no, ok := strings.Cut(argument, "/")
		if !ok || yes == "" || no == "" || strings.EqualFold(yes, no) {
			return nil, fmt.Errorf("there must be two texts with a slash between them, such as %s=boolean:ja/nein", a.Name)
		}
		pairs, expected = [][2]string{{yes, no}}, fmt.Sprintf("%q or %q", yes, no)
	}
	return func(body []byte, text string) ([]byte, string) {
		text = strings.TrimSpace(text)
		for _, pair := range pairs {
			switch {
			case strings.EqualFold(text, pair[0]):
				return append(body, "true"...), ""
			case strings.EqualFold(text, pair[1]):
				return append(body, "false"...), ""
			}
		}
		return nil, expected
	}, nil
}

func textReader(string, client.Attribute) (reader, error) {
	return func(body []byte, text string) ([]byte, string) {
		body, _ = jsontext.AppendQuote(body, text) // of valid UTF-8
		return body, ""
	}, nil
}

func dateReader(argument string, a client.Attribute) (reader, error) {
	parse, expected := parseUsual, "a date such as 2024-12-31"
	if a.Format == string(model.DateTime) {
		expected = "a date-time such as 2024-12-31 10:00:00"
	}
	if argument != "" {
		l, err := newLayout(argument)
		if err != nil {
			return nil, err
		}
		parse, expected = l.parse, "of the layout "+argument+", such as "+l.format(time.Date(2024, time.December, 31, 10, 0, 0, 0, time.UTC))
	}
	return func(body []byte, text string) ([]byte, string) {
		at, ok := parse(strings.TrimSpace(text))
		if !ok {
			return nil, expected
		}
		return appendDated(body, at, a)
	}, nil
}

// appendDated appends a time as the format of an attribute has it. A date-time has milliseconds: further digits are cut off.
func appendDated(body []byte, at time.Time, a client.Attribute) ([]byte, string) {
	if a.Format == string(model.Date) {
		if at.Hour() != 0 || at.Minute() != 0 || at.Second() != 0 || at.Nanosecond() != 0 {
			return nil, "a date without a time, or midnight"
		}
		return at.AppendFormat(body, `"2006-01-02"`), ""
	}
	if year := at.UTC().Year(); year < 0 || year > 9999 {
		return nil, "a date-time whose year in UTC is between 0000 and 9999"
	}
	return append(model.AppendTime(append(body, '"'), at), '"'), ""
}

// sinceReader reads numbers since 1970 in units of a power of ten of a second.
func sinceReader(unit int) func(string, client.Attribute) (reader, error) {
	name := map[int]string{0: "seconds", -3: "milliseconds", -6: "microseconds"}[unit]
	example := "1735639200" + strings.Repeat("0", -unit)
	return func(_ string, a client.Attribute) (reader, error) {
		return func(body []byte, text string) ([]byte, string) {
			n, ok := parseNumeral(text, 0)
			if !ok {
				return nil, "a number of " + name + " since 1970, such as " + example
			}
			n.exponent += unit
			millis, ok := n.millis()
			if !ok {
				return nil, "a number of " + name + " between the years 0000 and 9999, such as " + example
			}
			return appendDated(body, time.UnixMilli(millis).UTC(), a)
		}, nil
	}
}

// The first and the last date-time there are, in milliseconds since 1970.
const (
	firstMilli = -62167219200000
	lastMilli  = 253402300799999
)

// millis is a number of seconds in milliseconds, without further digits: the millisecond that it is in.
func (n numeral) millis() (int64, bool) {
	exact, _ := new(big.Int).SetString(n.digits, 10)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n.exponent+3, -n.exponent-3))), nil)
	if n.negative {
		exact.Neg(exact)
	}
	if n.exponent+3 >= 0 {
		exact.Mul(exact, power)
	} else {
		exact.Div(exact, power) // towards the past, as the divisor is positive
	}
	return exact.Int64(), exact.IsInt64() && exact.Int64() >= firstMilli && exact.Int64() <= lastMilli
}

var errLayout = errors.New("a layout has %d, %m and %Y or %y, once each, and can have %H %M %S %f %I %p %b %B %a %A %e %z and %%, such as date:%d.%m.%Y")
