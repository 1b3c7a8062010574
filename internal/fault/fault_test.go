package fault

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"testing"
)

func TestErrorTellsTheLogEverything(t *testing.T) {
	cause := errors.New("disk on fire")
	tests := []struct {
		err    *Error
		want   string
		source Source
		status int
	}{
		{New(CodeNotFound, "no %s", "user"), "not_found: no user", Source{}, 404},
		{At("/email", CodeRequired, "needed"), "required at /email: needed", Source{Pointer: "/email"}, 422},
		{Parameter("filter[nope]", CodeUnknownParameter, "what?"), "unknown_parameter at filter[nope]: what?", Source{Parameter: "filter[nope]"}, 400},
		{Header("Accept", CodeNotAcceptable, "only JSON"), "not_acceptable at Accept: only JSON", Source{Header: "Accept"}, 406},
		{&Error{Code: CodeStorageFull, Detail: "full", Cause: cause}, "storage_full: full (disk on fire)", Source{}, 503},
	}
	for _, test := range tests {
		if got := test.err.Error(); got != test.want || test.err.Source != test.source || test.err.Status() != test.status {
			t.Errorf("got %q with %+v and %d, want %q with %+v and %d", got, test.err.Source, test.err.Status(), test.want, test.source, test.status)
		}
	}
}

func TestFromFindsFaults(t *testing.T) {
	one, two := New(CodeNotFound, "one"), New(CodeRequired, "two")
	tests := []struct {
		name string
		err  error
		want List
	}{
		{"one", one, List{one}},
		{"a list", List{one, two}, List{one, two}},
		{"one inside", fmt.Errorf("outside: %w", one), List{one}},
		{"a list inside", fmt.Errorf("outside: %w", List{one, two}), List{one, two}},
	}
	for _, test := range tests {
		if got := From(test.err); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// TestUnknownErrorsAreHidden makes sure that what nobody foresaw is in the log,
// and nowhere else.
func TestUnknownErrorsAreHidden(t *testing.T) {
	cause := errors.New("secret path /etc/x")
	got := From(cause)
	want := List{{Code: CodeInternal, Detail: Internal(nil).Detail, Cause: cause}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if !errors.Is(got[0], cause) {
		t.Error("the cause is lost")
	}
}

func TestListIsAnErrorOnlyWithFaults(t *testing.T) {
	var list List
	if err := list.Err(); err != nil {
		t.Errorf("an empty list is the error %v", err)
	}
	list.Add(New(CodeNotFound, "one"))
	list.Add(New(CodeRequired, "two"))
	if got, want := fmt.Sprint(list.Err()), "not_found: one; required: two"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIs(t *testing.T) {
	tests := []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("other"), false},
		{New(CodeNotFound, ""), true},
		{New(CodeRequired, ""), false},
		{List{New(CodeNotFound, ""), New(CodeRequired, "")}, true},
		{List{New(CodeRequired, ""), New(CodeNotFound, "")}, false},
	}
	for _, test := range tests {
		if got := Is(test.err, CodeNotFound); got != test.want {
			t.Errorf("Is(%v) = %v", test.err, got)
		}
	}
}

func TestEveryCodeHasAStatusAndATitle(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for _, code := range Codes() {
		if !name.MatchString(string(code)) || code.Status() < 400 || code.Status() > 599 || code.Title() == "" {
			t.Errorf("%q has the status %d and the title %q", code, code.Status(), code.Title())
		}
	}
	if got := Code("nobody_knows").Status(); got != 500 {
		t.Errorf("an unknown code has the status %d", got)
	}
}
