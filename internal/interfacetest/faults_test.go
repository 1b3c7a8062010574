package interfacetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Users have no attribute that could show these.
var (
	postFaults = []fault{
		{"a bare filter finds null", rewritten(`filter\[title\](&|$)`, "filter[title][null]=true$1"), []string{"filter.bare"}},
	}
	sampleFaults = []fault{
		{"integers are doubles", accepted("PATCH", `:9007199254740993\}`, ":9007199254740992}"), []string{"body.integers"}},
	}
)

var envelopeFaults = []fault{
	{"content type with a space", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status != 304 {
			a.header.Set("Content-Type", "application/json; charset=utf-8")
		}
		return a
	}, []string{"envelope.content-type", "envelope.content-type-of-errors", "envelope.content-type-of-writes"}},
	{"errors are text", refusal(func(_ *http.Request, a *broken) { a.header.Set("Content-Type", "text/plain") }),
		[]string{"envelope.content-type-of-errors"}},
	{"content type after writes", response("POST PUT PATCH", func(_ *http.Request, a *broken) { a.header.Set("Content-Type", "application/json") }),
		[]string{"envelope.content-type-of-writes"}},
	{"not wrapped", response("GET", func(_ *http.Request, a *broken) { a.unwrap() }),
		[]string{"envelope.data"}},
	{"not wrapped after writes", response("POST PUT PATCH", func(_ *http.Request, a *broken) { a.unwrap() }),
		[]string{"envelope.writes"}},
	{"members beside data", response("", func(_ *http.Request, a *broken) { a.replace(`^\{"data"`, `{"meta":{},"data"`) }),
		[]string{"envelope.only-data", "envelope.only-data-of-writes"}},
	{"an object for one element", response("GET", func(_ *http.Request, a *broken) {
		if a.count() == 1 {
			a.replace(`^\{"data":\[(.*)\]\}$`, `{"data":$1}`)
		}
	}), []string{"envelope.array-of-one"}},
	{"an object of resources for a collection", response("GET", func(r *http.Request, a *broken) {
		if a.count() > 1 && r.URL.RawQuery == "limit=2" {
			a.replace(`^\{"data":\[(.*)\]\}$`, `{"data":{"items":[$1]}}`)
		}
	}), []string{"envelope.array"}},
	{"an array for one resource", response("GET", func(r *http.Request, a *broken) {
		if isOne(r) {
			a.replace(`^\{"data":(.*)\}$`, `{"data":[$1]}`)
		}
	}), []string{"envelope.object"}},
	{"members beside errors", refusal(func(_ *http.Request, a *broken) { a.replace(`^\{"errors"`, `{"message":"no","errors"`) }),
		[]string{"envelope.errors"}},
	{"a member twice in an answer", response("GET", func(_ *http.Request, a *broken) { a.replace(`("type":"users"),`, `$1,$1,`) }),
		[]string{"envelope.strict-json", "representation.member-order"}},
	{"no request id", func(next serve, r *http.Request) *broken {
		a := next(r)
		a.header.Del("X-Request-Id")
		return a
	}, []string{"envelope.request-id"}},
	{"errors without a code", refusal(func(_ *http.Request, a *broken) { a.replace(`"code":"[a-z_]*",`, ``) }),
		[]string{"error.members"}},
	{"status of errors", refusal(func(_ *http.Request, a *broken) { a.replace(`"status":\d+`, `"status":499`) }),
		[]string{"error.status"}},
	{"errors without a source", refusal(func(_ *http.Request, a *broken) { a.replace(`,"source":\{[^}]*\}`, ``) }),
		[]string{"error.header", "error.parameter", "error.pointer"}},
	{"the first error alone", refusal(func(_ *http.Request, a *broken) { a.replace(`\},\{"status".*\]`, `}]`) }),
		[]string{"body.all-violations"}},
}

var representationFaults = []fault{
	{"no id", response("GET", func(r *http.Request, a *broken) {
		if isOne(r) {
			a.replace(`"id":"[^"]*",`, ``)
		}
	}), []string{"representation.id"}},
	{"no type", response("", func(_ *http.Request, a *broken) { a.replace(`"type":"users",`, ``) }), []string{"representation.type"}},
	{"the singular as type", response("", func(_ *http.Request, a *broken) { a.replace(`"type":"users"`, `"type":"user"`) }), []string{"representation.type"}},
	{"ids in upper case", response("", func(_ *http.Request, a *broken) { a.body = idMember.ReplaceAllStringFunc(a.body, upperID) }),
		[]string{"representation.uuid-lower-case"}},
	{"ids without dashes", response("GET", func(r *http.Request, a *broken) {
		if isOne(r) {
			a.body = idMember.ReplaceAllStringFunc(a.body, func(text string) string { return strings.ReplaceAll(text, "-", "") })
		}
	}), []string{"representation.uuid"}},
	{"a timestamp with an offset for Z", response("", func(_ *http.Request, a *broken) { a.replace(`Z"`, `+00:00"`) }),
		[]string{"representation.timestamps-form"}},
	{"local time", response("", func(_ *http.Request, a *broken) { a.replace(`Z"`, `+02:00"`) }),
		[]string{"representation.timestamps", "representation.timestamps-form", "patch.read-only"}},
	{"updated before it was created", response("GET", func(r *http.Request, a *broken) {
		if isUsers(r) {
			a.replace(`"updated_at":"20`, `"updated_at":"19`)
		}
	}), []string{"representation.timestamps-order", "read.same-everywhere"}},
	{"null is left out", response("", func(_ *http.Request, a *broken) { a.replace(`"[a-z_]+":null,`, ``) }),
		[]string{"representation.all-attributes"}},
	{"members in another order", response("", func(_ *http.Request, a *broken) { a.replace(`("id":"[^"]*"),("type":"[^"]*"),`, `$2,$1,`) }),
		[]string{"representation.member-order"}},
	{"a list that is out of date", response("GET", func(r *http.Request, a *broken) {
		if isUsers(r) && r.URL.RawQuery == "limit=500" {
			a.replace(`"email":"`, `"email":"old-`)
		}
	}), []string{"read.same-everywhere"}},
	{"another resource than asked for", response("GET", func(r *http.Request, a *broken) {
		if strings.HasPrefix(r.URL.Path, "/users/") && isOne(r) {
			a.replace(`"id":"[^"]{4}`, `"id":"ffff`)
		}
	}), []string{"read.item", "path.upper-case-id"}},
	{"newest first", func(next serve, r *http.Request) *broken {
		if (r.Method == "GET" || r.Method == "HEAD") && !strings.Contains(r.URL.RawQuery, "sort=") && isUsers(r) {
			r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&sort=-id", "&")
		}
		return next(r)
	}, []string{"read.order", "cursor.deleted"}}, // in a sorted collection, a deleted cursor has no place
	{"lists answer 206", response("GET HEAD", func(r *http.Request, a *broken) {
		if isUsers(r) {
			a.status = 206
		}
	}), []string{"read.collection"}},
}

var (
	idMember = regexp.MustCompile(`"id":"[^"]*"`)
	upperID  = func(text string) string { return `"id":` + strings.ToUpper(text[5:]) }
)

func (a *broken) replace(pattern, with string) {
	a.body = regexp.MustCompile(pattern).ReplaceAllString(a.body, with)
}

func (a *broken) unwrap() { a.replace(`^\{"data":(.*)\}$`, `$1`) }

// count is the number of resources in a list, -1 if it is none.
func (a *broken) count() int {
	var envelope struct{ Data []json.RawMessage }
	if json.Unmarshal([]byte(a.body), &envelope) != nil {
		return -1
	}
	return len(envelope.Data)
}

// query is one parameter of a request by its long name.
func query(r *http.Request, name string) string { return r.URL.Query().Get(name) }

func integer(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

var rangeFaults = []fault{
	{"positions from one", parameters(func(name, value string) (string, bool) {
		if n, err := strconv.Atoi(value); err == nil && n > 0 && (name == "offset" || name == "o") {
			return fmt.Sprint(n - 1), true
		}
		return value, true
	}), []string{"range.zero-based", "range.negative-limit-cut", "range.back-from-past-end", "link.next-by-offset", "link.prev-by-offset", "link.end", "link.beyond-end", "sort.range", "child.range"}},
	{"one more than the limit", parameters(func(name, value string) (string, bool) {
		if name == "limit" && value == "10" {
			return "11", true
		}
		return value, true
	}), []string{"range.positive-limit"}},
	{"a negative limit counts forward", func(next serve, r *http.Request) *broken {
		if query(r, "offset") != "" {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "limit=-", "limit=", 1)
		}
		return next(r)
	}, []string{"range.negative-limit", "range.negative-limit-cut", "range.back-from-past-end", "link.prev-by-offset", "child.range"}},
	{"a negative limit counts one short", func(next serve, r *http.Request) *broken {
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "limit=-25", "limit=-24", 1)
		return next(r)
	}, []string{"range.negative-limit"}},
	{"a negative limit lists backwards", response("GET", func(r *http.Request, a *broken) {
		if strings.HasPrefix(query(r, "limit"), "-") {
			items(a, func(all []json.RawMessage) []json.RawMessage { slices.Reverse(all); return all })
		}
	}), []string{"range.negative-limit-order"}},
	{"a negative limit beyond the start is refused", func(next serve, r *http.Request) *broken {
		if strings.HasPrefix(query(r, "limit"), "-") && integer(query(r, "offset"))+integer(query(r, "limit")) < 0 && query(r, "offset") != "" {
			r.URL.RawQuery = "limit=ten"
		}
		return next(r)
	}, []string{"range.negative-limit-cut", "child.range"}},
	{"a limit beyond the end is refused", func(next serve, r *http.Request) *broken {
		if query(r, "offset") != "" && integer(query(r, "limit")) == 1000 {
			r.URL.RawQuery = "limit=ten"
		}
		return next(r)
	}, []string{"range.limit-beyond-end"}},
	{"at most ten resources", parameters(func(name, value string) (string, bool) {
		if n, err := strconv.Atoi(value); name == "limit" && (err != nil || n > 10) && value != "ten" {
			return "10", true
		}
		return value, true
	}), []string{"range.limit-beyond-total", "range.any-size", "range.not-an-integer", "parameter.encoding", "parameter.semicolon", "cursor.limit"}},
	{"o is ignored", parameters(func(name, value string) (string, bool) { return value, name != "o" }),
		[]string{"range.alias-o", "parameter.both-names"}},
	{"l is ignored", parameters(func(name, value string) (string, bool) { return value, name != "l" }),
		[]string{"range.alias-l", "parameter.both-names"}},
	{"a negative limit alone counts from the start", func(next serve, r *http.Request) *broken {
		if limit, alone := strings.CutPrefix(r.URL.RawQuery, "limit=-"); alone {
			r.URL.RawQuery = "limit=" + limit
		}
		return next(r)
	}, []string{"range.last", "link.last", "link.end"}},
	{"limit=0 is the default", parameters(func(name, value string) (string, bool) { return value, name != "limit" || value != "0" }),
		[]string{"range.limit-zero", "link.limit-zero"}},
	{"an offset past the end is 404", response("GET", func(r *http.Request, a *broken) {
		if isUsers(r) && query(r, "offset") != "" && a.count() == 0 {
			a.status, a.body = 404, `{"errors":[{"status":404,"code":"not_found","title":"Not found","detail":"Nothing is there."}]}`
		}
	}), []string{"range.offset-past-end", "range.any-size"}},
	{"numbers of 32 bits", func(next serve, r *http.Request) *broken {
		if len(query(r, "offset")) > 10 || len(query(r, "limit")) > 10 {
			r.URL.RawQuery = "limit=ten"
		}
		return next(r)
	}, []string{"range.any-size"}},
	{"a negative offset is zero", parameters(func(name, value string) (string, bool) {
		return value, name != "offset" || value != "-1"
	}), []string{"range.negative-offset"}},
	{"what is no number is the default", parameters(func(name, value string) (string, bool) {
		_, err := strconv.Atoi(value)
		return value, name != "limit" || err == nil || len(value) > 10
	}), []string{"range.not-an-integer", "parameter.encoding", "parameter.semicolon"}},
	{"a cursor is left out", func(next serve, r *http.Request) *broken {
		if cursor, limit := query(r, "cursor"), integer(query(r, "limit")); cursor != "" && limit == 30 && isUsers(r) {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "limit=30", "limit=31", 1)
			a := next(r)
			items(a, func(all []json.RawMessage) []json.RawMessage { return all[1:] })
			return a
		}
		return next(r)
	}, []string{"cursor.inclusive"}},
	{"a cursor and at most 20", func(next serve, r *http.Request) *broken {
		if query(r, "cursor") != "" {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "limit=30", "limit=20", 1)
		}
		return next(r)
	}, []string{"cursor.limit"}},
	{"a cursor near the end is refused", func(next serve, r *http.Request) *broken {
		a := next(r)
		if query(r, "limit") == "30" && isUsers(r) && a.count() < 30 {
			return next(again(r, "GET", "/users?limit=ten", ""))
		}
		return a
	}, []string{"cursor.limit-beyond-end"}},
	{"a negative limit includes the cursor", response("GET", func(r *http.Request, a *broken) {
		if query(r, "cursor") != "" && query(r, "limit") == "-4" {
			items(a, func(all []json.RawMessage) []json.RawMessage {
				return append(all[1:], json.RawMessage(`{"id":"`+query(r, "cursor")+`"}`))
			})
		}
	}), []string{"cursor.negative-limit"}},
	{"an upper-case cursor is unknown", parameters(func(name, value string) (string, bool) {
		if name == "cursor" && strings.ToLower(value) != value {
			return id(7), true
		}
		return value, true
	}), []string{"cursor.upper-case"}},
	{"an unknown cursor is the start", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 400 && strings.Contains(a.body, `"unknown_cursor"`) {
			r.URL.RawQuery = ""
			return next(r)
		}
		return a
	}, []string{"cursor.unknown", "child.cursor"}},
	{"any text is a cursor", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 400 && strings.Contains(a.body, `"parameter":"cursor"`) && strings.Contains(a.body, "UUID") {
			r.URL.RawQuery = ""
			return next(r)
		}
		return a
	}, []string{"cursor.malformed"}},
	{"cursor beats offset", func(next serve, r *http.Request) *broken {
		if query(r, "cursor") != "" {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "&offset=1", "", 1)
		}
		return next(r)
	}, []string{"cursor.with-offset"}},
	{"a cursor must pass the filter", func(next serve, r *http.Request) *broken {
		if query(r, "cursor") != "" && strings.Contains(r.URL.RawQuery, "filter[id][ne]="+query(r, "cursor")) {
			r.URL.RawQuery = "cursor=" + id(7)
		}
		return next(r)
	}, []string{"cursor.outside-filter"}},
	{"a deleted cursor is forgotten", func(next serve, r *http.Request) *broken {
		if cursor := query(r, "cursor"); cursor != "" && isUsers(r) && next(again(r, "GET", "/users/"+cursor, "")).status == 404 {
			r.URL.RawQuery = "cursor=" + id(7)
		}
		return next(r)
	}, []string{"cursor.deleted"}},
}
