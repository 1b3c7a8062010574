package interfacetest

import "testing"

// TestConstraints: every keyword of the schema, at and beyond its bounds.
func TestConstraints(t *testing.T) {
	tests := []struct {
		body string
		want []string // none: valid
	}{
		{`{"word":"ab"}`, nil},
		{`{"word":"éé𝄞𝄞"}`, nil}, // lengths count code points
		{`{"word":"a"}`, []string{"min_length /word"}},
		{`{"word":""}`, []string{"min_length /word"}},
		{`{"word":"abcde"}`, []string{"max_length /word"}},
		{`{"word":1}`, []string{"type /word"}},
		{`{"code":"ABC12"}`, nil},
		{`{"code":"abc"}`, []string{"pattern /code"}},
		{`{"code":"A\n"}`, []string{"pattern /code"}},
		{`{"color":"red"}`, nil},
		{`{"color":null}`, nil},
		{`{"color":"Red"}`, []string{"enum /color"}},
		{`{"color":1}`, []string{"type /color"}},
		{`{"dozen":-12}`, nil},
		{`{"dozen":9}`, nil},
		{`{"dozen":12}`, []string{"maximum /dozen"}},
		{`{"dozen":-15}`, []string{"minimum /dozen"}},
		{`{"dozen":1}`, []string{"multiple_of /dozen"}},
		{`{"dozen":13}`, []string{"maximum /dozen", "multiple_of /dozen"}},
		{`{"share":0.3}`, nil},
		{`{"share":1}`, nil},
		{`{"share":0}`, []string{"minimum /share"}},
		{`{"share":1.1}`, []string{"maximum /share"}},
		{`{"share":0.25}`, []string{"multiple_of /share"}},
		{`{"level":2}`, nil},
		{`{"level":2.0}`, nil},
		{`{"level":4}`, []string{"enum /level"}},
		{`{"tags":["a","b","c"]}`, nil},
		{`{"tags":[]}`, []string{"min_items /tags"}},
		{`{"tags":["a","b","c","d"]}`, []string{"max_items /tags"}},
		{`{"tags":["a",1,"abcd",null]}`, []string{"type /tags/1", "max_length /tags/2", "type /tags/3", "max_items /tags"}},
		{`{"tags":{}}`, []string{"type /tags"}},
		{`{"tags":"a"}`, []string{"type /tags"}},
		{`{"address":{"country":"NL"}}`, nil},
		{`{"address":{"country":"NL","street":"S","number":1,"since":"2026-11-14T10:30:00+01:00"}}`, nil},
		{`{"address":{}}`, []string{"required /address/country"}},
		{`{"address":{"country":"NLD","number":0,"city":"X","street":7,"since":"now"}}`,
			[]string{"max_length /address/country", "minimum /address/number", "unknown_attribute /address/city", "type /address/street", "format /address/since"}},
		{`{"address":[]}`, []string{"type /address"}},
		{`{"notes":{"any":[1,{"deep":null}]}}`, nil},
		{`{"notes":[]}`, []string{"type /notes"}},
		{`{"word":"a","code":"x","color":"pink","dozen":100,"share":7.05,"level":9,"tags":[1],"address":1}`,
			[]string{"min_length /word", "pattern /code", "enum /color", "maximum /dozen", "multiple_of /dozen", "maximum /share", "multiple_of /share", "enum /level", "type /tags/0", "type /address"}},
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		s.createAll("/rules", `{"id":"`+id(0)+`"}`)
		for _, test := range tests {
			for _, request := range [][2]string{{"POST", "/rules"}, {"PUT", "/rules/" + id(0)}, {"PATCH", "/rules/" + id(0)}} {
				if test.want != nil {
					s.expectRefusal(t, request[0], request[1], test.body, 422, test.want...)
				} else if got := s.do(request[0], request[1], test.body); got.status/100 != 2 {
					t.Errorf("%s %s: %d %s", request[0], test.body, got.status, got.body)
				}
			}
		}
	})
}

// TestDefaults fill in what POST and PUT leave out, and never what PATCH does.
func TestDefaults(t *testing.T) {
	rule := func(color, notes string) string {
		return `{"data":{"id":"` + id(0) + `","type":"rules","word":null,"code":null,"color":` + color + `,"dozen":null,"share":null,"level":null,"tags":null,"address":null,"notes":` + notes + `}}`
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		s.do("POST", "/rules", `{"id":"`+id(0)+`"}`).expect(t, 201, rule(`"green"`, `{"a":[]}`))
		s.do("PATCH", "/rules/"+id(0), `{"color":null,"notes":{}}`).expect(t, 200, rule(`null`, `{}`))
		s.do("PATCH", "/rules/"+id(0), `{}`).expect(t, 200, rule(`null`, `{}`))
		s.do("PUT", "/rules/"+id(0), `{"color":null}`).expect(t, 200, rule(`null`, `{"a":[]}`))
		s.do("PUT", "/rules/"+id(0), `{}`).expect(t, 200, rule(`"green"`, `{"a":[]}`))
	})
}

// TestFormats: what a format accepts and refuses, and how it comes back.
func TestFormats(t *testing.T) {
	tests := []struct {
		attribute string
		valid     [][2]string // as sent and as returned
		invalid   []string
	}{
		{"email", [][2]string{{"a@b", "a@b"}, {"Ada.L+x@Example.COM", "Ada.L+x@Example.COM"}, {"a@[127.0.0.1]", "a@[127.0.0.1]"}},
			[]string{"", "a", "@b", "a@", "a b@c", "a@b c", "a@b@c", "a..b@c", "a@-b", "Ada <a@b>"}},
		{"uri", [][2]string{{"https://example.com/a?b=c#d", "https://example.com/a?b=c#d"}, {"urn:isbn:1", "urn:isbn:1"}, {"mailto:a@b", "mailto:a@b"}},
			[]string{"", "/a", "example.com", "http://a b", "http://a/%zz", "http://é/", "http:"}},
		{"uuid", [][2]string{{"ABCDEFAB-CDEF-4ABC-8DEF-ABCDEFABCDEF", "abcdefab-cdef-4abc-8def-abcdefabcdef"}, {id(1), id(1)}},
			[]string{"", "1", "{" + id(1) + "}", "urn:uuid:" + id(1), "abcdefabcdef4abc8defabcdefabcdef"}},
		{"date", [][2]string{{"2026-11-14", "2026-11-14"}, {"2024-02-29", "2024-02-29"}, {"0000-01-01", "0000-01-01"}, {"9999-12-31", "9999-12-31"}},
			[]string{"", "2026-11-1", "2026-13-01", "2025-02-29", "20261114", "2026-11-14T00:00:00Z", " 2026-11-14"}},
		{"moment", [][2]string{
			{"2026-11-14T09:30:00.123Z", "2026-11-14T09:30:00.123Z"}, {"2026-11-14T09:30:00Z", "2026-11-14T09:30:00.000Z"},
			{"2026-11-14T09:30:00.1Z", "2026-11-14T09:30:00.100Z"}, {"2026-11-14t09:30:00.12z", "2026-11-14T09:30:00.120Z"},
			{"2026-11-14T00:30:00+05:30", "2026-11-13T19:00:00.000Z"}, {"2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00.000Z"},
			{"2026-11-14T09:30:00-00:00", "2026-11-14T09:30:00.000Z"}, {"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"},
			{"0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"}, {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
		}, []string{
			"", "2026-11-14", "2026-11-14T09:30Z", "2026-11-14T09:30:00", "2026-11-14 09:30:00Z", "2026-11-14T09:30:00.1234Z", "2026-11-14T09:30:00.Z",
			"2026-11-14T24:00:00Z", "2026-02-30T00:00:00Z", "2026-11-14T09:30:00+24:00", "2026-11-14T09:30:00+0100", "2026-11-14T09:30:00,5Z",
			"0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "+2026-11-14T09:30:00Z", "1763112600",
		}},
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		s.createAll("/samples", `{"id":"`+id(0)+`"}`)
		for _, test := range tests {
			for _, pair := range test.valid {
				s.do("PATCH", "/samples/"+id(0), `{"`+test.attribute+`":"`+pair[0]+`"}`)
				if got := s.get("/samples/"+id(0)).member(t, test.attribute); got != quoted(pair[1]) {
					t.Errorf("%s %s: got %s, want %s", test.attribute, pair[0], got, pair[1])
				}
			}
			for _, text := range test.invalid {
				s.expectRefusal(t, "PATCH", "/samples/"+id(0), `{"`+test.attribute+`":"`+text+`"}`, 422, "format /"+test.attribute)
			}
			s.expectRefusal(t, "PATCH", "/samples/"+id(0), `{"`+test.attribute+`":20261114}`, 422, "type /"+test.attribute)
		}
	})
}
