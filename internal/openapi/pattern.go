package openapi

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// portable matches the regular expressions of RE2 that mean the same in JSON Schema, which has those of ECMAScript with
// Unicode. It knows what people use most, and takes nothing else: not the dot and \s, for example, which have other
// characters there. Those that are not portable are in the description.
var portable = func() *regexp.Regexp {
	const (
		escapes    = `\\(?:[\\^$.*+?()\[\]{}|/dDwWtnrfv]|[pP]\{[CLMNPSZ][a-z]?\})` // a category has the same name in both
		inClass    = `[^\\\[\]^-]`
		class      = `\[\^?-?(?:` + inClass + `-` + inClass + `|` + inClass + `|` + escapes + `|\\-)+-?\]`
		quantifier = `(?:(?:[*+?]|\{\d+(?:,\d*)?\})\??)?`
		group      = `\((?:\?:)?|\)` + quantifier
		literal    = `[^\\^$.*+?()\[\]{}|]`
	)
	return regexp.MustCompile(`^(?:(?:` + literal + `|` + escapes + `|` + class + `)` + quantifier + `|` + group + `|[|^$])*$`)
}()

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
