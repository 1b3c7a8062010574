package move

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layout is how a date, with or without a time, is written, in the notation of strptime.
type layout string

// directives are the parts of a layout that can be read, by their letter, and which part of a time each is.
var directives = map[byte]byte{
	'Y': 'Y', 'y': 'Y', 'm': 'm', 'b': 'm', 'B': 'm', 'd': 'd', 'e': 'd', 'a': 'a', 'A': 'a',
	'H': 'H', 'I': 'H', 'M': 'M', 'S': 'S', 'f': 'f', 'p': 'p', 'z': 'z', '%': 0,
}

// newLayout checks a layout: it says which day is meant, and nothing twice.
func newLayout(text string) (layout, error) {
	given, twelve := map[byte]bool{}, false
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			continue
		}
		i++
		if i == len(text) {
			return "", errLayout
		}
		part, ok := directives[text[i]]
		if !ok || part != 0 && given[part] {
			return "", fmt.Errorf("%%%c cannot be used there: %w", text[i], errLayout)
		}
		given[part] = true
		twelve = twelve || text[i] == 'I'
	}
	switch {
	case !given['Y'] || !given['m'] || !given['d']:
		return "", errLayout
	case twelve != given['p']:
		return "", fmt.Errorf("%%I and %%p belong together, as in %%I:%%M %%p: %%H are the hours up to 23")
	case given['M'] && !given['H'] || given['S'] && !given['M'] || given['f'] && !given['S']:
		return "", fmt.Errorf("a time needs all parts before its last one, as in %%H:%%M:%%S")
	}
	return layout(text), nil
}

// parse reads a time. Without a zone it is in UTC.
func (l layout) parse(text string) (time.Time, bool) {
	s := scan{rest: text, month: 1, day: 1, zone: time.UTC}
	for i := 0; i < len(l) && !s.failed; i++ {
		switch {
		case l[i] == '%':
			i++
			s.directive(l[i])
		case l[i] == ' ':
			s.rest = strings.TrimLeft(s.rest, " ")
		default:
			s.literal(string(l[i]))
		}
	}
	return s.time()
}

// format writes a time, as an example.
func (l layout) format(at time.Time) string {
	goLayouts := map[byte]string{'Y': "2006", 'y': "06", 'm': "01", 'b': "Jan", 'B': "January", 'd': "02", 'e': "2", 'a': "Mon", 'A': "Monday",
		'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'z': "-0700"}
	var b strings.Builder
	for i := 0; i < len(l); i++ {
		if l[i] != '%' {
			b.WriteByte(l[i])
			continue
		}
		i++
		switch l[i] {
		case '%':
			b.WriteByte('%')
		case 'f':
			fmt.Fprintf(&b, "%06d", at.Nanosecond()/1000)
		default:
			b.WriteString(at.Format(goLayouts[l[i]]))
		}
	}
	return b.String()
}

// scan is a text of which parts of a time are read.
type scan struct {
	rest                     string
	failed                   bool
	year, month, day         int
	hour, minute, second, ns int
	half                     string // AM or PM
	zone                     *time.Location
}

// literal removes a text, which must be there.
func (s *scan) literal(text string) { s.failed = !s.next(text) || s.failed }

// next removes a text, if it is there.
func (s *scan) next(text string) bool {
	rest, ok := strings.CutPrefix(s.rest, text)
	s.rest = rest
	return ok
}

// number reads digits.
func (s *scan) number(least, most int) int {
	n := 0
	for n < len(s.rest) && n < most && s.rest[n] >= '0' && s.rest[n] <= '9' {
		n++
	}
	if n < least {
		s.failed = true
		return 0
	}
	value, _ := strconv.Atoi(s.rest[:n]) // which are few digits
	s.rest = s.rest[n:]
	return value
}

// name reads a name of a list, or its first three letters, in any case, and returns its place.
func (s *scan) name(names func(int) string, count int) int {
	for i := range count {
		for _, name := range []string{names(i), names(i)[:3]} {
			if len(s.rest) >= len(name) && strings.EqualFold(s.rest[:len(name)], name) {
				s.rest = s.rest[len(name):]
				return i
			}
		}
	}
	s.failed = true
	return 0
}

// century is where the years of two digits begin, as POSIX has it.
const century = 69

func (s *scan) directive(letter byte) {
	switch letter {
	case 'Y':
		s.year = s.number(4, 4)
	case 'y':
		s.year = s.number(2, 2) + 1900
		if s.year < 1900+century {
			s.year += 100
		}
	case 'm':
		s.month = s.number(1, 2)
	case 'b', 'B':
		s.month = 1 + s.name(func(i int) string { return time.Month(i + 1).String() }, 12)
	case 'e':
		s.rest = strings.TrimLeft(s.rest, " ")
		s.day = s.number(1, 2)
	case 'd':
		s.day = s.number(1, 2)
	case 'a', 'A':
		s.name(func(i int) string { return time.Weekday(i).String() }, 7)
	case 'H':
		s.hour = s.number(1, 2)
	case 'I':
		s.hour = s.number(1, 2)
		s.failed = s.failed || s.hour < 1 || s.hour > 12
	case 'M':
		s.minute = s.number(1, 2)
	case 'S':
		s.second = s.number(1, 2)
	case 'f':
		s.fraction()
	case 'p':
		s.half = strings.ToUpper(s.rest[:min(2, len(s.rest))])
		s.rest = s.rest[len(s.half):]
		s.failed = s.failed || s.half != "AM" && s.half != "PM"
	case 'z':
		s.offset()
	case '%':
		s.literal("%")
	}
}

// fraction reads one to nine digits of a second.
func (s *scan) fraction() {
	before := len(s.rest)
	s.ns = s.number(1, 9)
	for range 9 - (before - len(s.rest)) {
		s.ns *= 10
	}
}

// offset reads a zone: Z, UTC, GMT, or an offset such as +01, +0100 or +01:00.
func (s *scan) offset() {
	for _, name := range []string{"Z", "z", "UTC", "GMT"} {
		if s.next(name) {
			return
		}
	}
	sign := 1
	if s.next("-") {
		sign = -1
	} else {
		s.literal("+")
	}
	hours, minutes := s.number(2, 2), 0
	if s.next(":") || s.rest != "" && s.rest[0] >= '0' && s.rest[0] <= '9' {
		minutes = s.number(2, 2)
	}
	s.failed = s.failed || hours > 23 || minutes > 59
	s.zone = time.FixedZone("", sign*(hours*60+minutes)*60)
}

// time is the time that was read. False: something was wrong with it, or followed it.
func (s *scan) time() (time.Time, bool) {
	switch {
	case s.half == "AM" && s.hour == 12:
		s.hour = 0
	case s.half == "PM" && s.hour < 12:
		s.hour += 12
	}
	if s.failed || s.rest != "" || s.hour > 23 || s.minute > 59 || s.second > 59 {
		return time.Time{}, false
	}
	at := time.Date(s.year, time.Month(s.month), s.day, s.hour, s.minute, s.second, s.ns, s.zone)
	return at, at.Year() == s.year && at.Month() == time.Month(s.month) && at.Day() == s.day
}

// parseUsual reads a time as most programs write it: the forms of ISO 8601, also with slashes, and a space before the time.
func parseUsual(text string) (time.Time, bool) {
	s := scan{rest: text, zone: time.UTC}
	s.directive('Y')
	separator, digits := "", 2
	if strings.HasPrefix(s.rest, "-") || strings.HasPrefix(s.rest, "/") {
		separator, digits = s.rest[:1], 1
	}
	s.literal(separator)
	s.month = s.number(digits, 2)
	s.literal(separator)
	s.day = s.number(digits, 2)
	if !s.failed && (s.next("T") || s.next("t") || s.next(" ")) {
		s.directive('H')
		s.literal(":")
		s.minute = s.number(2, 2)
		if s.next(":") {
			s.second = s.number(2, 2)
			if s.next(".") || s.next(",") {
				s.fraction()
			}
		}
		if s.rest = strings.TrimLeft(s.rest, " "); s.rest != "" {
			s.offset()
		}
	}
	return s.time()
}
