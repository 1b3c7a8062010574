package openapi

import "strings"

// What headers of answers say. One that is not always there is optional in all places.
var headerTexts = map[string]object{
	"X-Request-Id":              {{"description", "What the log calls this request."}, {"required", true}, {"schema", object{{"type", "string"}}}, {"example", "1326524d3f19ae4f8f3f070c94c5fdbd"}},
	"X-Content-Type-Options":    {{"description", "The content is what its type says."}, {"required", true}, {"schema", object{{"type", "string"}, {"const", "nosniff"}}}, {"example", "nosniff"}},
	"Strict-Transport-Security": {{"description", "Browsers use TLS only, for so many seconds."}, {"schema", object{{"type", "string"}}}, {"example", "max-age=31536000"}},
	"ETag":                      {{"description", "The state of the resource, for `If-Match` and `If-None-Match`."}, {"schema", object{{"type", "string"}, {"pattern", `^"[^"]+"$`}}}, {"example", `"1a.1"`}},
	"Location":                  {{"description", "Where to find the resource, or the operation."}, {"schema", object{{"type", "string"}, {"format", "uri-reference"}}}, {"example", "/operations/" + exampleID}},
	"Content-Location":          {{"description", "The canonical path of the resource."}, {"required", true}, {"schema", object{{"type", "string"}, {"format", "uri-reference"}}}, {"example", "/operations/" + exampleID}},
	"Link":                      {{"description", "The pages around this one (RFC 8288): `first`, `prev`, `next` and `last`; and `changes`, a stream of what changes after this list."}, {"schema", object{{"type", "string"}}}, {"example", `</operations?limit=100>; rel="first", </operations?limit=-100>; rel="last"`}},
	"X-Total-Count":             {{"description", "How many resources there are, without the range. With filters, and of changes, only for `Prefer: count=exact`."}, {"schema", object{{"type", "integer"}, {"minimum", 0}}}, {"example", 250}},
	"Preference-Applied":        {{"description", "Which preference had an effect (RFC 7240)."}, {"schema", object{{"type", "string"}}}, {"example", "respond-async"}},
	"Idempotency-Replayed":      {{"description", "The request was answered before, and this is that answer."}, {"schema", object{{"type", "string"}, {"const", "true"}}}, {"example", "true"}},
	"Retry-After":               {{"description", "Seconds until it is worth another try."}, {"required", true}, {"schema", object{{"type", "integer"}, {"minimum", 0}}}, {"example", 5}},
	"WWW-Authenticate":          {{"description", "How to authenticate (RFC 6750)."}, {"required", true}, {"schema", object{{"type", "string"}}}, {"example", `Bearer realm="plural"`}},
	"Accept":                    {{"description", "What a body must be."}, {"required", true}, {"schema", object{{"type", "string"}}}, {"example", "application/json"}},
	"Accept-Patch":              {{"description", "What the body of a PATCH must be (RFC 5789)."}, {"required", true}, {"schema", object{{"type", "string"}}}, {"example", "application/json"}},
	"Vary":                      {{"description", "Headers of the request that the answer depends on."}, {"schema", object{{"type", "string"}}}, {"example", "Accept-Encoding"}},
	"Content-Encoding":          {{"description", "How the answer is compressed, if the client takes that."}, {"schema", object{{"type", "string"}, {"const", "gzip"}}}, {"example", "gzip"}},
	"Cache-Control":             {{"description", "How long the answer can be kept."}, {"required", true}, {"schema", object{{"type", "string"}}}, {"example", "no-store"}},
	"Cache-Control" + ofStream:  {{"description", "A stream is not kept."}, {"schema", object{{"type", "string"}}}, {"example", "no-store"}},
	"X-Accel-Buffering":         {{"description", "Of a stream: nginx sends every event at once."}, {"schema", object{{"type", "string"}, {"const", "no"}}}, {"example", "no"}},
	"X-History-Since":           {{"description", "Of a history without its beginning: changes up to this time were removed."}, {"schema", object{{"type", "string"}, {"format", "date-time"}}}, {"example", exampleTime}},
	"X-Affected":                {{"description", "Of a dry run: how many resources would be created, changed or deleted, by collection."}, {"schema", object{{"type", "string"}}}, {"example", "issues=142, comments=3"}},
	"RateLimit":                 {{"description", "How many more requests there can be, and in how many seconds there can be all of them again."}, {"schema", object{{"type", "string"}}}, {"example", `"address";r=599;t=1`}},
	"RateLimit-Policy":          {{"description", "How many requests are taken in how many seconds."}, {"schema", object{{"type", "string"}}}, {"example", `"address";q=600;w=60`}},

	"Access-Control-Allow-Origin":   {{"description", "The origin whose pages may read this, of a request from one that may."}, {"schema", object{{"type", "string"}}}, {"example", "https://app.example.com"}},
	"Access-Control-Expose-Headers": {{"description", "The headers that such a page may read."}, {"schema", object{{"type", "string"}}}, {"example", "ETag, Link"}},
}

// ofStream ends the name of what is said otherwise of streams.
const ofStream = "-Of-Stream"

// headersOf lists the headers of an answer, with those that any may have.
func (b *builder) headersOf(own ...string) object {
	all := append([]string{"X-Request-Id", "X-Content-Type-Options", "Vary"}, own...)
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
