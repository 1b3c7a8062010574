package format

import (
	"strconv"
	"time"
)

// DateTime reads RFC 3339 strictly, in UTC. What it says of a wrong text fits after "must be".
func DateTime(text string) (when time.Time, problem string) {
	const expected = "a date-time such as 2026-11-14T09:30:00.123Z"
	if len(text) < len("2006-01-02T15:04:05Z") || (text[10] != 'T' && text[10] != 't') {
		return when, expected
	}
	fraction := ""
	rest := text[19:]
	if rest[0] == '.' {
		digits := 1
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if digits == 1 {
			return when, expected
		}
		if digits > 4 {
			return when, expected + " with at most three digits of a second's fraction"
		}
		fraction, rest = rest[:digits], rest[digits:]
	}
	if rest == "z" {
		rest = "Z"
	}
	// The sign is looked at because time.Parse takes ",1234Z" for a fraction.
	if rest != "Z" && (len(rest) != 6 || rest[0] != '+' && rest[0] != '-' || rest[1:3] > "23" || rest[4:6] > "59") {
		return when, expected
	}
	when, err := time.Parse(time.RFC3339, text[:10]+"T"+text[11:19]+rest)
	if err != nil {
		return when, expected
	}
	if fraction != "" {
		millis, _ := strconv.Atoi((fraction[1:] + "00")[:3])
		when = when.Add(time.Duration(millis) * time.Millisecond)
	}
	when = when.UTC()
	if when.Year() < 0 || when.Year() > 9999 {
		return when, expected + " whose year in UTC is between 0000 and 9999"
	}
	return when, ""
}
