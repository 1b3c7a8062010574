package fault

import (
	"errors"
	"fmt"
	"io"
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
	one, two, away := New(CodeNotFound, "one"), New(CodeRequired, "two"), New(CodeUnavailable, "away")
	inner, made := &Inner{List{one}}, New("teapot", "what the client must not see")
	wrapped := fmt.Errorf("outside: %w", inner)
	tests := []struct {
		name string
		err  error
		want List
	}{
		{"one", one, List{one}},
		{"a list", List{one, two}, List{one, two}},
		{"one inside", fmt.Errorf("outside: %w", one), List{one}},
		{"a list inside", fmt.Errorf("outside: %w", List{one, two}), List{one, two}},
		{"joined", errors.Join(one, fmt.Errorf("more: %w", two)), List{one, two}},
		{"joined lists", errors.Join(List{one}, List{two, one}), List{one, two, one}},
		{"joined with what is no fault", errors.Join(errors.New("other"), two), List{two}},
		{"joined with what is ours", errors.Join(away, two), List{two}},
		{"ours", fmt.Errorf("outside: %w", away), List{away}},
		{"of an inner call", inner, List{Internal(inner)}},
		{"of an inner call, wrapped", wrapped, List{Internal(inner)}},
		{"of an inner call, and a refusal", errors.Join(two, inner), List{two}},
		{"of an inner call, and ours", &Inner{away}, List{away}},
		{"of an inner call, and none", &Inner{io.EOF}, List{Internal(&Inner{io.EOF})}},
		{"an unknown code", made, List{Internal(made)}},
		{"an empty list", List{}, List{Internal(List{})}},
		{"nil in an interface", (*Error)(nil), List{Internal(errors.New("an error that is nil"))}},
	}
	for _, test := range tests {
		if got := From(test.err); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// Whoever has an error asks for a list or for its first fault, as they like.
func TestFaultsAreFoundByTheirType(t *testing.T) {
	cause := errors.New("disk on fire")
	one, two := New(CodeNotFound, "one"), &Error{Code: CodeUnavailable, Cause: cause}
	for _, err := range []error{List{one, two}, &Inner{List{one, two}}} {
		var list List
		var first *Error
		if !errors.As(err, &list) || !reflect.DeepEqual(list, List{one, two}) {
			t.Errorf("%T: the list is %v", err, list)
		}
		if !errors.As(err, &first) || first != one {
			t.Errorf("%T: the first is %v", err, first)
		}
		if !errors.Is(err, cause) {
			t.Errorf("%T: the cause is lost", err)
		}
		if got, want := err.Error(), "not_found: one; unavailable:  (disk on fire)"; got != want {
			t.Errorf("%T: got %q, want %q", err, got, want)
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
