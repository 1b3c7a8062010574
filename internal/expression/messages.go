package expression

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// otherOperators are operators of other languages, and what to write instead.
var otherOperators = map[string]string{
	"and": "&&", "or": "||", "not": "!", "xor": "!=", "is": "== or !=", "=": "==", "<>": "!=", "===": "==", "!==": "!=", "like": "contains(), startsWith(), endsWith() or matches()",
	"between": ">= and <= with &&, such as resource.a >= 1 && resource.a <= 5", "then": "CONDITION ? VALUE : OTHER", "when": "CONDITION ? VALUE : OTHER",
	"if": "CONDITION ? VALUE : OTHER", "case": "CONDITION ? VALUE : OTHER", "&": "&&", "|": "||", "~": "matches()", "=~": "matches()", "!~": "! and matches()",
	"??": "resource.a != null ? resource.a : resource.b", "@": "resource., previous. or auth.", "$": "resource., previous. or auth.",
}

// otherNames are names and functions of other languages, and what to write instead.
var otherNames = map[string]string{
	"null": "null in lower case", "nil": "null", "none": "null", "undefined": "null", "true": "true in lower case", "false": "false in lower case",
	"not": "!, such as !resource.done", "now": "now without brackets, which is the time of the write", "current_timestamp": "now", "getdate": "now", "sysdate": "now",
	"today": today, "current_date": today, "curdate": today, "datediff": days, "date_diff": days, "days": days,
	"coalesce": "resource.a != null ? resource.a : resource.b", "ifnull": "resource.a != null ? resource.a : resource.b", "nvl": "resource.a != null ? resource.a : resource.b",
	"isnull": "== null", "nullif": "CONDITION ? null : VALUE", "if": "CONDITION ? VALUE : OTHER", "iif": "CONDITION ? VALUE : OTHER",
	"length": "size()", "len": "size()", "char_length": "size()", "strlen": "size()", "count": "size()", "concat": "+", "regexp_like": "matches()", "regexp": "matches()", "regex": "matches()", "match": "matches()", "test": "matches()", "like": "contains() or matches()",
	"includes": "contains()", "indexof": "contains()", "split": "contains(), startsWith(), endsWith() or matches()",
	"substring": "matches() to test a part of a text", "substr": "matches() to test a part of a text", "left": "startsWith() to test the start of a text", "cast": "int(), double() or string()", "to_date": "timestamp()", "datetime": "timestamp()", "date": "timestamp(resource.day) for its start in UTC, or compare the date itself, as in resource.day > '2026-12-01'",
	"year": "resource.at.getFullYear()", "month": "resource.at.getMonth() + 1", "day": "resource.at.getDate()", "extract": "resource.at.getFullYear() and the like", "interval": "duration('24h')",
	"user": "auth.sub", "current_user": "auth.sub", "role": "auth.role", "this": "resource", "self": "resource", "new": "resource", "old": "previous",
	"bool": "the comparison itself", "decimal": "the number itself, such as 0.19",
}

// How an expression computes with dates.
const (
	today = "timestamp(resource.day) + duration('24h') > now, if the day is not in the past (UTC)"
	days  = "timestamp(resource.to) - timestamp(resource.from) <= duration('720h') for at most 30 days"
)

// noFunction are functions of other languages that have no equivalent.
var noFunction = map[string]string{
	"lower": ignoreCase, "upper": ignoreCase, "lowerascii": ignoreCase, "upperascii": ignoreCase, "tolowercase": ignoreCase, "touppercase": ignoreCase, "lowercase": ignoreCase, "uppercase": ignoreCase,
	"trim": "write a pattern in the attribute instead", "round": "declare a scale that holds all digits", "ceil": "declare a scale that holds all digits", "floor": "int() cuts off the fraction of a number", "abs": "resource.a < 0 ? -resource.a : resource.a",
	"sum": "a rule reads one resource only", "max": "resource.a > resource.b ? resource.a : resource.b", "min": "resource.a < resource.b ? resource.a : resource.b",
	"greatest": "resource.a > resource.b ? resource.a : resource.b", "least": "resource.a < resource.b ? resource.a : resource.b",
	"select": "a rule reads one resource only", "exists": "a rule reads one resource only",
}

const ignoreCase = "(?i) in a pattern ignores the case: resource.name.matches('(?i)^abc$')"

const language = " (expressions are written in CEL, with ==, !=, <, in, &&, || and !)"

// syntax is the problem with what cel-go cannot parse.
func (e *Expression) syntax(issue *cel.Error) []Problem {
	message, _, _ := strings.Cut(issue.Message, "\n")
	line, column := issue.Location.Line(), max(issue.Location.Column(), 0)
	for _, word := range e.wordsAt(line, column) {
		if instead := otherOperators[strings.ToLower(word)]; instead != "" {
			return []Problem{e.at(line, column, "write "+instead+" instead of "+word+language)}
		}
	}
	token, unknown := strings.CutPrefix(message, "Syntax error: token recognition error at: '")
	switch {
	case unknown && strings.ContainsAny(token[:1], `'"`) && strings.Contains(token, `\`):
		message = `a \ in a text must be written twice, or r in front of the quotes, as in r'\.com$'`
	case unknown && strings.ContainsAny(token[:1], `'"`):
		message = "this text has no end: close the quotes"
	case strings.HasPrefix(message, "Syntax error: mismatched input ',' expecting ')'"):
		message = "there can be no , here: a list has brackets, as in resource.a in ['x', 'y']"
	}
	return []Problem{e.at(line, column, message+language)}
}

// wordsAt are the word or sign at a place and the one in front of it.
func (e *Expression) wordsAt(line, column int) (words []string) {
	lines := strings.Split(e.Text, "\n")
	if line < 1 || line > len(lines) {
		return nil
	}
	runes := []rune(lines[line-1])
	at, where := 0, -1
	var all []string
	for at < len(runes) {
		start, kind := at, classOf(runes[at])
		for at < len(runes) && classOf(runes[at]) == kind {
			at++
		}
		if kind == space {
			continue
		}
		all = append(all, string(runes[start:at]))
		if where < 0 && at > column {
			where = len(all) - 1
		}
	}
	if where < 0 {
		where = len(all) - 1
	}
	for _, i := range []int{where, where - 1} {
		if i >= 0 && i < len(all) {
			words = append(words, all[i])
		}
	}
	return words
}

const (
	space = iota
	letter
	sign
	other
)

func classOf(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return space
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return letter
	case strings.ContainsRune("=<>!&|~?", r):
		return sign
	}
	return other
}

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	noOverload = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
	expected   = regexp.MustCompile(`^expected type '(.*)' but found '(.*)'$`)
	noMember   = regexp.MustCompile(`^type '(.*)' does not support field selection$`)
	wrapper    = regexp.MustCompile(`wrapper\((\w+)\)`)
)

// mistyped is the problems that cel-go finds with names and types.
func (e *Expression) mistyped(issues []*cel.Error) (problems []Problem) {
	for _, issue := range issues {
		message, _, _ := strings.Cut(issue.Message, "\n")
		switch {
		case undeclared.MatchString(message):
			message = e.undeclaredName(undeclared.FindStringSubmatch(message)[1])
		case noOverload.MatchString(message):
			found := noOverload.FindStringSubmatch(message)
			message = mismatch(found[1], plainTypes(found[2]), e.Scope.Data)
		case expected.MatchString(message):
			found := expected.FindStringSubmatch(message)
			message = "this must be " + suggest.Article(plainTypes(found[1])) + ", but is " + suggest.Article(plainTypes(found[2]))
			if strings.HasSuffix(message, "a string") && strings.Contains(e.Text, "||") {
				message += ": texts are joined by +"
			}
		case noMember.MatchString(message):
			message = "this is " + suggest.Article(plainTypes(noMember.FindStringSubmatch(message)[1])) + ", which has no members"
		}
		problem := e.at(issue.Location.Line(), max(issue.Location.Column(), 0), message)
		if !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	}
	return problems
}

// undeclaredName says what to write instead of an unknown name.
func (e *Expression) undeclaredName(name string) string {
	word := strings.ToLower(name)
	switch {
	case e.Scope.Collection.Field(name) != nil:
		return name + " is not known: write resource." + name
	case name == resourceName:
		return "resource cannot be used as a whole: use an attribute of it, as in resource.ATTRIBUTE"
	case name == "auth":
		return "auth cannot be used as a whole: use auth.sub, auth.role or auth.claims.NAME"
	case !e.Scope.Data && (name == previousName || name == nowName):
		return name + " is not known in a rule of access: only checks and computed attributes have it"
	case noFunction[word] != "":
		return "there is no function " + name + ": " + noFunction[word]
	case otherNames[word] != "":
		return name + " is not known: write " + otherNames[word]
	}
	known := []string{resourceName, "auth"}
	if e.Scope.Data {
		known = append(known, previousName, nowName)
	}
	message := name + " is not known" + suggest.DidYouMean(name, append(known, functionNames...))
	if near := suggest.Nearest(name, e.usableNames(e.Scope.Collection)); near != "" && !strings.Contains(message, "did you mean") {
		message += " (did you mean resource." + near + "?)"
	}
	if strings.Contains(message, "did you mean") {
		return message
	}
	names := "resource.ATTRIBUTE, auth.sub, auth.role and auth.claims"
	if e.Scope.Data {
		names = "resource.ATTRIBUTE, previous.ATTRIBUTE, auth.sub, auth.role, auth.claims and now"
	}
	return message + ": use " + names
}

var functionNames = []string{
	"size", "contains", "startsWith", "endsWith", "matches", "timestamp", "duration", "int", "double", "string", "has", "all", "exists", "exists_one", "map", "filter",
	"getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getHours", "getMinutes", "getSeconds", "getMilliseconds",
}

// signs are the operators as they are written.
var signs = map[string]string{operators.Negate: "-", operators.LogicalNot: "!", operators.Conditional: "?:", operators.Index: "[]", operators.In: "in"}

// mismatch says that an operation does not take values of these types.
func mismatch(function, args string, data bool) string {
	name := signs[function]
	if name == "" {
		name = strings.Trim(function, "_@")
	}
	given := strings.Trim(args, "()")
	if target, rest, isMember := strings.Cut(args, ".("); isMember {
		given = strings.Trim(rest, "()")
		if given = strings.Join(strings.Fields(target+" "+given), ", "); given == "" {
			given = target
		}
	}
	kinds := strings.Split(given, ", ")
	if name == "?:" && len(kinds) == 3 {
		return "both results of ?: must have the same type, but they are " + kinds[1] + " and " + kinds[2]
	}
	for i, kind := range kinds {
		switch kind {
		case "":
			return name + " needs a value"
		case "null":
		default:
			kinds[i] = suggest.Article(kind)
		}
	}
	return name + " does not take " + strings.Join(kinds, " and ") + mismatchHint(name, given, data)
}

// mismatchHint says what to write for types that people often mix. Only rules of the data compute with attributes.
func mismatchHint(name, given string, data bool) string {
	switch has := func(kind string) bool { return strings.Contains(given, kind) }; {
	case name == "in":
		return ": the right side of in is a list, such as [1, 2]"
	case has("decimal") && has("string"):
		return ": write the number without quotes, such as 0.19"
	case has("decimal"):
		return ": decimals are compared and computed with decimals, integers and numbers that are written out"
	case has("date-time") && has("string") && !data:
		return ": write a time as in timestamp('2026-12-01T00:00:00Z')"
	case has("date-time") && has("string"):
		return ": write timestamp(resource.day) for a date, and timestamp('2026-12-01T00:00:00Z') for a time"
	case has("date-time") && has("integer"):
		return ": add or subtract a duration such as duration('24h')"
	case has("duration") && (has("integer") || has("number")):
		return ": write a duration in hours, minutes or seconds, such as duration('720h')"
	case data && (has("duration") && has("string") || name == "-" && given == "string, string"):
		return ": to compute with dates, write timestamp(resource.day), as in timestamp(resource.day) + duration('24h')"
	case data && (name == "+" || name == "-") && has("integer") && has("string"):
		return ": convert the number with string(), or write timestamp(resource.day) + duration('24h') for a day after a date"
	case given == "string, string" && (name == "contains" || name == "startsWith" || name == "endsWith"):
		return ": write the text in front, as in resource.name." + name + "('abc')"
	case data && given == "string" && strings.HasPrefix(name, "get"):
		return ": write timestamp(resource.day)." + name + "() for a date"
	case has("integer") && has("number"):
		return ": write a number with a point, such as 2.0, or convert with double()"
	case has("null"):
		return ": the other side is never null"
	case has("integer") && has("string"), has("number") && has("string"):
		return ": write a number without quotes, or convert with string()"
	}
	return ""
}

// words are the names of types as schemas write them.
var words = strings.NewReplacer("google.protobuf.Timestamp", "date-time", "google.protobuf.Duration", "duration", "timestamp", "date-time", "null_type", "null", "bool", "boolean", "int", "integer", "double", "number", "dyn", "value of any type", "list(value of any type)", "list")

// plainTypes replaces CEL's names of types.
func plainTypes(text string) string { return words.Replace(wrapper.ReplaceAllString(text, "$1")) }

func typeName(kind *cel.Type) string {
	switch kind.Kind() {
	case types.ListKind:
		return "list"
	case types.MapKind:
		return "map"
	}
	return plainTypes(kind.String())
}

// kindName is the name of a kind in a schema.
func kindName(kind model.Kind) string {
	switch {
	case kind.IsDecimal():
		return "decimal"
	case kind == model.KindText || kind == model.KindUUID || kind == model.KindDate:
		return "string"
	}
	return kind.String()
}

// convertHint says how a value of another type becomes one of a kind.
func convertHint(from *cel.Type, to model.Kind) string {
	switch {
	case to == model.KindNumber && from.Kind() == types.IntKind:
		return ": convert it with double()"
	case to == model.KindInteger && from.Kind() == types.DoubleKind:
		return ": convert it with int(), which cuts off the fraction"
	case to.IsDecimal() && from.Kind() == types.DoubleKind:
		return ": a number is not exact, so declare what it is computed from as decimals too"
	case to == model.KindText && (from.Kind() == types.IntKind || from.Kind() == types.DoubleKind || from.Kind() == types.BoolKind || from.Kind() == types.TimestampKind || from == decimalType):
		return ": convert it with string()"
	case to == model.KindDateTime && from.Kind() == types.StringKind:
		return ": convert it with timestamp()"
	}
	return ""
}
