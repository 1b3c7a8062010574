package interfacetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// checkRequest lists what a request has that an operation does not take.
func (d *document) checkRequest(op *describedOperation, e *exchange) []string {
	complaints := d.checkQuery(op, e)
	// What the descriptions of parameters say of streams and lists.
	isStream := strings.HasPrefix(e.header.Get("Accept"), "text/event-stream")
	isLog := strings.HasSuffix(e.target.Path, "/changes")
	for name := range e.target.Query() {
		switch name {
		case "since":
			if !isStream && !isLog {
				complaints = append(complaints, "since is for streams")
			}
		case "offset", "o", "limit", "l", "cursor", "sort", "include":
			if isStream {
				complaints = append(complaints, "a stream has no "+name)
			}
		}
	}
	complaints = append(complaints, checkGroups(e.target)...)
	for _, p := range op.parameters {
		if p.in != "header" {
			continue
		}
		values := e.header.Values(p.name)
		switch {
		case len(values) > 0:
			complaints = append(complaints, d.checkText("the header "+p.name, p.schema, p.kind, strings.Join(values, ", "))...)
		case p.required:
			complaints = append(complaints, "the header "+p.name+" is missing")
		}
	}
	switch {
	case op.bodySchema == "" && len(e.body) > 0:
		complaints = append(complaints, "there is a body, and none is declared")
	case strings.Contains(e.target.RawQuery, "on_conflict="): // a resource that exists needs no attributes that must be given
	case d.versioned && e.method != "POST" && e.status < 300:
	case op.bodySchema != "" && len(e.body) <= maxChecked:
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(e.body))
		if err == nil {
			err = d.schema(op.bodySchema).Validate(value)
		}
		if err != nil {
			complaints = append(complaints, "the body sent is not what is declared: "+err.Error())
		}
	}
	return complaints
}

// checkGroups says what the descriptions of the parameters of groups say of several together.
func checkGroups(target *url.URL) (complaints []string) {
	if !strings.HasPrefix(target.Path, "/-/groups/") {
		return nil
	}
	items := func(name string) (all []string) {
		for _, value := range target.Query()[name] {
			all = append(all, strings.Split(value, ",")...)
		}
		return all
	}
	ranks, sorted := []string{"count"}, map[string]bool{} // what groups are kept by
	for _, function := range []string{"sum", "avg", "min", "max", "distinct"} {
		for _, field := range items(function) {
			ranks = append(ranks, function+"."+field)
		}
	}
	for name := range target.Query() {
		kept, isHaving := strings.CutPrefix(name, "having[")
		if kept, _, _ = strings.Cut(kept, "]"); isHaving && !slices.Contains(ranks, kept) {
			complaints = append(complaints, "groups cannot be kept by "+kept)
		}
	}
	for _, key := range items("sort") {
		key = strings.TrimPrefix(key, "-")
		if !slices.Contains(append(items("by"), ranks...), key) || sorted[key] {
			complaints = append(complaints, "groups cannot be sorted by "+key)
		}
		sorted[key] = true
	}
	if values := slices.Concat(items("sum"), items("avg"), items("min"), items("max"), items("distinct")); len(values) > 16 {
		complaints = append(complaints, "too many values of groups")
	}
	return complaints
}

func (d *document) checkQuery(op *describedOperation, e *exchange) []string {
	type given struct {
		values []string
		empty  bool // once at least: without a value, or of a boolean with an empty one
	}
	all := map[string]*given{}
	var names []string
	for piece := range strings.SplitSeq(e.target.RawQuery, "&") {
		if piece == "" {
			continue
		}
		name, value, hasValue := strings.Cut(piece, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil {
			return []string{"the query cannot be read"}
		}
		if all[name] == nil {
			all[name] = &given{}
			names = append(names, name)
		}
		if hasValue {
			all[name].values = append(all[name].values, value)
		}
		all[name].empty = all[name].empty || !hasValue
	}
	var complaints []string
	for _, name := range names {
		at := slices.IndexFunc(op.parameters, func(p describedParameter) bool { return p.in == "query" && p.name == name })
		isPart := strings.HasPrefix(name, "include[") || strings.HasPrefix(name, "fields[") // the description of include says how they are written
		if at < 0 && (isPart || op.hasMember(name)) {
			continue
		}
		if at < 0 {
			complaints = append(complaints, "the parameter "+name+" is not declared")
			continue
		}
		p, got := op.parameters[at], all[name]
		if p.itemKind == "boolean" && slices.Contains(got.values, "") {
			got.empty = true
			got.values = slices.DeleteFunc(got.values, func(value string) bool { return value == "" })
		}
		if got.empty && p.mayBare && len(got.values) == 0 {
			continue
		}
		complaints = append(complaints, d.checkParameter(p, got.values)...)
	}
	return complaints
}

// hasMember reports whether a parameter is a member of one that is an object.
func (op *describedOperation) hasMember(name string) bool {
	return slices.ContainsFunc(op.parameters, func(p describedParameter) bool {
		return p.in == "query" && p.members != nil && p.members.MatchString(name)
	})
}

// takesHeader reports whether a header is declared for the operation.
func (op *describedOperation) takesHeader(name string) bool {
	return slices.ContainsFunc(op.parameters, func(p describedParameter) bool { return p.in == "header" && p.name == name })
}

// checkParameter checks what is given as a parameter, in the style that it has.
func (d *document) checkParameter(p describedParameter, values []string) []string {
	what := "the parameter " + p.name
	if p.kind != "array" {
		if len(values) != 1 {
			return []string{fmt.Sprintf("%s is given %d times", what, len(values))}
		}
		if isPosition := p.kind == "integer" && !strings.HasPrefix(p.name, "filter["); isPosition {
			if strings.ContainsAny(values[0], ".eE") {
				return []string{what + " is not written in digits"}
			}
			values[0] = zeros.ReplaceAllString(values[0], "$1$2")
		}
		return d.checkText(what, p.schema, p.kind, values[0])
	}
	if !p.explode {
		return []string{what + " is a list that cannot be given again, which generated clients do"}
	}
	// Descriptions say that commas separate too.
	if slices.Contains([]string{"sort", "include", "by", "sum", "avg", "min", "max", "distinct"}, p.name) || strings.HasPrefix(p.name, "fields") || strings.HasSuffix(p.name, "[in]") || strings.HasSuffix(p.name, "[not_in]") {
		var items []string
		for _, value := range values {
			items = append(items, strings.Split(strings.ReplaceAll(value, `\,`, "\x00"), ",")...)
		}
		values = items
	}
	items := make([]any, len(values))
	for i, value := range values {
		items[i] = valueOf(p.itemKind, strings.ReplaceAll(value, "\x00", ","))
	}
	return d.checkValue(what, p.schema, items)
}

func (d *document) checkText(what, pointer, kind, text string) []string {
	return d.checkValue(what, pointer, valueOf(kind, text))
}

func (d *document) checkValue(what, pointer string, value any) []string {
	if err := d.schema(pointer).Validate(value); err != nil {
		return []string{what + " is not what is declared: " + err.Error()}
	}
	return nil
}

// zeros is those in front of a position, which are accepted.
var zeros = regexp.MustCompile(`^(-?)0+([0-9])`)

// valueOf reads a text as a value of a type, if it is one.
func valueOf(kind, text string) any {
	switch {
	case kind == "boolean" && (text == "true" || text == "false"):
		return text == "true"
	case (kind == "integer" || kind == "number") && json.Valid([]byte(text)) && strings.ContainsAny(text[:1], "-0123456789"):
		return json.Number(text)
	}
	return text
}

// inexpressible is the codes of requests that are wrong in a way that a document of
// OpenAPI cannot tell.
var inexpressible = []string{
	// What depends on what is stored, on the path, on another parameter or on another request.
	"unknown_cursor", "unknown_reference", "parent_mismatch", "read_only", "check", "idempotency_key_reused", "conflicting_range", "duplicate_parameter",
	// What counts words.
	"too_many_words",
	// What is about the text: of JSON, in which a member may be there twice, or of the query.
	"malformed_json", "malformed_query", "too_deep",
	// One of several parameters must be given.
	"filter_required",
	// What is in values without a definition, and characters that no string can hold.
	"out_of_range", "precision", "null_character",
	// Multiples that a validator with doubles would get wrong.
	"multiple_of",
	// How strictly a format is taken is left open by JSON Schema.
	"format",
}

// mustBeWrong is asked about requests that are right by the document, and were refused: for
// a reason that it cannot express, or it should have.
func (d *document) mustBeWrong(op *describedOperation, e *exchange) []string {
	var body struct {
		Errors []struct {
			Code, Detail string
			Source       struct{ Header, Parameter, Pointer string }
		}
	}
	if err := json.Unmarshal(e.answer, &body); err != nil || len(body.Errors) == 0 {
		return nil // which is said elsewhere
	}
	for _, each := range body.Errors {
		isOfHTTP := each.Code == "malformed_request" && (each.Source.Header == "" || len(e.header.Values(each.Source.Header)) > 1)
		sortsTwice := each.Source.Parameter == "sort" && strings.HasSuffix(each.Detail, "is given twice.") // name,-name
		isHidden := strings.Contains(each.Detail, "an attribute that you may not see")                     // that is computed
		isFormat := strings.Contains(each.Detail, "whose year in UTC is between")
		isPart := strings.HasPrefix(each.Source.Parameter, "include") || strings.HasPrefix(each.Source.Parameter, "fields") // of further levels
		isPosition := each.Source.Parameter == "since" || each.Source.Header == "Last-Event-ID"                             // what a position is, only the server knows
		isBound := (each.Code == "minimum" || each.Code == "maximum") && isText(e.body, each.Source.Pointer)                // of a decimal
		isOfWrite := strings.HasSuffix(e.target.Path, "/-/transaction") || strings.Contains(e.target.RawQuery, "on_conflict=") ||
			each.Source.Parameter == "dry_run" || strings.Contains(each.Detail, "has no ETag.")
		isPath := (each.Source.Parameter == "by" || each.Source.Parameter == "sort") && strings.Contains(strings.Join(e.target.Query()[each.Source.Parameter], ""), ".") // a path, which is only declared roughly
		isItem := strings.HasSuffix(each.Source.Parameter, "[has_all]")                                                                                                  // of several in one text, with commas between them
		isSearch := (each.Source.Parameter == "search" || strings.HasSuffix(each.Source.Parameter, "[search]")) && each.Code == "too_many_values"
		isUndeclared := slices.Contains([]string{"If-Match", "If-None-Match", "Idempotency-Key", "API-Version"}, each.Source.Header) && !op.takesHeader(each.Source.Header) // a range has no ETag, and neither have keys; some schemas have no versions
		isMember := op.hasMember(each.Source.Parameter)                                                                                                                     // whose name and value are only declared roughly
		isVersion := each.Source.Pointer == "/api_version"                                                                                                                  // which ones are served, only the server knows
		if isPart || isVersion || isPath || isItem || isOfWrite || isHidden || d.isComputed(each.Source.Pointer) || isUndeclared || isSearch || isMember || isPosition || isOfHTTP || sortsTwice || isFormat || isBound || slices.Contains(inexpressible, each.Code) {
			return nil
		}
	}
	return []string{"refused as " + body.Errors[0].Code + ", although the document allows it"}
}

// isComputed reports whether a JSON Pointer ends with the name of a computed attribute, whose value follows from others.
func (d *document) isComputed(pointer string) bool {
	name := pointer[strings.LastIndexByte(pointer, '/')+1:]
	components, _ := d.root["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for _, each := range schemas {
		definition, _ := each.(map[string]any)
		properties, _ := definition["properties"].(map[string]any)
		attribute, _ := properties[name].(map[string]any)
		if attribute["x-plural-computed"] != nil {
			return true
		}
	}
	return false
}

// isText reports whether there is a string at a pointer into a body.
func isText(body []byte, pointer string) bool {
	var value any
	if json.Unmarshal(body, &value) != nil {
		return false
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch container := value.(type) {
		case map[string]any:
			value = container[token]
		case []any:
			index, err := strconv.Atoi(token)
			if err != nil || index >= len(container) {
				return false
			}
			value = container[index]
		}
	}
	_, text := value.(string)
	return text
}
