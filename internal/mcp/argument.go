package mcp

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// kind is what an argument holds.
type kind struct {
	schema string // JSON Schema, without the description
	json   jsontext.Kind
	fits   func(jsontext.Value) bool // nil: every value of this JSON type
	must   string                    // what a value must be, for messages
}

const (
	namePattern = `^[a-z][a-z0-9_-]{0,62}$`
	uuidPattern = `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`
)

// textKind is a text that matches a pattern.
func textKind(pattern, must string) kind {
	matches := regexp.MustCompile(pattern).MatchString
	return kind{`{"type":"string","pattern":` + quote(pattern) + `}`, '"', func(v jsontext.Value) bool { return matches(textOf(v)) }, must}
}

// choice is one of a few words.
func choice(words ...string) kind {
	list, _ := json.Marshal(words) // strings can always be marshalled
	return kind{`{"type":"string","enum":` + string(list) + `}`, '"', func(v jsontext.Value) bool { return slices.Contains(words, textOf(v)) }, "must be " + suggest.OneOf(words)}
}

var (
	anyText = kind{`{"type":"string"}`, '"', nil, "must be a string"}
	names   = kind{`{"type":"array","items":{"type":"string"},"minItems":1}`, '[', isTexts, `must be an array of strings, such as ["name"]`}
	members = kind{`{"type":"object"}`, '{', nil, "must be an object"}
	yesOrNo = kind{`{"type":"boolean"}`, 't', nil, "must be true or false"}
	name    = textKind(namePattern, "must be the name of a collection, which list_collections has")
	uuid    = textKind("^"+uuidPattern+"$", "must be the id of a resource, which is a UUID")
	within  = textKind("^[a-z][a-z0-9_-]{0,62}/"+uuidPattern+"$", "must be the collection and the id of the parent, such as projects/01936f2e-7d3c-7a4b-9c5d-0123456789ab")
	count   = kind{`{"type":"integer","minimum":1,"maximum":` + strconv.Itoa(maxLimit) + `}`, '0', isCount, "must be a whole number from 1 to " + strconv.Itoa(maxLimit) + "; what follows has a cursor"}
)

func isCount(v jsontext.Value) bool {
	n, err := strconv.Atoi(string(v))
	return err == nil && n >= 1 && n <= maxLimit
}

func isTexts(v jsontext.Value) bool {
	var texts []string
	return json.Unmarshal(v, &texts) == nil && len(texts) > 0
}

// argument is an argument of a tool.
type argument struct {
	name     string
	kind     kind
	required bool
	text     string // describes it
}

// argumentHints are the arguments that are meant by words of other tools.
var argumentHints = suggest.Hints{
	"table type resource entity model name": "collection",
	"filters where query conditions q":      "filter",
	"order order_by sort_by":                "sort",
	"page_size size first max take top":     "limit",
	"offset page after skip next":           "cursor",
	"select columns properties":             "fields",
	"data values body record fields set":    "attributes",
	"etag version":                          "if_match",
	"group_by groups group":                 "by",
	"expand populate with relations join":   "include",
	"to status value":                       "state",
	"method operation verb":                 "action",
}

// inputSchema is the JSON Schema of the arguments of a tool.
func inputSchema(all []argument) jsontext.Value {
	properties, required := make([]string, len(all)), []string{}
	for i, each := range all {
		described := strings.TrimSuffix(each.kind.schema, "}")
		if each.text != "" {
			described += `,"description":` + quote(each.text)
		}
		properties[i] = quote(each.name) + ":" + described + "}"
		if each.required {
			required = append(required, quote(each.name))
		}
	}
	schema := `{"type":"object","properties":{` + strings.Join(properties, ",") + `}`
	if len(required) > 0 {
		schema += `,"required":[` + strings.Join(required, ",") + `]`
	}
	return jsontext.Value(schema + `,"additionalProperties":false}`)
}

// arguments are what a tool was called with, checked.
type arguments map[string]jsontext.Value

// readArguments checks the arguments of a call. All that are wrong are reported together.
func readArguments(given jsontext.Value, all []argument) (arguments, error) {
	var read arguments
	if len(given) > 0 {
		if err := json.Unmarshal(given, &read); err != nil {
			return nil, problem.Errors{{Code: problem.CodeMalformedJSON, Detail: "The arguments must be a JSON object in which no member is repeated."}}
		}
	}
	known := make([]string, len(all))
	for i, each := range all {
		known[i] = each.name
	}
	var wrong problem.Errors
	for _, written := range sortedNames(read) {
		if slices.Contains(known, written) {
			continue
		}
		instead := "There are no arguments: leave it out."
		if len(known) > 0 {
			instead = "The arguments are " + strings.Join(known, ", ") + "."
		}
		if meant := meantBy(written, argumentHints, known); meant != "" {
			instead = "Write " + meant + " instead. " + instead
		}
		wrong = append(wrong, wrongArgument(written, problem.CodeUnknownParameter, "There is no argument "+quote(written)+". "+instead))
	}
	for _, each := range all {
		value, found := read[each.name]
		switch {
		case !found && each.required:
			wrong = append(wrong, wrongArgument(each.name, problem.CodeRequired, "The argument "+each.name+" is missing: it "+each.kind.must+"."))
		case found && !each.kind.holds(value):
			wrong = append(wrong, wrongArgument(each.name, problem.CodeInvalidParameter, "The argument "+each.name+" "+each.kind.must+"."))
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	return read, nil
}

// meantBy is the known word that is meant by another one, empty if there is none.
func meantBy(word string, hints suggest.Hints, known []string) string {
	if hint := hints.Find(word); slices.Contains(known, hint) {
		return hint
	}
	return suggest.Nearest(word, known)
}

func (k kind) holds(value jsontext.Value) bool {
	given := value.Kind()
	return (given == k.json || given == 'f' && k.json == 't') && (k.fits == nil || k.fits(value))
}

func wrongArgument(name string, code problem.Code, detail string) *problem.Error {
	return &problem.Error{Code: code, Detail: detail, Source: problem.Source{Parameter: name}}
}

// text is an argument that is a text, empty if it was not given.
func (a arguments) text(name string) string { return textOf(a[name]) }

// texts is an argument that is a list of texts.
func (a arguments) texts(name string) (list []string) {
	if a[name] != nil {
		_ = json.Unmarshal(a[name], &list) // it was checked
	}
	return list
}

// limit is how many results are asked for.
func (a arguments) limit() int {
	if a["limit"] == nil {
		return defaultLimit
	}
	n, _ := strconv.Atoi(string(a["limit"])) // it was checked
	return n
}

// textOf is a JSON string as a text; empty if it is none.
func textOf(v jsontext.Value) (text string) {
	if v.Kind() == '"' {
		_ = json.Unmarshal(v, &text) // it was read before
	}
	return text
}

func quote(text string) string {
	quoted, _ := jsontext.AppendQuote(nil, text) // invalid UTF-8 is replaced
	return string(quoted)
}

func sortedNames(values map[string]jsontext.Value) []string {
	names := make([]string, 0, len(values))
	for each := range values {
		names = append(names, each)
	}
	slices.Sort(names)
	return names
}
