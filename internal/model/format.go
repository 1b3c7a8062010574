package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/format"
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
func parseFormat(of Format, text string) (value Value, problem string) {
	switch of {
	case UUID:
		id, ok := ParseID(text)
		if !ok {
			return Null, "a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab"
		}
		return IDValue(id), ""
	case DateTime:
		when, problem := format.DateTime(text)
		if problem != "" {
			return Null, problem
		}
		return TimeValue(FormatTime(when)), ""
	case Date:
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return Null, "a date such as 2026-11-14"
		}
	case Email:
		if !format.IsEmail(text) {
			return Null, "an email address such as ada@example.com"
		}
	case URI:
		if !format.IsURI(text) {
			return Null, "an absolute URI such as https://example.com/a"
		}
	}
	return TextValue(text), ""
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
		n, problem := format.Integer(text)
		if problem != format.Fits {
			return Null, "an integer of at most 64 bits"
		}
		return IntValue(n), ""
	case KindNumber:
		f, problem := format.Number(text)
		if !isNumber(text) || problem != format.Fits {
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
