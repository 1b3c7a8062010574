package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// unread is the codes of requests that are refused before they have been read.
var unread = []problem.Code{problem.CodeMalformedRequest, problem.CodeExpectationFailed, problem.CodeMisdirected, problem.CodeHeadersTooLarge, problem.CodeNotImplemented, problem.CodeHTTPVersion}

// refuse adds the error responses of an operation, by status. Errors that occur before the request is read use the default
// response. So do errors that hooks return.
func (b *builder) refuse(responses *object, operation string, codes []problem.Code, headers ...string) {
	hooked := b.Hooks && len(headers) > 0 // only changes have any
	byStatus := map[int][]problem.Code{}
	var statuses []int
	for _, code := range codes {
		status := statusIn(operation, code)
		if !slices.Contains(byStatus[status], code) {
			byStatus[status] = append(byStatus[status], code)
			statuses = append(statuses, status)
		}
	}
	slices.Sort(statuses)
	for _, status := range slices.Compact(statuses) {
		if hooked {
			byStatus[status] = append(byStatus[status], slices.DeleteFunc(allCodes(), func(code problem.Code) bool {
				return code.Status() != status || slices.Contains(byStatus[status], code)
			})...)
		}
		text := strconv.Itoa(status)
		responses.add(text, b.refusal(operation, text, byStatus[status], headers))
	}
	if hooked {
		responses.add("default", b.refusal("", "OfHook", allCodes(), headers))
		return
	}
	responses.add("default", b.refusal("", "Unread", unread, nil))
}

// statusIn is the status of a code in an operation. Of groups, a sum that is out of range is asked for by a
// parameter.
func statusIn(operation string, code problem.Code) int {
	if code == problem.CodeOutOfRange && (strings.HasPrefix(operation, "group") || strings.HasPrefix(operation, "queryGroup")) {
		return http.StatusBadRequest
	}
	return code.Status()
}

// refusal is a reference to the answer with some errors. Operations that are refused for
// the same reasons share one.
func (b *builder) refusal(operation, suffix string, codes []problem.Code, headers []string) object {
	status := codes[0].Status()
	own := slices.Clone(headers)
	switch status {
	case http.StatusUnauthorized:
		own = append(own, "WWW-Authenticate")
	case http.StatusUnsupportedMediaType:
		if strings.HasPrefix(operation, "query") {
			own = append(own, "Accept-Query")
			break
		}
		own = append(own, "Accept")
		if strings.HasPrefix(operation, "update") {
			own = append(own, "Accept-Patch")
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		own = append(own, "Retry-After")
	}
	what := fmt.Sprint("refusal ", suffix, codes, own, b.Rated, b.versioned())
	return b.once(&b.responses, "responses", what, b.refusalName("Error"+suffix, operation), func() object {
		content := jsonOf(errorsOf(operation, codes, b.Hooks && len(headers) > 0), object{{"errors", list{exampleError(codes[0])}}})
		return b.answer(describeRefusal(suffix, codes), content, own...)
	})
}

// refusalName is a name for a refusal: Error400 the first one, Error400OfList that of the
// first list that differs, and then Error400OfListPosts.
func (b *builder) refusalName(short, operation string) string {
	if operation == "" || !b.componentNames.has(short) {
		return short
	}
	verb := operation[:strings.IndexFunc(operation, unicode.IsUpper)]
	if wanted := short + "Of" + capital(verb); !b.componentNames.has(wanted) {
		return wanted
	}
	return short + "Of" + capital(operation)
}

func describeRefusal(suffix string, codes []problem.Code) string {
	switch suffix {
	case "Unread":
		return "The request was refused before it was read."
	case "OfHook":
		return "The request was refused before it was read, or by a rule of this server, which can do so with any error."
	}
	titles := make([]string, len(codes))
	for i, code := range codes {
		titles[i] = "`" + string(code) + "`: " + code.Title()
	}
	return strings.Join(titles, ". ") + "."
}

// errorsOf is the schema of a response with errors, all of some codes. If they are mixed, as
// those that hooks join can be, only the first is.
func errorsOf(operation string, codes []problem.Code, mixed bool) object {
	statuses := list{}
	for _, code := range codes {
		if status := statusIn(operation, code); !slices.Contains(statuses, any(status)) {
			statuses = append(statuses, status)
		}
	}
	one := object{{"allOf", list{
		reference("schemas", errorSchema),
		object{{"type", "object"}, {"properties", object{{"status", object{{"enum", statuses}}}, {"code", object{{"enum", texts(codes)}}}}}},
	}}}
	errors := object{{"type", "array"}, {"minItems", 1}, {"maxItems", problem.MaxErrors}}
	if mixed {
		errors = append(errors, member{"prefixItems", list{one}}, member{"items", reference("schemas", errorSchema)})
	} else {
		errors.add("items", one)
	}
	return fixedObject("", object{{"errors", errors}})
}

// exampleDetails is what errors say, of codes that come first in an answer.
var exampleDetails = map[problem.Code]*problem.Error{
	problem.CodeUnknownParameter:     fault.Parameter("page", "", "There is no parameter of this name. There are offset, limit, cursor, sort, include, fields, and filter[field] or filter[field][operator]."),
	problem.CodeMalformedJSON:        fault.New("", "Line 1, column 15: duplicate object member name."),
	problem.CodeUnauthenticated:      fault.New("", "Send credentials: Authorization: Bearer and an API key or a token."),
	problem.CodeForbidden:            fault.New("", "You may not update this resource."),
	problem.CodeNotFound:             fault.New("", "There is no resource %s here.", exampleID),
	problem.CodeNotAcceptable:        fault.Header("Accept", "", "Responses are JSON in UTF-8. Send Accept: application/json."),
	problem.CodeIDExists:             fault.At("/id", "", "There is a resource %s already.", exampleID),
	problem.CodeTransition:           fault.At("/state", "", "The state cannot change from draft to archived. It can change to published."),
	problem.CodeCheck:                fault.At("/ends_on", "", "It ends before it starts."),
	problem.CodeReferenced:           fault.New("", "Other resources refer to this one."),
	problem.CodePreconditionFailed:   fault.Header("If-Match", "", `The resource does not match If-Match: its ETag is "2.1". Read it again, and send the new ETag.`),
	problem.CodePreconditionRequired: fault.Header("If-Match", "", "This collection requires If-Match. Send the ETag of the resource that you read."),
	problem.CodeBodyTooLarge:         fault.New("", "The body is too large. Send at most 1048576 bytes."),
	problem.CodeUnsupportedMediaType: fault.Header("Content-Type", "", "The body must be JSON in UTF-8. Send Content-Type: application/json."),
	problem.CodeUnknownAttribute:     fault.At("/colour", "", "The collection has no attribute of this name."),
	problem.CodeTooManyRequests:      fault.New("", "The rate limit is 600/m, and you have exceeded it. Try again in 1 s."),
	problem.CodeInternal:             fault.Internal(nil),
	problem.CodeUnavailable:          fault.New("", "The database is unavailable. Try again later."),
}

func exampleError(code problem.Code) object {
	example := object{{"status", code.Status()}, {"code", string(code)}, {"title", code.Title()}}
	said, ok := exampleDetails[code]
	if !ok {
		return append(example, member{"detail", code.Title() + "."})
	}
	example.add("detail", said.Detail)
	for name, text := range map[string]string{"pointer": said.Source.Pointer, "parameter": said.Source.Parameter, "header": said.Source.Header} {
		if text != "" {
			example.add("source", object{{name, text}})
		}
	}
	return example
}

// anywhere is the codes that everything can be refused with, but for the probes.
func (b *builder) anywhere() []problem.Code {
	codes := []problem.Code{problem.CodeMalformedRequest, problem.CodeUnknownVersion}
	if b.versioned() {
		codes = append(codes, problem.CodeVersionGone)
	}
	if b.secured() {
		codes = append(codes, problem.CodeUnauthenticated, problem.CodeInvalidCredentials, problem.CodeForbidden)
	}
	if b.Rated {
		codes = append(codes, problem.CodeTooManyRequests)
	}
	return append(codes, problem.CodeInternal, problem.CodeUnavailable, problem.CodeOverloaded)
}

// anywhereWithoutCaller is the codes of every request that takes no credentials and does not depend on the schema.
func (b *builder) anywhereWithoutCaller() []problem.Code {
	codes := []problem.Code{problem.CodeMalformedRequest}
	if b.Rated {
		codes = append(codes, problem.CodeTooManyRequests)
	}
	return append(codes, problem.CodeInternal, problem.CodeUnavailable, problem.CodeOverloaded)
}

// ofReading is the codes of GET, in addition to those of every request.
func ofReading() []problem.Code {
	return []problem.Code{problem.CodeUnknownParameter, problem.CodeMalformedQuery, problem.CodeUnexpectedBody, problem.CodeNotAcceptable}
}

// ofSelection is what can be wrong with a range, filters and an order.
func (b *builder) ofSelection(c *model.Collection) []problem.Code {
	codes := []problem.Code{problem.CodeDuplicateParameter, problem.CodeInvalidParameter, problem.CodeConflictingRange, problem.CodeTooManyValues, problem.CodeUnknownCursor}
	if b.MaxLimit > 0 || len(b.relations(c)) > 0 {
		codes = append(codes, problem.CodeLimitTooLarge)
	}
	return codes
}

func (b *builder) ofList(p place) []problem.Code {
	codes := append(ofReading(), b.ofSelection(p.collection)...)
	if p.parent != nil {
		codes = append(codes, problem.CodeNotFound)
	}
	if !b.Rated { // of long lists, there are only so many at a time
		codes = append(codes, problem.CodeTooManyRequests)
	}
	return append(append(codes, problem.CodePreconditionFailed, problem.CodeTooExpensive), b.anywhere()...)
}

func (b *builder) ofRead(p place) []problem.Code {
	codes := append(ofReading(), problem.CodeInvalidParameter, problem.CodeNotFound, problem.CodePreconditionFailed)
	if len(b.relations(p.collection)) > 0 {
		codes = append(codes, problem.CodeDuplicateParameter, problem.CodeTooManyValues, problem.CodeLimitTooLarge)
	}
	return append(codes, b.anywhere()...)
}

// ofWrite is the codes of a write whose body has a variant.
func (b *builder) ofWrite(p place, v variant) []problem.Code {
	codes := []problem.Code{problem.CodeMalformedJSON, problem.CodeTooDeep, problem.CodeUnknownParameter, problem.CodeMalformedQuery,
		problem.CodeNotAcceptable, problem.CodeBodyTooLarge, problem.CodeUnsupportedMediaType}
	codes = append(append(append(codes, b.ofRules(p.collection)...), b.ofBody(p, v)...), b.ofChange()...)
	if v == createVariant { // and of upserts
		codes = append(codes, problem.CodeIDExists, problem.CodeTooManyItems, problem.CodeRequired, problem.CodeNotUnique)
	}
	if v != createVariant || p.parent != nil {
		codes = append(codes, problem.CodeNotFound)
	}
	if p.collection.RequireIfMatch {
		codes = append(codes, problem.CodePreconditionRequired)
	}
	if len(p.collection.UniqueGroups()) > 0 {
		codes = append(codes, problem.CodeNotUnique)
	}
	return append(append(codes, b.unknown()...), b.anywhere()...)
}

// unknown is the codes of a write that come from what a reader does not know of.
func (b *builder) unknown() []problem.Code {
	if !b.restricted() {
		return nil
	}
	return []problem.Code{problem.CodeNotUnique, problem.CodeTransition, problem.CodeCheck}
}

// ofChange is the codes of every change.
func (b *builder) ofChange() []problem.Code {
	codes := []problem.Code{problem.CodeInvalidParameter, problem.CodeDuplicateParameter, problem.CodeKeyInUse, problem.CodePreconditionFailed, problem.CodeKeyReused, problem.CodeIdempotencyFull, problem.CodeStorageFull, problem.CodeBacklogFull, problem.CodeTooExpensive}
	if b.secured() { // operations of the caller
		codes = append(codes, problem.CodeTooManyRequests)
	}
	if b.Hooks {
		codes = append(codes, problem.CodeConflict, problem.CodeRefused, problem.CodeHookTimeout)
	}
	return codes
}

func (b *builder) ofDelete(p place) []problem.Code {
	codes := append(ofReading(), problem.CodeNotFound)
	if len(p.collection.Referrers()) > 0 || b.restricted() {
		codes = append(codes, problem.CodeReferenced)
	}
	if p.collection.RequireIfMatch {
		codes = append(codes, problem.CodePreconditionRequired)
	}
	return append(append(codes, b.ofChange()...), b.anywhere()...)
}

// ofBody is what can be wrong with the attributes of a body.
func (b *builder) ofBody(p place, v variant) []problem.Code {
	codes := []problem.Code{problem.CodeUnknownAttribute, problem.CodeNotAnObject, problem.CodeWrapped, problem.CodeReadOnly}
	if v == createVariant { // the id
		codes = append(codes, problem.CodeType, problem.CodeFormat)
	}
	for i := range p.collection.Attributes {
		a := &p.collection.Attributes[i]
		if a.IsComputed() {
			codes = append(codes, problem.CodeOutOfRange)
		} else if !b.has(p.collection, a.Name, v) && !b.has(p.collection, a.Name, replaceVariant) {
			continue
		}
		codes = append(append(codes, ofValue(a)...), ofValue(a.InVersion())...)
		if a.References != nil {
			codes = append(codes, problem.CodeUnknownReference)
		}
	}
	for _, column := range p.collection.SearchColumns() {
		if b.has(p.collection, p.collection.Columns()[column].Name, v) {
			codes = append(codes, problem.CodeTooManyWords)
			break
		}
	}
	if p.parent != nil && v != patchVariant {
		codes = append(codes, problem.CodeParentMismatch, problem.CodeUnknownReference)
	}
	return codes
}

// ofValue is what can be wrong with a value.
func ofValue(a *model.Attribute) []problem.Code {
	codes := []problem.Code{problem.CodeType}
	add := func(there bool, code problem.Code) {
		if there {
			codes = append(codes, code)
		}
	}
	container := a.Type == model.Object || a.Type == model.Array
	add(a.Required, problem.CodeRequired)
	decimal := a.Format == model.Decimal
	add(container || decimal || a.Type == model.Integer || a.Type == model.Number, problem.CodeOutOfRange)
	add(container || decimal || a.Type == model.Number, problem.CodePrecision)
	add(container || a.Type == model.String, problem.CodeNullCharacter)
	refused := map[problem.Code]bool{} // by keywords, of which some share a code
	for _, k := range model.AttributeKeywords {
		refused[k.Code] = refused[k.Code] || k.Given(a)
	}
	for _, k := range model.AttributeKeywords {
		add(k.Code != "" && refused[k.Code], k.Code)
	}
	if a.Items != nil {
		codes = append(codes, ofValue(a.Items)...)
	}
	for i := range a.Properties {
		codes = append(codes, ofValue(&a.Properties[i])...)
	}
	return codes
}
