package interfacetest

import (
	"strings"
	"testing"

	"github.com/plural-go/plural"
)

// TestStrictJSON: what is not well-formed is refused by every method that takes
// a body, and says where.
func TestStrictJSON(t *testing.T) {
	tests := []struct{ body, want string }{
		{" ", ""}, {"\n\t", ""}, {"{", ""}, {"}", ""}, {`{"text":"a"`, ""}, {`{"text":"a`, ""}, {`{"text":`, ""}, {`{"text"}`, "/text"}, {`{"text":"a",}`, ""}, {`{,}`, ""}, {`{text:"a"}`, ""}, {`{'text':'a'}`, ""},
		{`{"text":"a"}{}`, ""}, {`{"text":"a"} x`, ""}, {`{"text":"a"},`, ""}, {"{\"text\":\"a\"}\x00", ""}, {`{"text":"a"} // comment`, ""}, {`/* comment */{}`, ""},
		{"\xef\xbb\xbf{}", ""}, {"\xff\xfe{\x00}\x00", ""},
		{`{"text":"a","text":"a"}`, "/text"}, {`{"text":"a","\u0074ext":"b"}`, "/text"}, {`{"nope":1,"nope":2}`, "/nope"}, {`{"object":{"a":{"b":1,"c":2,"b":3}}}`, "/object/a/b"}, {`{"id":"` + id(0) + `","id":"` + id(0) + `"}`, "/id"},
		{`{"text":"\ud800"}`, "/text"}, {`{"text":"\udc00"}`, "/text"}, {`{"text":"\ud834x"}`, "/text"}, {`{"text":"\udd1e\ud834"}`, "/text"}, {`{"object":{"\ud800":1}}`, "/object"},
		{"{\"text\":\"\xff\"}", "/text"}, {"{\"text\":\"\xc3\"}", "/text"}, {"{\"text\":\"\xed\xa0\x80\"}", "/text"}, {"{\"text\":\"\xc0\xaf\"}", "/text"}, {"{\"text\":\"\xf4\x90\x80\x80\"}", "/text"}, {"{\"\xff\":1}", ""},
		{"{\"text\":\"a\nb\"}", "/text"}, {"{\"text\":\"\x01\"}", "/text"}, {`{"text":"\x41"}`, "/text"}, {`{"text":"\u12"}`, "/text"},
		{`{"number":01}`, ""}, {`{"number":+1}`, "/number"}, {`{"number":.5}`, "/number"}, {`{"number":1.}`, "/number"}, {`{"number":NaN}`, "/number"}, {`{"number":Infinity}`, "/number"}, {`{"number":0x1}`, ""}, {`{"number":1e}`, "/number"}, {`{"number":-}`, "/number"},
		{`{"boolean":True}`, "/boolean"}, {`{"boolean":nil}`, "/boolean"}, {`{"array":[1,]}`, "/array"}, {`{"array":[1 2]}`, "/array"}, {`{"array":[}`, "/array/0"}, {`undefined`, ""},
		{`{"nope":1,"text":}`, "/text"}, // malformed wins over invalid
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		s.createAll("/samples", `{"id":"`+id(0)+`"}`)
		before := s.get("/samples").body
		for _, test := range tests {
			for _, request := range [][2]string{{"POST", "/samples"}, {"PUT", "/samples/" + id(0)}, {"PATCH", "/samples/" + id(0)}} {
				s.expectRefusal(t, request[0], request[1], test.body, 400, strings.TrimSpace("malformed_json "+test.want))
			}
		}
		for _, method := range []string{"POST", "PUT", "PATCH"} {
			path := "/samples/" + id(0)
			if method == "POST" {
				path = "/samples"
			}
			s.do(method, path, "", "Content-Type", "application/json").expectErrors(t, 400, "malformed_json")
		}
		if after := s.get("/samples").body; after != before {
			t.Errorf("got  %s\nwant %s", after, before)
		}
		// White space around and within is fine.
		s.do("PATCH", "/samples/"+id(0), " \r\n\t{ \"text\" : \"a\" }\n").expect(t, 200, s.get("/samples/"+id(0)).timeless())
	})
}

// nested is an array of arrays, so many levels deep.
func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func TestDepth(t *testing.T) {
	eachStore(t, large(t), func(t *testing.T, s *server) {
		created := s.do("POST", "/samples", `{"id":"`+id(0)+`","array":`+nested(63)+`}`) // and the object around it
		if created.status != 201 || created.member(t, "array") != nested(63) {
			t.Errorf("64 levels: %d %s", created.status, created.body)
		}
		s.do("POST", "/samples", `{"array":`+nested(64)+`}`).expectErrors(t, 400, "too_deep /array"+strings.Repeat("/0", 63))
		s.do("PATCH", "/samples/"+id(0), `{"nope":`+nested(64)+`}`).expectErrors(t, 400, "too_deep /nope"+strings.Repeat("/0", 63))
		s.do("POST", "/samples", nested(100_000)).expectErrors(t, 400, "too_deep "+strings.Repeat("/0", 64))
		s.do("POST", "/samples", strings.Repeat("[", 100_000)).expectErrors(t, 400, "too_deep "+strings.Repeat("/0", 64))
		s.do("PUT", "/samples/"+id(0), strings.Repeat(`{"a":`, 100_000)).expectErrors(t, 400, "too_deep "+strings.Repeat("/a", 64))
		if total := s.get("/samples?limit=0").total(); total != "1" {
			t.Errorf("the total is %s", total)
		}
	})
	eachStore(t, large(t), func(t *testing.T, s *server) {
		s.createAll("/samples", `{"array":[]}`)
		s.do("POST", "/samples", `{"array":[[[]]]}`).expectErrors(t, 400, "too_deep /array/0/0")
	}, func(c *plural.Config) { c.MaxDepth = 3 })
}

// TestStrictQuery: broken encodings are refused wherever there is a query.
func TestStrictQuery(t *testing.T) {
	eachStore(t, large(t), func(t *testing.T, s *server) {
		s.createAll("/samples", `{"id":"`+id(0)+`"}`)
		for query, want := range map[string][]string{
			"limit=%":                {"malformed_query limit"},
			"limit=%1":               {"malformed_query limit"},
			"limit=%zz":              {"malformed_query limit"},
			"%zz=1":                  {"malformed_query %zz"},
			"limit=1;offset=2":       {"malformed_query limit=1;offset=2"},
			"filter[text]=a;b":       {"malformed_query filter[text]=a;b"},
			"filter[text]=%ff":       {"malformed_query filter[text]"},
			"filter[text]=%ed%a0%80": {"malformed_query filter[text]"},
			"filter[text]=%00":       {"malformed_query filter[text]"},
			"filter[text][in]=a,%00": {"malformed_query filter[text][in]"},
			"%66%zz&limit=%&o=x":     {"malformed_query %66%zz", "malformed_query limit", "invalid_parameter o"},
			"=1":                     {"unknown_parameter"},
			"limit==1":               {"invalid_parameter limit"},
			"limit[]=1":              {"unknown_parameter limit[]"},
			"%6Cimit=1&limit=1":      {"duplicate_parameter limit"},
			"count=exact":            {"unknown_parameter count"},
		} {
			s.expectRefusal(t, "GET", "/samples?"+query, "", 400, want...)
		}
		for _, request := range [][3]string{{"GET", "/", ""}, {"GET", "/samples/" + id(0), ""}, {"POST", "/samples", "{}"}, {"PUT", "/samples/" + id(0), "{}"}, {"PATCH", "/samples/" + id(0), "{}"}, {"DELETE", "/samples/" + id(0), ""}} {
			s.expectRefusal(t, request[0], request[1]+"?limit=1", request[2], 400, "unknown_parameter limit")
			s.expectRefusal(t, request[0], request[1]+"?a=%zz&b", request[2], 400, "malformed_query a", "unknown_parameter b")
		}
		s.get("/samples?filter[text]=%3B").expectPositions(t, "an encoded semicolon")
		s.get("/samples?&&").expectPositions(t, "empty pieces", 0)
	})
}
