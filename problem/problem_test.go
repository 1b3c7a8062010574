package problem

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"testing"
)

func TestNoErrorsIsNil(t *testing.T) {
	var list Errors
	if err := list.Err(); err != nil {
		t.Errorf("an empty list is the error %v", err)
	}
	list.Add(&Error{Code: CodeNotFound, Detail: "one"})
	list.Add(&Error{Code: CodeRequired, Detail: "two"})
	if got, want := fmt.Sprint(list.Err()), "not_found: one; required: two"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestErrorsAreBounded(t *testing.T) {
	var list, want Errors
	for i := range MaxErrors + 2 {
		list.Add(&Error{Code: CodeRequired, Detail: fmt.Sprintf("number %d.", i)})
	}
	for i := range MaxErrors {
		want = append(want, &Error{Code: CodeRequired, Detail: fmt.Sprintf("number %d.", i)})
	}
	want[MaxErrors-1].Detail = "number 99. There are more errors than are listed."
	if !reflect.DeepEqual(list, want) {
		t.Errorf("got  %v\nwant %v", list, want)
	}
}

func TestSourceItem(t *testing.T) {
	for _, test := range []struct {
		pointer string
		item    int
		rest    string
		ok      bool
	}{
		{"/1207/email", 1207, "/email", true},
		{"/3", 3, "", true},
		{"/0/a/b", 0, "/a/b", true},
		{"/email", 0, "", false},
		{"/-1/email", -1, "/email", false},
		{"", 0, "", false},
	} {
		item, rest, ok := Source{Pointer: test.pointer}.Item()
		if item != test.item || rest != test.rest || ok != test.ok {
			t.Errorf("%q: got %d, %q, %v", test.pointer, item, rest, ok)
		}
	}
}

func TestErrorsAreReadFromAResponse(t *testing.T) {
	var got struct{ Errors Errors }
	text := `{"errors":[{"status":422,"code":"format","title":"Wrong format","detail":"Must be a date.","source":{"pointer":"/on"}},{"status":500,"code":"new","detail":"?"}]}`
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := Errors{{Code: CodeFormat, Detail: "Must be a date.", Source: Source{Pointer: "/on"}}, {Code: "new", Detail: "?"}}
	if !reflect.DeepEqual(got.Errors, want) {
		t.Errorf("got  %v\nwant %v", got.Errors, want)
	}
}

func TestEveryCodeHasAStatusAndATitle(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for _, code := range Codes() {
		if !name.MatchString(string(code)) || code.Status() < 400 || code.Status() > 599 || code.Title() == "" {
			t.Errorf("%q has the status %d and the title %q", code, code.Status(), code.Title())
		}
	}
	if codes := Codes(); !slices.IsSorted(codes) || len(codes) != len(meanings) {
		t.Errorf("the codes are %q", codes)
	}
	if got := Code("nobody_knows").Status(); got != 500 {
		t.Errorf("an unknown code has the status %d", got)
	}
}
