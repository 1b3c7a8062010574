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

// maxNumber bounds the digits of a number and its exponent: no attribute has as many.
const maxNumber = 400

// signs are those of numbers, as others write them.
var signs = map[string]string{"": "", "+": "", "-": "-", "−": "-"}

// parseNumber reads a number, and rounds nothing. With a mark, which is a point or a comma, digits before it can be in groups of
// three with the other one, spaces or apostrophes between them.
func parseNumber(text, mark string) (n *big.Rat, ok bool) {
	point, separators := ".", ""
	if mark != "" {
		point, separators = mark, " \u00a0\u202f'’"+map[string]string{".": ",", ",": "."}[mark]
	}
	text = strings.TrimSpace(text)
	unsigned := strings.TrimLeft(text, "+-−")
	sign, ok := signs[text[:len(text)-len(unsigned)]]
	mantissa, power, scientific := strings.Cut(strings.ToLower(unsigned), "e")
	if !scientific {
		power = "0"
	}
	exponent, err := strconv.Atoi(power)
	if !ok || err != nil || exponent < -maxNumber || exponent > maxNumber {
		return nil, false
	}
	whole, fraction, _ := strings.Cut(mantissa, point)
	whole, ok = joined(whole, separators)
	if digits := whole + fraction; !ok || digits == "" || !areDigits(digits) || len(digits) > maxNumber {
		return nil, false
	}
	return new(big.Rat).SetString(sign + whole + "." + fraction + "e" + power)
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

func numberReader(mark string, a client.Attribute) (reader, error) {
	expected, ok := map[string]string{
		"":  "a number such as 1234.5",
		",": "a number with a decimal comma, such as 1234,5 or 1.234,5",
		".": "a number with a decimal point, such as 1234.5 or 1,234.5",
	}[mark]
	if !ok {
		return nil, fmt.Errorf("write %[1]s=number:, for a decimal comma, or %[1]s=number:. for a decimal point", a.Name)
	}
	quote := ""
	if a.Type == "string" {
		quote = `"`
	}
	return func(body []byte, text string) ([]byte, string) {
		n, ok := parseNumber(text, mark)
		if !ok {
			return nil, expected
		}
		places, _ := n.FloatPrec() // exact, as it was read from decimal digits
		return append(body, quote+n.FloatString(places)+quote...), ""
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

// The first and the last date-time there are, in milliseconds since 1970.
const (
	firstMilli = -62167219200000
	lastMilli  = 253402300799999
)

// sinceReader reads numbers of units since 1970. Less than a millisecond is left out: the result is the millisecond that a time is in.
func sinceReader(units string, perSecond int64) func(string, client.Attribute) (reader, error) {
	example := strconv.FormatInt(1735639200*perSecond, 10)
	return func(_ string, a client.Attribute) (reader, error) {
		return func(body []byte, text string) ([]byte, string) {
			n, ok := parseNumber(text, "")
			if !ok {
				return nil, "a number of " + units + " since 1970, such as " + example
			}
			n.Mul(n, big.NewRat(1000, perSecond))
			millis := new(big.Int).Div(n.Num(), n.Denom()) // towards the past, as the denominator is positive
			if !millis.IsInt64() || millis.Int64() < firstMilli || millis.Int64() > lastMilli {
				return nil, "a number of " + units + " between the years 0000 and 9999, such as " + example
			}
			return appendDated(body, time.UnixMilli(millis.Int64()).UTC(), a)
		}, nil
	}
}

var errLayout = errors.New("a layout has %d, %m and %Y or %y, once each, and can have %H %M %S %f %I %p %b %B %a %A %e %z and %%, such as date:%d.%m.%Y")
