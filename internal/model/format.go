package model

import (
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/suggest"
)

// FormatTime is the one form of a timestamp: RFC 3339 in UTC, fixed width,
// with milliseconds. Texts of this form sort as the times do.
func FormatTime(t time.Time) string {
	var buffer [len("2006-01-02T15:04:05.000Z")]byte
	return string(AppendTime(buffer[:0], t))
}

// AppendTime appends what FormatTime gives. Package time would interpret the layout again for each value, which was a
// tenth of the time of a list.
func AppendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	}
	hour, minute, second := t.Clock()
	dst = append(appendDigits(dst, year, 4), '-')
	dst = append(appendDigits(dst, int(month), 2), '-')
	dst = append(appendDigits(dst, day, 2), 'T')
	dst = append(appendDigits(dst, hour, 2), ':')
	dst = append(appendDigits(dst, minute, 2), ':')
	dst = append(appendDigits(dst, second, 2), '.')
	return append(appendDigits(dst, t.Nanosecond()/int(time.Millisecond), 3), 'Z')
}

// appendDigits appends a number with leading zeros.
func appendDigits(dst []byte, value, width int) []byte {
	var digits [4]byte
	for i := width - 1; i >= 0; i-- {
		digits[i] = '0' + byte(value%10)
		value /= 10
	}
	return append(dst, digits[:width]...)
}

// parseFormat reads a string of a format. What it says of a wrong one fits
// after "must be".
func parseFormat(format Format, text string) (value Value, problem string) {
	switch format {
	case UUID:
		id, ok := ParseID(text)
		if !ok {
			return Null, "a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab"
		}
		return IDValue(id), ""
	case DateTime:
		when, problem := parseDateTime(text)
		if problem != "" {
			return Null, problem
		}
		return TimeValue(when), ""
	case Date:
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return Null, "a date such as 2026-11-14"
		}
	case Email:
		if !isEmail(text) {
			return Null, "an email address such as ada@example.com"
		}
	case URI:
		if !isURI(text) {
			return Null, "an absolute URI such as https://example.com/a"
		}
	}
	return TextValue(text), ""
}

// parseDateTime reads RFC 3339 strictly and gives it in the form of FormatTime.
func parseDateTime(text string) (formatted, problem string) {
	const expected = "a date-time such as 2026-11-14T09:30:00.123Z"
	if len(text) < len("2006-01-02T15:04:05Z") || (text[10] != 'T' && text[10] != 't') {
		return "", expected
	}
	fraction := ""
	rest := text[19:]
	if rest[0] == '.' {
		digits := 1
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if digits == 1 {
			return "", expected
		}
		if digits > 4 {
			return "", expected + " with at most three digits of a second's fraction"
		}
		fraction, rest = rest[:digits], rest[digits:]
	}
	if rest == "z" {
		rest = "Z"
	}
	// The sign is looked at because time.Parse takes ",1234Z" for a fraction.
	if rest != "Z" && (len(rest) != 6 || rest[0] != '+' && rest[0] != '-' || rest[1:3] > "23" || rest[4:6] > "59") {
		return "", expected
	}
	when, err := time.Parse(time.RFC3339, text[:10]+"T"+text[11:19]+rest)
	if err != nil {
		return "", expected
	}
	if fraction != "" {
		millis, _ := strconv.Atoi((fraction[1:] + "00")[:3])
		when = when.Add(time.Duration(millis) * time.Millisecond)
	}
	when = when.UTC()
	if when.Year() < 0 || when.Year() > 9999 {
		return "", expected + " whose year in UTC is between 0000 and 9999"
	}
	return FormatTime(when), ""
}

// MaxEmail is the length of the longest address that mail can be sent to.
const MaxEmail = 254

// isEmail accepts the addresses of RFC 5321: local part, @, domain.
func isEmail(text string) bool {
	at := strings.LastIndexByte(text, '@')
	if at < 1 || at > 64 || len(text) > MaxEmail {
		return false
	}
	return isLocalPart(text[:at]) && isMailDomain(text[at+1:])
}

func isLocalPart(text string) bool {
	if len(text) > 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return isQuotedLocalPart(text[1 : len(text)-1])
	}
	for atom := range strings.SplitSeq(text, ".") {
		if atom == "" {
			return false
		}
		for i := range len(atom) {
			if !isAlphanumeric(atom[i]) && strings.IndexByte("!#$%&'*+-/=?^_`{|}~", atom[i]) < 0 {
				return false
			}
		}
	}
	return true
}

func isQuotedLocalPart(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
			if i == len(text) {
				return false
			}
		} else if text[i] == '"' {
			return false
		}
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

func isMailDomain(text string) bool {
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		address := text[1 : len(text)-1]
		address, v6 := strings.CutPrefix(address, "IPv6:")
		ip, err := netip.ParseAddr(address)
		return err == nil && ip.Is6() == v6 && ip.Zone() == ""
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if !isAlphanumeric(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isURI accepts the absolute URIs of RFC 3986: a scheme, and only the
// characters that a URI may have.
func isURI(text string) bool {
	for i := range len(text) {
		if !isAlphanumeric(text[i]) && strings.IndexByte("-._~:/?#[]@!$&'()*+,;=%", text[i]) < 0 {
			return false
		}
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme == "" || strings.Count(text, "#") > 1 {
		return false
	}
	// url.Parse leaves the query, and what follows the scheme of a urn, as they are.
	_, err = url.PathUnescape(text)
	return err == nil && len(text) > len(parsed.Scheme)+1
}

// parseNumber reads a JSON number that must be a double. One that is too large, or too
// small to be told from zero, is none. One with more digits than the double has is
// imprecise: it would not come back as it was sent.
func parseNumber(text string) (float64, numberProblem) {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return 0, tooLarge
	case f == 0:
		mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
		if strings.ContainsAny(mantissa, "123456789") {
			return 0, tooLarge
		}
		return 0, noProblem
	// Any 15 digits are exact, unless the number is among the smallest there are.
	case (len(text) > 15 || math.Abs(f) < 0x1p-1022) && decimalOf(text) != decimalOf(string(appendFloat(nil, f))):
		return 0, imprecise
	}
	return f, noProblem
}

type numberProblem int

const (
	noProblem numberProblem = iota
	fractional
	tooLarge
	imprecise
)

// parseInteger reads a JSON number that must be an int64. 1.0 and 1e3 are
// integers; nothing is rounded, and no exponent is too large to be judged.
func parseInteger(text string) (int64, numberProblem) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, noProblem
	}
	d := decimalOf(text)
	switch {
	case d.exponent < 0:
		return 0, fractional
	case len(d.digits)+d.exponent > 19:
		return 0, tooLarge
	}
	n, fits := d.units(d.exponent)
	if !fits {
		return 0, tooLarge
	}
	return n, noProblem
}

// Parse reads the text of a filter value. What it says of a wrong one fits
// after "must be".
func (k Kind) Parse(text string) (value Value, problem string) {
	if k.IsDecimal() {
		n, problem := k.parseDecimal(text)
		if problem != decimalFits {
			return Null, fmt.Sprintf("a decimal such as %s, with at most %s after the point and at most %d in all", k.decimalExample(), suggest.Counted(k.Scale(), "digit"), MaxDecimalDigits)
		}
		return IntValue(n), ""
	}
	switch k {
	case KindBoolean:
		if text != "true" && text != "false" {
			return Null, "true or false"
		}
		return BoolValue(text == "true"), ""
	case KindInteger:
		if !isNumber(text) {
			return Null, "an integer"
		}
		n, problem := parseInteger(text)
		if problem != noProblem {
			return Null, "an integer of at most 64 bits"
		}
		return IntValue(n), ""
	case KindNumber:
		f, problem := parseNumber(text)
		if !isNumber(text) || problem != noProblem {
			return Null, "a number that a double can hold with all its digits"
		}
		return FloatValue(f), ""
	case KindUUID:
		return parseFormat(UUID, text)
	case KindDate:
		return parseFormat(Date, text)
	case KindDateTime:
		return parseFormat(DateTime, text)
	default:
		return TextValue(text), ""
	}
}

// isNumber reports whether a text is a JSON number: strconv alone would also
// take hexadecimal digits, infinities and underscores.
func isNumber(text string) bool {
	value := jsontext.Value(text)
	return value.IsValid() && value.Kind() == '0' && strings.TrimSpace(text) == text
}
