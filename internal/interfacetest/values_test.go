package interfacetest

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestNumbers: integers are exact, numbers are doubles in their shortest form.
func TestNumbers(t *testing.T) {
	tests := []struct{ attribute, sent, want string }{
		{"integer", "0", "0"}, {"integer", "-0", "0"}, {"integer", "1.0", "1"}, {"integer", "1e3", "1000"}, {"integer", "-1.50e1", "-15"}, {"integer", "10e-1", "1"},
		{"integer", "9007199254740993", "9007199254740993"}, {"integer", "-9007199254740993", "-9007199254740993"},
		{"integer", "9223372036854775807", "9223372036854775807"}, {"integer", "-9223372036854775808", "-9223372036854775808"},
		{"integer", "9223372036854775807.0", "9223372036854775807"}, {"integer", "0.000e999999999999999999", "0"},
		{"number", "0", "0"}, {"number", "-0", "0"}, {"number", "-0.0", "0"}, {"number", "1", "1"}, {"number", "1.0", "1"}, {"number", "0.10", "0.1"},
		{"number", "1e3", "1000"}, {"number", "1e21", "1e+21"}, {"number", "123456789012345680000", "123456789012345680000"}, {"number", "0.000001", "0.000001"}, {"number", "1e-7", "1e-7"},
		{"number", "9007199254740992", "9007199254740992"}, {"number", "0.100000000000000000000000000", "0.1"}, {"number", "0.30000000000000004", "0.30000000000000004"},
		{"number", "1.7976931348623157e308", "1.7976931348623157e+308"}, {"number", "5e-324", "5e-324"}, {"number", "-1.5E+2", "-150"},
		{"array", "[1.0,1e3,-0,9007199254740993,0.10]", "[1,1000,0,9007199254740993,0.1]"},
	}
	refused := []struct{ attribute, sent, want string }{
		{"integer", "1.5", "type"}, {"integer", "1e-1", "type"}, {"integer", `"1"`, "type"}, {"integer", "true", "type"}, {"integer", "[1]", "type"},
		{"integer", "9223372036854775808", "out_of_range"}, {"integer", "-9223372036854775809", "out_of_range"}, {"integer", "1e400", "out_of_range"}, {"integer", "1e999999999999999999", "out_of_range"},
		{"number", "1e400", "out_of_range"}, {"number", "-1e309", "out_of_range"}, {"number", `"1"`, "type"}, {"number", "false", "type"},
		{"number", "9007199254740993", "precision"}, {"number", "0.1000000000000000055511151231257827", "precision"}, {"number", "0.10000000000000001", "precision"},
		{"boolean", "1", "type"}, {"boolean", `"true"`, "type"}, {"boolean", "[]", "type"},
		{"text", "1", "type"}, {"text", "true", "type"}, {"text", "{}", "type"},
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		s.createAll("/samples", `{"id":"`+id(0)+`"}`)
		for _, test := range tests {
			written := s.do("PATCH", "/samples/"+id(0), `{"`+test.attribute+`":`+test.sent+`}`)
			read := s.get("/samples/" + id(0))
			listed := s.get("/samples")
			if got := read.member(t, test.attribute); got != test.want {
				t.Errorf("%s %s: got %s, want %s", test.attribute, test.sent, got, test.want)
			}
			if written.body != read.body || listed.body != data(whole(read)) {
				t.Errorf("%s %s: written %s\nread %s\nlisted %s", test.attribute, test.sent, written.body, read.body, listed.body)
			}
			if again := s.do("PATCH", "/samples/"+id(0), `{"`+test.attribute+`":`+test.want+`}`); again.body != read.body {
				t.Errorf("%s %s: sent back, it is another value: %s", test.attribute, test.sent, again.body)
			}
		}
		for _, test := range refused {
			s.expectRefusal(t, "PATCH", "/samples/"+id(0), `{"`+test.attribute+`":`+test.sent+`}`, 422, test.want+" /"+test.attribute)
		}
		s.expectRefusal(t, "PATCH", "/samples/"+id(0), `{"array":[1,1e400]}`, 422, "out_of_range /array/1")
		s.expectRefusal(t, "PATCH", "/samples/"+id(0), `{"array":[1,0.10000000000000001]}`, 422, "precision /array/1")
		s.expectRefusal(t, "GET", "/samples?filter[number]=0.10000000000000001", "", 400, "invalid_parameter filter[number]")
	})
}

// texts hold every kind of Unicode.
var texts = []string{
	"", " ", "\t\n\r", "plain", `quotes " and \ backslashes / slashes`, "'; DROP TABLE samples; --", "<script>&amp;</script>", "$1 ? :x @y %s %_",
	"\x01\x1f\x7f", "\u0085\u00a0", "é", "e\u0301", "ß ẞ ı İ", "\u200b\u200d\u202e\ufeff", "\u2028\u2029", "日本語", "\u0600 العربية", "𝄞😀👩‍👩‍👧", "\U0010ffff\U000fffff", "\ud7ff\ue000\uffff\ufffd",
	strings.Repeat("é", 5000),
}

// TestStrings: whatever comes in comes out, byte for byte, from every place.
func TestStrings(t *testing.T) {
	eachStore(t, large(t), func(t *testing.T, s *server) {
		for i, text := range texts {
			sent, _ := json.Marshal(text)
			nested := `{"object":{` + string(sent) + `:[` + string(sent) + `]},"text":` + string(sent) + `,"id":"` + id(i) + `"}`
			created := s.do("POST", "/samples", nested)
			if created.status != 201 {
				t.Errorf("%q: %d %s", text, created.status, created.body)
				continue
			}
			read := s.get("/samples/" + id(i))
			var envelope struct {
				Data struct {
					Text   string
					Object map[string][]string
				}
			}
			if err := json.Unmarshal([]byte(read.body), &envelope); err != nil {
				t.Fatal(err)
			}
			if got := envelope.Data; got.Text != text || len(got.Object) != 1 || len(got.Object[text]) != 1 || got.Object[text][0] != text {
				t.Errorf("got %+q, want %+q", got, text)
			}
			if read.body != created.body {
				t.Errorf("created %s\nread %s", created.body, read.body)
			}
		}
		// Escapes are only another way to write the same.
		s.do("PATCH", "/samples/"+id(0), `{"text":"\u0041\ud834\udd1e\/\u00e9\u0001\u007f"}`)
		if got := s.get("/samples/"+id(0)).member(t, "text"); got != "\"A𝄞/é\\u0001\u007f\"" {
			t.Errorf("got %s", got)
		}
		for body, want := range map[string]string{
			`{"text":"a\u0000b"}`:             "null_character /text",
			`{"array":["\u0000"]}`:            "null_character /array/0",
			`{"object":{"a":{"\u0000":1}}}`:   "null_character /object/a/\x00",
			`{"email":"a\u0000@example.com"}`: "null_character /email, format /email",
		} {
			s.expectRefusal(t, "PATCH", "/samples/"+id(0), body, 422, strings.Split(want, ", ")...)
		}
	})
}

// TestObjectsAndArrays keep the order of their members.
func TestObjectsAndArrays(t *testing.T) {
	eachStore(t, large(t), func(t *testing.T, s *server) {
		s.createAll("/samples", `{"id":"`+id(0)+`"}`)
		object := `{"z":1,"a":{"y":[],"b":{}},"":null,"é":[true,false,null,"x"]}`
		s.do("PATCH", "/samples/"+id(0), "{ \"object\" :\n\t{\"z\": 1, \"a\": {\"y\": [ ], \"b\": {}}, \"\": null, \"\\u00e9\": [true, false, null, \"x\"]}, \"array\": [[], [ [1] ]] }")
		read := s.get("/samples/" + id(0))
		if got := read.member(t, "object"); got != object {
			t.Errorf("got %s, want %s", got, object)
		}
		if got := read.member(t, "array"); got != `[[],[[1]]]` {
			t.Errorf("got %s", got)
		}
		// A member replaces the attribute whole: nothing is merged.
		s.do("PATCH", "/samples/"+id(0), `{"object":{"b":2}}`)
		if got := s.get("/samples/"+id(0)).member(t, "object"); got != `{"b":2}` {
			t.Errorf("got %s", got)
		}
	})
}
