package openapi

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// portablePattern is a regular expression of RE2 as JSON Schema has them, which is
// ECMAScript's with Unicode. It is not portable if it uses what only RE2 knows, or what
// both know and mean differently.
func portablePattern(pattern string) (portable string, ok bool) {
	var b strings.Builder
	inClass := false
	var before string // the escape that was last, if nothing is behind it
	for i := 0; i < len(pattern); i++ {
		c, next := pattern[i], byte(0)
		if i+1 < len(pattern) {
			next = pattern[i+1]
		}
		escape := before
		before = ""
		switch {
		case c == '\\':
			i++
			before = `\` + string(next)
			text, ok := portableEscape(next, inClass)
			if !ok {
				return "", false
			}
			if next == 'p' || next == 'P' {
				if i+1 == len(pattern) || pattern[i+1] != '{' {
					return "", false // \pL
				}
				end := strings.IndexByte(pattern[i:], '}')
				if text, ok = portableProperty(next == 'P', pattern[i+2:i+end]); !ok {
					return "", false
				}
				i += end
			}
			b.WriteString(text)
		case inClass && c == '-' && isSet(escape):
			b.WriteString(`\-`) // [\w-.] would be a range from \w on in ECMAScript
		case !inClass && strings.IndexByte("*+?{", c) >= 0 && (escape == `\b` || escape == `\B` || endsWithAnchor(pattern[:i])):
			return "", false // ECMAScript repeats no anchors
		case inClass && c == '[':
			return "", false // [[:alpha:]], or a bracket that ECMAScript wants escaped
		case inClass && c == ']' && !strings.HasSuffix(b.String(), "[") && !strings.HasSuffix(b.String(), "[^"):
			inClass = false
			b.WriteByte(c)
		case inClass && c == ']':
			return "", false // []a] begins with a bracket in RE2, and is empty in ECMAScript
		case inClass:
			b.WriteByte(c)
		case c == '[':
			inClass = true
			b.WriteByte(c)
		case c == '(' && next == '?' && !strings.HasPrefix(pattern[i:], "(?:"):
			return "", false // flags and names
		case c == '.':
			b.WriteString(`[^\n]`)
		case (c == '{' || c == '}') && !isRepeat(pattern, i):
			return "", false
		case c == ']':
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// portableEscape is what an escaped character is in both.
func portableEscape(c byte, inClass bool) (text string, ok bool) {
	switch {
	case strings.IndexByte(`^$\.*+?()[]{}|/`, c) >= 0, strings.IndexByte("dDwWbBtnrfvpP", c) >= 0 && (!inClass || c != 'b' && c != 'B'):
		return `\` + string(c), true
	case c == '-' && inClass:
		return `\-`, true
	case c == 's' && inClass:
		return `\t\n\f\r `, true
	case c == 's':
		return `[\t\n\f\r ]`, true // \s has more in ECMAScript
	case c == 'S' && !inClass:
		return `[^\t\n\f\r ]`, true
	case c < 0x80 && c > ' ' && !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)) && c != '-':
		return string(c), true // RE2 allows to escape any punctuation
	}
	return "", false
}

// isSet reports whether an escape stands for many characters.
func isSet(escape string) bool {
	return escape != "" && strings.Contains("dDwWsSpP", escape[1:])
}

func endsWithAnchor(pattern string) bool {
	before, found := strings.CutSuffix(pattern, "^")
	if !found {
		before, found = strings.CutSuffix(pattern, "$")
	}
	backslashes := len(before) - len(strings.TrimRight(before, `\`))
	return found && backslashes%2 == 0
}

// portableProperty is \p{name}, or \P{name} if it is negated. ECMAScript has the
// categories by the same names, and wants to be told what is a script.
func portableProperty(negated bool, name string) (text string, ok bool) {
	if positive, found := strings.CutPrefix(name, "^"); found {
		negated, name = !negated, positive
	}
	switch {
	case unicode.Categories[name] != nil:
	case unicode.Scripts[name] != nil:
		name = "Script=" + name
	default:
		return "", false
	}
	if negated {
		return `\P{` + name + "}", true
	}
	return `\p{` + name + "}", true
}

// isRepeat reports whether a brace is part of a{2,3}.
func isRepeat(pattern string, at int) bool {
	start := strings.LastIndexByte(pattern[:at+1], '{')
	if start < 1 {
		return false
	}
	length := strings.IndexByte(pattern[start:], '}')
	if length < 2 || start+length < at {
		return false
	}
	inside := pattern[start+1 : start+length]
	return inside[0] != ',' && strings.Trim(inside, "0123456789,") == "" && strings.Count(inside, ",") <= 1
}

// matching is a text that a regular expression matches, of some length at least if that is
// possible, or "" if none is found.
func matching(pattern string, length int) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	text := ""
	for times := 0; times <= max(length, 1); times++ { // of what can be repeated
		var b strings.Builder
		appendMatch(&b, tree, times)
		if text = b.String(); len(text) >= length && text != "" {
			break
		}
	}
	return text
}

func appendMatch(b *strings.Builder, tree *syntax.Regexp, times int) {
	repeat := func(low, high int) {
		count := max(low, times)
		if high >= 0 {
			count = min(count, high)
		}
		for range min(count, 1000) {
			appendMatch(b, tree.Sub[0], times)
		}
	}
	switch tree.Op {
	case syntax.OpLiteral:
		b.WriteString(string(tree.Rune))
	case syntax.OpCharClass:
		b.WriteRune(nice(tree.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture:
		appendMatch(b, tree.Sub[0], times)
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			appendMatch(b, sub, times)
		}
	case syntax.OpAlternate:
		appendMatch(b, tree.Sub[0], times)
	case syntax.OpStar:
		repeat(0, -1)
	case syntax.OpPlus:
		repeat(1, -1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(tree.Min, tree.Max)
	}
}

// nice is a character of a class that people can read, if it has one.
func nice(ranges []rune) rune {
	for _, wanted := range "aA1" {
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] <= wanted && wanted <= ranges[i+1] {
				return wanted
			}
		}
	}
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1] > ' ' {
			return max(ranges[i], '!')
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}
