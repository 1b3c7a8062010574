package model_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// notes has what the tests of bodies need: required, default, parent.
var notes = mustNew(
	model.Collection{Name: "notes", Parent: &model.Parent{Collection: "users"}, Attributes: []model.Attribute{
		{Name: "title", Type: model.String, Required: true},
		{Name: "stars", Type: model.Integer, Required: true, Default: 3},
		{Name: "public", Type: model.Boolean, Default: true},
		{Name: "meta", Type: model.Object},
	}},
	model.Collection{Name: "users"},
)

const (
	noteID  = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	otherID = "01936f2e-7d3c-7a4b-9c5d-0123456789ac"
)

func mustID(text string) model.ID {
	id, ok := model.ParseID(text)
	if !ok {
		panic(text)
	}
	return id
}

func options(mode model.Mode) model.DecodeOptions {
	return model.DecodeOptions{Mode: mode, ID: mustID(noteID), MaxDepth: 5, MaxItems: 3}
}

// below is the options on the path of the parent with the note's own id.
func below(mode model.Mode) model.DecodeOptions {
	o := options(mode)
	o.Parent, o.ParentID = notes.ParentLink(), mustID(noteID)
	return o
}

// show lists what an input sets, as name=JSON.
func show(c *model.Collection, in model.Input) string {
	var set []string
	for i, column := range c.Columns() {
		if in.Set[i] {
			set = append(set, column.Name+"="+string(column.Kind.AppendValue(nil, in.Values, i)))
		} else if !in.Values[i].IsNull() {
			set = append(set, column.Name+" has a value and is not set")
		}
	}
	return strings.Join(set, " ")
}

// places lists the faults of an error, each as "code pointer".
func places(t testing.TB, err error) string {
	t.Helper()
	var texts []string
	for _, f := range fault.From(err) {
		if f.Code == problem.CodeInternal || f.Detail == "" || !strings.HasSuffix(f.Detail, ".") && !strings.HasSuffix(f.Detail, "?") {
			t.Errorf("%#v", f)
		}
		texts = append(texts, strings.TrimSpace(string(f.Code)+" "+f.Source.Pointer))
	}
	return strings.Join(texts, ", ")
}

func TestDecode(t *testing.T) {
	const user = `user_id="` + noteID + `"`
	tests := []struct {
		name    string
		options model.DecodeOptions
		body    string
		want    string // the inputs, one on each line
	}{
		{"POST fills in", options(model.Create), `{"title":"a"}`, `title="a" stars=3 public=true meta=null user_id=null`},
		{"POST takes all", options(model.Create), `{"meta":{"b":[1.0,"x"],"a":null},"public":null,"stars":1e1,"title":"","type":"notes","id":"` + strings.ToUpper(noteID) + `"}`,
			`id="` + noteID + `" title="" stars=10 public=null meta={"b":[1,"x"],"a":null} user_id=null`},
		{"POST of several", options(model.Create), ` [ {"title":"a"} , {"title":"b","public":false} ] `,
			"title=\"a\" stars=3 public=true meta=null user_id=null\ntitle=\"b\" stars=3 public=false meta=null user_id=null"},
		{"POST of none", options(model.Create), `[]`, ""},
		{"POST below a parent", below(model.Create), `{"title":"a"}`, `title="a" stars=3 public=true meta=null ` + user},
		{"POST below a parent that it names", below(model.Create), `{"title":"a","user_id":"` + noteID + `"}`, `title="a" stars=3 public=true meta=null ` + user},

		{"PUT fills in", options(model.Replace), `{"title":"a"}`, `title="a" stars=3 public=true meta=null user_id=null`},
		{"PUT takes what was read", options(model.Replace), `{"id":"` + noteID + `","type":"notes","title":"a","stars":1,"public":null,"meta":null,"user_id":null,"created_at":"2026-11-14T09:30:00.123Z","updated_at":"2020-01-01T00:00:00+01:00"}`,
			`title="a" stars=1 public=null meta=null user_id=null`},
		{"PUT below a parent", below(model.Replace), `{"title":"a"}`, `title="a" stars=3 public=true meta=null ` + user},

		{"PATCH sets what is there", options(model.Patch), `{"public":null,"title":"b"}`, `title="b" public=null`},
		{"PATCH of nothing", options(model.Patch), `{}`, ``},
		{"PATCH with what cannot change", options(model.Patch), `{"id":"` + noteID + `","type":"notes","created_at":"2026-11-14T10:30:00+01:00"}`, `created_at="2026-11-14T09:30:00.000Z"`},
		{"PATCH moves a child", below(model.Patch), `{"user_id":"` + otherID + `"}`, `user_id="` + otherID + `"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inputs, many, err := notes.Decode([]byte(test.body), test.options)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, in := range inputs {
				lines = append(lines, show(notes, in))
			}
			if got := strings.Join(lines, "\n"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if isArray := strings.TrimSpace(test.body)[0] == '['; many != isArray {
				t.Errorf("many is %v", many)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name    string
		options model.DecodeOptions
		body    string
		want    string
	}{
		{"a string", options(model.Create), `"a"`, "not_an_object"},
		{"null", options(model.Replace), `null`, "not_an_object"},
		{"an array in PUT", options(model.Replace), `[{"title":"a"}]`, "not_an_object"},
		{"an array in PATCH", options(model.Patch), `[]`, "not_an_object"},
		{"items that are no objects", options(model.Create), `[{"title":"a"},[{}],"x"]`, "not_an_object /1, not_an_object /2"},
		{"too many items", options(model.Create), `[{},{},{},{}]`, "too_many_items"},
		{"a body in data", options(model.Create), `{"data":{"title":"a"}}`, "wrapped /data"},
		{"a body in data with others", options(model.Patch), `{"data":[],"title":1}`, "wrapped /data, type /title"},
		{"data that is no body", options(model.Create), `{"title":"a","data":1}`, "unknown_attribute /data"},
		{"unknown attributes", options(model.Create), `{"title":"a","Title":"b","x/y~z":{"deep":[1]},"":1}`, "unknown_attribute /Title, unknown_attribute /x~1y~0z, unknown_attribute /"},
		{"the revision", options(model.Patch), `{"_revision":1}`, "unknown_attribute /_revision"},
		{"required and left out", options(model.Create), `{}`, "required /title"},
		{"required and null", options(model.Replace), `{"title":null,"stars":null}`, "required /title, required /stars"},
		{"required and null in PATCH", options(model.Patch), `{"title":null}`, "required /title"},
		{"required in items", options(model.Create), `[{"title":"a"},{},{"title":null}]`, "required /1/title, required /2/title"},
		{"an id that is none", options(model.Create), `{"title":"a","id":"x"}`, "format /id"},
		{"an id that is a number", options(model.Create), `{"title":"a","id":1}`, "type /id"},
		{"an id that is null", options(model.Create), `{"title":"a","id":null}`, "type /id"},
		{"another id", options(model.Patch), `{"id":"` + otherID + `"}`, "read_only /id"},
		{"another type", options(model.Create), `{"title":"a","type":"users"}`, "read_only /type"},
		{"a type that is no string", options(model.Patch), `{"type":["notes"]}`, "read_only /type"},
		{"timestamps in POST", options(model.Create), `{"title":"a","created_at":"2026-11-14T09:30:00.123Z","updated_at":null}`, "read_only /created_at, read_only /updated_at"},
		{"timestamps that are none", options(model.Replace), `{"title":"a","created_at":"yesterday","updated_at":5}`, "read_only /created_at, read_only /updated_at"},
		{"another parent", below(model.Create), `{"title":"a","user_id":"` + otherID + `"}`, "parent_mismatch /user_id"},
		{"no parent", below(model.Replace), `{"title":"a","user_id":null}`, "parent_mismatch /user_id"},
		{"everything at once", options(model.Create), `{"title":1,"stars":"1","x":1,"meta":[],"id":1}`, "type /title, type /stars, unknown_attribute /x, type /meta, type /id"},
		{"too deep", options(model.Create), `{"title":"a","meta":{"a":[[[[]]]]}}`, "too_deep /meta/a/0/0/0"},
		{"too deep where nobody looks", options(model.Create), `{"title":"a","x":{"a":[[[[]]]]}}`, "too_deep /x/a/0/0/0"},
		{"too deep in an array", options(model.Patch), strings.Repeat("[", 100000), "too_deep /0/0/0/0/0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := notes.Decode([]byte(test.body), test.options)
			if err == nil {
				t.Fatal("it is accepted")
			}
			if got := places(t, err); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestDecodeRefusesWhatIsNoJSON lists what a lenient decoder takes. Each is
// malformed in every mode, whatever else is wrong with it.
func TestDecodeRefusesWhatIsNoJSON(t *testing.T) {
	for body, want := range map[string]string{
		"":                                 "",
		" \n":                              "",
		"{":                                "",
		`{"title":"a"`:                     "",
		`{"title":"a"}x`:                   "",
		`{"title":"a"}{}`:                  "",
		`{"title":"a"},`:                   "",
		`{"title":"a",}`:                   "",
		`{'title':'a'}`:                    "",
		`{title:"a"}`:                      "",
		`{"title":"a"} // no`:              "",
		"\ufeff" + `{"title":"a"}`:         "",
		`{"title":"a","title":"a"}`:        "/title",
		`{"title":"a","t\u0069tle":"b"}`:   "/title",
		`{"meta":{"a":1,"b":{},"a":1}}`:    "/meta/a",
		`{"unknown":{"a":1,"a":1}}`:        "/unknown/a",
		`[{"title":"a"},{"x":1,"x":1}]`:    "/1/x",
		`{"title":"\ud800"}`:               "/title",
		`{"title":"\udc00\ud800"}`:         "/title",
		"{\"title\":\"\xff\"}":             "/title",
		"{\"title\":\"\xed\xa0\x80\"}":     "/title",
		"{\"title\":\"a\nb\"}":             "/title",
		`{"title":"\x41"}`:                 "/title",
		`{"stars":01}`:                     "",
		`{"stars":+1}`:                     "/stars",
		`{"stars":.5}`:                     "/stars",
		`{"stars":1.}`:                     "/stars",
		`{"stars":NaN}`:                    "/stars",
		`{"stars":0x10}`:                   "",
		`{"public":True}`:                  "/public",
		`{"meta":[1,]}`:                    "/meta",
		`{"meta":undefined}`:               "/meta",
		`{"title":1,"x":2,"id":3,"type":}`: "/type",
	} {
		for _, mode := range []model.Mode{model.Create, model.Replace, model.Patch} {
			_, _, err := notes.Decode([]byte(body), options(mode))
			var f *problem.Error
			if !errors.As(err, &f) || f.Code != problem.CodeMalformedJSON || f.Status() != 400 || !strings.HasPrefix(f.Source.Pointer, want) {
				t.Errorf("%q in mode %d: got %v, want malformed_json at %s", body, mode, err, want)
			}
		}
	}
}

func TestMalformedTellsLineAndColumn(t *testing.T) {
	for body, want := range map[string]string{
		"{\n  \"title\": \"a\",\n  \"stars\": 01\n}": "Line 3, column 13: ",
		"{\"title\":\"a\"}\n\n x":                    "Line 3, column 2: something follows the end of the JSON value.",
		`{"title":"a",}`:                             "Line 1, column 13: the last item is followed by a comma, which JSON does not allow.",
		`{"meta":[1, ]}`:                             "Line 1, column 11: the last item is followed by a comma, which JSON does not allow.",
		`{title:"a"}`:                                "Line 1, column 3: names and strings stand in double quotes, and the only words without are true, false and null.",
		"\xef\xbb\xbf{}":                             "Line 1, column 1: the body starts with a byte order mark, which JSON does not have.",
		"{\"title\":\n":                              "Line 2, column 1: the body ends in the middle of a value.",
		"":                                           "The body is empty. It must be a JSON object.",
	} {
		_, _, err := notes.Decode([]byte(body), options(model.Create))
		if got := fault.From(err)[0].Detail; !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}

func TestRestore(t *testing.T) {
	text := `{"id":"` + noteID + `","type":"notes","title":"a","stars":1,"public":null,"meta":{"b":1,"a":{"x":[]}},"user_id":"` + otherID +
		`","created_at":"2026-11-14T09:30:00.123Z","updated_at":"2026-11-14T09:30:00.124Z"}`
	want := model.Record{model.IDValue(mustID(noteID)), model.TextValue("a"), model.IntValue(1), model.Null, model.TextValue(`{"b":1,"a":{"x":[]}}`), model.IDValue(mustID(otherID)),
		model.TimeValue("2026-11-14T09:30:00.123Z"), model.TimeValue("2026-11-14T09:30:00.124Z"), model.Null}
	got, err := notes.Restore([]byte(text))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
	if again := string(notes.Append(nil, got)); again != text {
		t.Errorf("got  %s\nwant %s", again, text)
	}
}

// TestRestoreOfAnOlderSchema leaves out what is gone, and has null for what is
// new or has become something else.
func TestRestoreOfAnOlderSchema(t *testing.T) {
	text := `{"id":"` + noteID + `","type":"notes","gone":{"a":[1]},"title":5,"stars":1.5,"public":false}`
	got, err := notes.Restore([]byte(text))
	want := make(model.Record, len(notes.Columns()))
	want[model.IDColumn], want[3] = model.IDValue(mustID(noteID)), model.BoolValue(false)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
}

// TestRestoreAcceptsAnyDepth is for a server that lets more in than the default.
func TestRestoreAcceptsAnyDepth(t *testing.T) {
	deep := `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`
	got, err := notes.Restore(fmt.Appendf(nil, `{"id":"%s","type":"notes","title":"a","meta":%s}`, noteID, deep))
	if err != nil || got[4] != model.TextValue(deep) {
		t.Errorf("got %v, %v", got, err)
	}
}

// A small body can be wrong in very many places, and in places with long names.
func TestErrorsAreBounded(t *testing.T) {
	nulls := strings.TrimSuffix(strings.Repeat(`"\u0000",`, 4000), ",")
	body := `{"meta":{"` + strings.Repeat("n", 50_000) + `":[` + nulls + `]}}`
	_, _, err := notes.Decode([]byte(body), options(model.Create))
	faults := fault.From(err)
	if len(faults) != problem.MaxErrors {
		t.Fatalf("%d errors", len(faults))
	}
	if first := faults[0]; first.Source.Pointer != "/meta" || first.Detail != "Strings can hold any character but U+0000." {
		t.Errorf("got %v", first)
	}
	if last := faults[problem.MaxErrors-1]; last.Detail != "Strings can hold any character but U+0000. There are more errors than are listed." {
		t.Errorf("got %v", last)
	}
}

// What was read can be sent back: a number without a definition that no integer
// can hold keeps an exponent.
func TestLargeNumbersInFreeJSON(t *testing.T) {
	for sent, want := range map[string]string{"1e19": "1e+19", "1.5e20": "1.5e+20", "1e300": "1e+300", "9223372036854775807": "9223372036854775807", "1e18": "1000000000000000000"} {
		for range 2 { // the second time with what came back
			inputs, _, err := notes.Decode([]byte(`{"meta":{"n":`+sent+`}}`), options(model.Patch))
			if err != nil {
				t.Fatalf("%s: %v", sent, err)
			}
			got := inputs[0].Values[notes.Field("meta").Column].Text()
			if got != `{"n":`+want+`}` {
				t.Errorf("%s: got %s", sent, got)
			}
			sent = want
		}
	}
	for _, refused := range []string{"9223372036854775808", "-9223372036854775809", "1e309", "1e-400"} {
		if _, _, err := notes.Decode([]byte(`{"meta":{"n":`+refused+`}}`), options(model.Patch)); !fault.Is(err, problem.CodeOutOfRange) {
			t.Errorf("%s: got %v", refused, err)
		}
	}
}
