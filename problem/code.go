package problem

import (
	"maps"
	"slices"
)

// Code is the machine-readable kind of an error. Codes are part of the
// interface: docs/errors.md explains each, and none ever changes its meaning.
// A server of another version may send codes that are not listed here.
type Code string

// The codes, by the HTTP status of the response.
const (
	// 400: the request itself is malformed.
	CodeMalformedRequest   Code = "malformed_request"
	CodeMalformedJSON      Code = "malformed_json"
	CodeTooDeep            Code = "too_deep"
	CodeUnexpectedBody     Code = "unexpected_body"
	CodeMalformedQuery     Code = "malformed_query"
	CodeUnknownParameter   Code = "unknown_parameter"
	CodeDuplicateParameter Code = "duplicate_parameter"
	CodeInvalidParameter   Code = "invalid_parameter"
	CodeConflictingRange   Code = "conflicting_range"
	CodeLimitTooLarge      Code = "limit_too_large"
	CodeTooManyValues      Code = "too_many_values"
	CodeUnknownCursor      Code = "unknown_cursor"
	CodeFilterRequired     Code = "filter_required"
	CodeUnknownVersion     Code = "unknown_version"

	// 401 and 403: who asks, and whether they may.
	CodeUnauthenticated    Code = "unauthenticated"
	CodeInvalidCredentials Code = "invalid_credentials" // #nosec G101 -- a code, and no credentials
	CodeForbidden          Code = "forbidden"

	// 404 to 406 and 410: what was asked for is not to be had.
	CodeNotFound         Code = "not_found"
	CodeMethodNotAllowed Code = "method_not_allowed"
	CodeNotAcceptable    Code = "not_acceptable"
	CodePositionGone     Code = "position_gone"
	CodeVersionGone      Code = "version_gone"

	// 409: in conflict with what is stored.
	CodeIDExists   Code = "id_exists"
	CodeNotUnique  Code = "not_unique"
	CodeReferenced Code = "referenced"
	CodeTransition Code = "transition"
	CodeConflict   Code = "conflict"
	CodeKeyInUse   Code = "idempotency_key_in_use"

	// 412 and 428: the state is not what the request is meant for.
	CodePreconditionFailed   Code = "precondition_failed"
	CodePreconditionRequired Code = "precondition_required"

	// 413 to 415: the body cannot be taken.
	CodeBodyTooLarge         Code = "body_too_large"
	CodeTooManyItems         Code = "too_many_items"
	CodeIdempotencyFull      Code = "idempotency_full"
	CodeUnsupportedMediaType Code = "unsupported_media_type"

	// 422: the body was read, and is not valid.
	CodeNotAnObject      Code = "not_an_object"
	CodeWrapped          Code = "wrapped"
	CodeUnknownAttribute Code = "unknown_attribute"
	CodeReadOnly         Code = "read_only"
	CodeRequired         Code = "required"
	CodeType             Code = "type"
	CodeOutOfRange       Code = "out_of_range"
	CodePrecision        Code = "precision"
	CodeNullCharacter    Code = "null_character"
	CodeFormat           Code = "format"
	CodeMinLength        Code = "min_length"
	CodeMaxLength        Code = "max_length"
	CodePattern          Code = "pattern"
	CodeEnum             Code = "enum"
	CodeMinimum          Code = "minimum"
	CodeMaximum          Code = "maximum"
	CodeMultipleOf       Code = "multiple_of"
	CodeMinItems         Code = "min_items"
	CodeMaxItems         Code = "max_items"
	CodeUnknownReference Code = "unknown_reference"
	CodeParentMismatch   Code = "parent_mismatch"
	CodeTooManyWords     Code = "too_many_words"
	CodeCheck            Code = "check"
	CodeRefused          Code = "refused"
	CodeKeyReused        Code = "idempotency_key_reused"

	// 429: too much of it.
	CodeTooManyRequests Code = "too_many_requests"

	// 417, 421 and 431: headers that the server does not take.
	CodeExpectationFailed Code = "expectation_failed"
	CodeMisdirected       Code = "misdirected"
	CodeHeadersTooLarge   Code = "headers_too_large"

	// 5xx: not the client's doing.
	CodeInternal       Code = "internal"
	CodeNotImplemented Code = "not_implemented"
	CodeUnavailable    Code = "unavailable"
	CodeStorageFull    Code = "storage_full"
	CodeHookTimeout    Code = "hook_timeout"
	CodeBacklogFull    Code = "backlog_full"
	CodeOverloaded     Code = "overloaded"
	CodeTooExpensive   Code = "too_expensive"
	CodeHTTPVersion    Code = "http_version"
)

type meaning struct {
	status int
	title  string
}

// meanings is the one table from code to status and title.
var meanings = map[Code]meaning{
	CodeMalformedRequest:   {400, "The request is malformed"},
	CodeMalformedJSON:      {400, "The body is not valid JSON"},
	CodeTooDeep:            {400, "The body is nested too deeply"},
	CodeUnexpectedBody:     {400, "This request takes no body"},
	CodeMalformedQuery:     {400, "The query string is malformed"},
	CodeUnknownParameter:   {400, "Unknown query parameter"},
	CodeDuplicateParameter: {400, "Query parameter given twice"},
	CodeInvalidParameter:   {400, "Invalid query parameter"},
	CodeConflictingRange:   {400, "Offset and cursor exclude each other"},
	CodeLimitTooLarge:      {400, "The limit is larger than this server allows"},
	CodeTooManyValues:      {400, "Too many filter values or sort keys"},
	CodeUnknownCursor:      {400, "Unknown cursor"},
	CodeFilterRequired:     {400, "A filter or a range is required"},
	CodeUnknownVersion:     {400, "Unknown version of the interface"},

	CodeUnauthenticated:    {401, "Credentials are required"},
	CodeInvalidCredentials: {401, "The credentials are not valid"},
	CodeForbidden:          {403, "Forbidden"},

	CodeNotFound:         {404, "Not found"},
	CodeMethodNotAllowed: {405, "Method not allowed"},
	CodeNotAcceptable:    {406, "Not acceptable"},
	CodePositionGone:     {410, "The change log no longer has this position"},
	CodeVersionGone:      {410, "The version of the interface has ended"},

	CodeIDExists:   {409, "The id exists already"},
	CodeNotUnique:  {409, "The value is taken"},
	CodeReferenced: {409, "Other resources refer to this one"},
	CodeTransition: {409, "The lifecycle does not allow this state"},
	CodeConflict:   {409, "In conflict with a rule of this server"},
	CodeKeyInUse:   {409, "The first request with this key is not finished"},

	CodePreconditionFailed:   {412, "The resource has changed"},
	CodePreconditionRequired: {428, "If-Match is required"},

	CodeBodyTooLarge:         {413, "The body is too large"},
	CodeTooManyItems:         {413, "Too many items"},
	CodeIdempotencyFull:      {413, "Too many responses are kept for repetitions"},
	CodeUnsupportedMediaType: {415, "Unsupported media type"},

	CodeNotAnObject:      {422, "Not a JSON object"},
	CodeWrapped:          {422, "Bodies are not wrapped"},
	CodeUnknownAttribute: {422, "Unknown attribute"},
	CodeReadOnly:         {422, "Read-only member"},
	CodeRequired:         {422, "Required attribute"},
	CodeType:             {422, "Wrong type"},
	CodeOutOfRange:       {422, "Number out of range"},
	CodePrecision:        {422, "Too many digits"},
	CodeNullCharacter:    {422, "U+0000 in a string"},
	CodeFormat:           {422, "Wrong format"},
	CodeMinLength:        {422, "Too short"},
	CodeMaxLength:        {422, "Too long"},
	CodePattern:          {422, "Pattern not matched"},
	CodeEnum:             {422, "Not one of the allowed values"},
	CodeMinimum:          {422, "Too small"},
	CodeMaximum:          {422, "Too large"},
	CodeMultipleOf:       {422, "Not a multiple"},
	CodeMinItems:         {422, "Too few items"},
	CodeMaxItems:         {422, "Too many items"},
	CodeUnknownReference: {422, "The resource referred to does not exist"},
	CodeParentMismatch:   {422, "The parent in the body is not the one in the path"},
	CodeTooManyWords:     {422, "Too many different words to be searched"},
	CodeCheck:            {422, "A check does not hold"},
	CodeRefused:          {422, "Refused by a rule of this server"},
	CodeKeyReused:        {422, "The key was used for another request"},

	CodeTooManyRequests: {429, "Too many requests"},

	CodeExpectationFailed: {417, "Expectation failed"},
	CodeMisdirected:       {421, "The request is not for this server"},
	CodeHeadersTooLarge:   {431, "The request header is too large"},

	CodeInternal:       {500, "Internal error"},
	CodeNotImplemented: {501, "Not implemented"},
	CodeUnavailable:    {503, "Not available at the moment"},
	CodeStorageFull:    {503, "The storage is full"},
	CodeHookTimeout:    {503, "A rule of this server took too long"},
	CodeBacklogFull:    {503, "Too many operations are waiting"},
	CodeOverloaded:     {503, "Too many requests are being answered"},
	CodeTooExpensive:   {503, "The query takes too long"},
	CodeHTTPVersion:    {505, "HTTP version not supported"},
}

// Status is the HTTP status of a response with the code; 500 for an unknown code.
func (c Code) Status() int {
	if m, ok := meanings[c]; ok {
		return m.status
	}
	return 500
}

// Title is a short summary, the same for every error of the code. It is empty
// for an unknown code.
func (c Code) Title() string { return meanings[c].title }

// Codes lists all codes, sorted.
func Codes() []Code {
	return slices.Sorted(maps.Keys(meanings))
}
