package openapi

import "strings"

// Schemas that several headers and parameters share.
var (
	aText      = object{{"type", "string"}}
	aFlag      = object{{"type", "boolean"}}
	aReference = object{{"type", "string"}, {"format", "uri-reference"}}
	aTime      = object{{"type", "string"}, {"format", "date-time"}}
	aCount     = object{{"type", "integer"}, {"minimum", 0}}
)

func exactly(value string) object { return object{{"type", "string"}, {"const", value}} }

// requiredHeader is a header of every response that refers to it.
func requiredHeader(description string, jsonSchema object, example any) object {
	return object{{"description", description}, {"required", true}, {"schema", jsonSchema}, {"example", example}}
}

// optionalHeader is a header that some responses do not have.
func optionalHeader(description string, jsonSchema object, example any) object {
	return object{{"description", description}, {"schema", jsonSchema}, {"example", example}}
}

// headerTexts describes the headers of responses.
var headerTexts = map[string]object{
	"X-Request-Id":              requiredHeader("What the log calls this request.", aText, "1326524d3f19ae4f8f3f070c94c5fdbd"),
	"X-Content-Type-Options":    requiredHeader("The content is what its type says.", exactly("nosniff"), "nosniff"),
	"Strict-Transport-Security": optionalHeader("Browsers use TLS only, for so many seconds.", aText, "max-age=31536000"),
	"ETag": optionalHeader(
		"The state of the resource, for `If-Match` and `If-None-Match`.",
		object{{"type", "string"}, {"pattern", `^"[^"]+"$`}}, `"1a.1.k3"`),
	"Location":         optionalHeader("Where to find the resource, or the operation.", aReference, "/operations/"+exampleID),
	"Content-Location": requiredHeader("The canonical path of the resource.", aReference, "/operations/"+exampleID),
	"Link": optionalHeader(
		"The pages around this one (RFC 8288): `first`, `prev`, `next` and `last`; and `changes`, a stream of what changes after this list. Of the catalog of APIs, the catalog itself. "+
			"`next` of a filtered or sorted range of more than 1,000 may lead to an empty page, which has none.",
		aText, `</operations?limit=100>; rel="first", </operations?limit=-100>; rel="last"`),
	"X-Total-Count": optionalHeader(
		"How many resources there are, without the range. With filters, and of changes, only for `Prefer: count=exact`.",
		aCount, 250),
	"Preference-Applied":       optionalHeader("Which preference had an effect (RFC 7240).", aText, "respond-async"),
	"Idempotency-Replayed":     optionalHeader("The request was answered before, and this is that answer.", exactly("true"), "true"),
	"Retry-After":              requiredHeader("Seconds until it is worth another try.", aCount, 5),
	"WWW-Authenticate":         requiredHeader("How to authenticate (RFC 6750).", aText, `Bearer realm="plural"`),
	"Accept":                   requiredHeader("What a body must be.", aText, "application/json"),
	"Accept-Patch":             requiredHeader("What the body of a PATCH must be (RFC 5789).", aText, "application/json"),
	"Accept-Query":             requiredHeader("What the body of a QUERY must be (RFC 10008).", aText, "application/x-www-form-urlencoded"),
	"Vary":                     optionalHeader("Headers of the request that the answer depends on.", aText, "Accept-Encoding"),
	"Content-Encoding":         optionalHeader("How the answer is compressed, if the client takes that.", exactly("gzip"), "gzip"),
	"Cache-Control":            requiredHeader("How long the answer can be kept.", aText, "no-store"),
	"Cache-Control" + ofStream: optionalHeader("A stream is not kept.", aText, "no-store"),
	"X-Accel-Buffering":        optionalHeader("Of a stream: nginx sends every event at once.", exactly("no"), "no"),
	"X-History-Since":          optionalHeader("Of a history without its beginning: changes up to this time were removed.", aTime, exampleTime),
	"X-Affected":               optionalHeader("Of a dry run: how many resources would be created, changed or deleted, by collection.", aText, "issues=142, comments=3"),
	"X-Deleted":                optionalHeader("Of a dry run: how many of these would be deleted, by collection. Without it none would be.", aText, "comments=3"),
	"RateLimit": optionalHeader(
		"How many more requests there can be, and after how many seconds there can be one more.",
		aText, `"address";r=599;t=1`),
	"API-Version":  optionalHeader("The version of the interface that the response is in.", object{{"type", "integer"}, {"minimum", 1}}, 1),
	"API-Versions": optionalHeader("The versions of the interface that the server has, the newest last (RFC 9651).", aText, "1;deprecation=@1763110800;sunset=@1798761600, 2, 3"),
	"Deprecation":  optionalHeader("The version is deprecated, since this time (RFC 9745).", object{{"type", "string"}, {"pattern", "^@[0-9]+$"}}, "@1763110800"),
	"Sunset":       optionalHeader("When the version ends (RFC 8594).", aText, "Fri, 01 Jan 2027 00:00:00 GMT"),

	"RateLimit-Policy": optionalHeader("How many requests are taken in how many seconds, of an address or of a caller.", aText, `"address";q=600;w=60`),

	"Access-Control-Allow-Origin": optionalHeader(
		"The origin whose pages may read this, of a request from one that may.",
		aText, "https://app.example.com"),
	"Access-Control-Expose-Headers": optionalHeader("The headers that such a page may read.", aText, "ETag, Link"),
}

// ofStream ends the name of what is said otherwise of streams.
const ofStream = "-Of-Stream"

// headersOf lists the headers of an answer, with those that any may have.
func (b *builder) headersOf(own ...string) object {
	all := append([]string{"X-Request-Id", "X-Content-Type-Options", "Vary"}, own...)
	if b.versioned() {
		all = append(all, "API-Version")
		if b.sunset() != "" {
			all = append(all, "Deprecation", "Sunset")
		}
	}
	if b.Secure {
		all = append(all, "Strict-Transport-Security")
	}
	if b.Rated {
		all = append(all, "RateLimit", "RateLimit-Policy")
	}
	if b.CrossOrigin {
		all = append(all, "Access-Control-Allow-Origin", "Access-Control-Expose-Headers")
	}
	headers := object{}
	for _, name := range all {
		if b.isNew("header " + name) {
			b.headers.add(name, headerTexts[name])
		}
		headers.add(strings.TrimSuffix(name, ofStream), reference("headers", name))
	}
	return headers
}
