package auth

import (
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"

	"github.com/plural-go/plural/schema"
)

// cel-go speaks of tokens, overloads and wrappers. Whoever writes a rule thinks of attributes and
// values, and is told in these terms; what is not known here is told as cel-go has it.

// reported is what cel-go reports of a rule. Of mistakes in the grammar that is the first: the
// others follow from it.
func (k *compiler) reported(source schema.Rule, at []string, issues *cel.Issues) (problems schema.Problems) {
	for _, issue := range issues.Errors() {
		message, _, _ := strings.Cut(issue.Message, "\n")
		text, isSyntax := strings.CutPrefix(message, "Syntax error: ")
		if isSyntax {
			message = grammar(source.Text, text)
		} else {
			message = k.meaning(source.Text, issue.Location, message)
		}
		problems = append(problems, problemIn(source, at, issue.Location.Line(), max(issue.Location.Column(), 0), message))
		if isSyntax {
			break
		}
	}
	return problems
}

var (
	unreadable = regexp.MustCompile(`^token recognition error at: '(.*)'$`)
	unexpected = regexp.MustCompile(`^(?:mismatched|extraneous) input '(.*)' expecting (.*)$`)
	missing    = regexp.MustCompile(`^missing '(.*)' at '.*'$`)
	unviable   = regexp.MustCompile(`^no viable alternative at input '(.*)'$`)
)

// instead is what is meant by what CEL does not have.
var instead = map[string]string{
	"=": "==", "&": "&&", "|": "||", "and": "&&", "AND": "&&", "or": "||", "OR": "||", "not": "!", "NOT": "!", "is": "==", "IS": "==", "IN": "in", "<>": "!=", "~": "matches",
}

// grammar says what is wrong with the grammar of a rule.
func grammar(rule, said string) string {
	if strings.TrimSpace(rule) == "" {
		return "the rule is empty: write true if there is none"
	}
	if match := unreadable.FindStringSubmatch(said); match != nil {
		symbol := strings.TrimSpace(match[1])
		if symbol != "" && strings.ContainsRune(`'"`, rune(symbol[0])) {
			return "this text has no end: a " + symbol[:1] + " is missing"
		}
		return notKnown(symbol)
	}
	if match := unexpected.FindStringSubmatch(said); match != nil {
		switch symbol, expected := match[1], match[2]; {
		case instead[symbol] != "":
			return notKnown(symbol)
		case symbol == "<EOF>":
			return "the rule ends here, where something is missing"
		case expected == "<EOF>":
			return symbol + " is too much: the rule is complete before it, and what is to be added is joined by && or ||"
		default:
			return symbol + " cannot stand here"
		}
	}
	if match := missing.FindStringSubmatch(said); match != nil {
		return "a " + match[1] + " is missing here"
	}
	if match := unviable.FindStringSubmatch(said); match != nil {
		return match[1] + " cannot stand here"
	}
	return said
}

func notKnown(symbol string) string {
	if use := instead[symbol]; use != "" {
		return "there is no " + symbol + " in rules: use " + use
	}
	return "there is no " + symbol + " in rules"
}

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '(.*)' \(in container ''\)$`)
	mismatched = regexp.MustCompile(`^found no matching overload for '(.*)' applied to '(.*\.)?\((.*)\)'$`)
	mistyped   = regexp.MustCompile(`^expected type '(.*)' but found '(.*)'$`)
	fieldless  = regexp.MustCompile(`^type '(.*)' does not support field selection$`)
)

// meaning says what is wrong with the names and types of a rule.
func (k *compiler) meaning(rule string, where common.Location, said string) string {
	if match := undeclared.FindStringSubmatch(said); match != nil {
		return k.noSuchName(match[1], isCalled(rule, where))
	}
	if match := mismatched.FindStringSubmatch(said); match != nil {
		types := match[3]
		if match[2] != "" { // what it is a method of
			types = strings.TrimSuffix(match[2], ".") + ", " + types
		}
		hint := ""
		if strings.Contains(types, "timestamp") && strings.Contains(types, "string") {
			hint = ": a time is written timestamp('2026-12-01T00:00:00Z')"
		}
		return strings.Trim(match[1], "_@") + " cannot be used with " + typeNames(types) + hint
	}
	if match := mistyped.FindStringSubmatch(said); match != nil {
		return "this must be " + typeNames(match[1]) + ", but is " + typeNames(match[2])
	}
	if match := fieldless.FindStringSubmatch(said); match != nil {
		return typeNames(match[1]) + " has no members"
	}
	return said
}

func (k *compiler) noSuchName(name string, called bool) string {
	switch {
	case called:
		return "there is no function " + name
	case name == resourceName:
		return "resource cannot be looked at as a whole: its attributes are written as in resource.id"
	case name == "auth":
		return "auth cannot be looked at as a whole: there are auth.sub, auth.role and auth.claims"
	case k.collection.Field(name) != nil:
		return "there is no " + name + " by itself: attributes are written as in resource." + name
	}
	return "there is no " + name + ": a rule knows resource and auth"
}

// isCalled reports whether a name that is looked for is that of a function: cel-go then
// points at what is behind it.
func isCalled(rule string, where common.Location) bool {
	lines := strings.Split(rule, "\n")
	if where.Line() < 1 || where.Line() > len(lines) {
		return false
	}
	line := []rune(lines[where.Line()-1])
	return where.Column() >= 0 && where.Column() < len(line) && line[where.Column()] == '('
}

// kinds is what types are called, of one and of many.
var kinds = map[string][2]string{
	"string": {"a string", "strings"}, "int": {"an integer", "integers"}, "uint": {"an unsigned integer", "unsigned integers"}, "double": {"a number", "numbers"}, "bool": {"a boolean", "booleans"},
	"timestamp": {"a timestamp", "timestamps"}, "duration": {"a duration", "durations"}, "null_type": {"null", "nulls"}, "bytes": {"bytes", "bytes"}, "dyn": {"something", "anything"},
}

var compound = regexp.MustCompile(`^(list|map|wrapper)\((.*)\)$`)

// typeNames is what types are called, of which there can be several.
func typeNames(types string) string {
	var names []string
	for _, each := range splitTypes(types) {
		names = append(names, typeName(each, 0))
	}
	return strings.Join(names, " and ")
}

func typeName(name string, number int) string {
	match := compound.FindStringSubmatch(name)
	switch {
	case match == nil:
		if known, ok := kinds[name]; ok {
			return known[number]
		}
		return name
	case match[1] == "wrapper": // which can also be null
		return typeName(match[2], number)
	case match[1] == "map":
		return [2]string{"a map", "maps"}[number]
	}
	return [2]string{"a list of ", "lists of "}[number] + typeName(match[2], 1)
}

// splitTypes splits at the commas that are not within a type.
func splitTypes(types string) (all []string) {
	depth, start := 0, 0
	for i, c := range types {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				all = append(all, strings.TrimSpace(types[start:i]))
				start = i + 1
			}
		}
	}
	return append(all, strings.TrimSpace(types[start:]))
}
