package fault

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/plural-go/plural/problem"
)

func TestErrorIsLoggedWithItsCause(t *testing.T) {
	cause := errors.New("disk on fire")
	tests := []struct {
		err    *problem.Error
		want   string
		source problem.Source
		status int
	}{
		{New(problem.CodeNotFound, "no %s", "user"), "not_found: no user", problem.Source{}, 404},
		{At("/email", problem.CodeRequired, "needed"), "required at /email: needed", problem.Source{Pointer: "/email"}, 422},
		{Parameter("filter[nope]", problem.CodeUnknownParameter, "what?"), "unknown_parameter at filter[nope]: what?", problem.Source{Parameter: "filter[nope]"}, 400},
		{Header("Accept", problem.CodeNotAcceptable, "only JSON"), "not_acceptable at Accept: only JSON", problem.Source{Header: "Accept"}, 406},
		{&problem.Error{Code: problem.CodeStorageFull, Detail: "full", Cause: cause}, "storage_full: full (disk on fire)", problem.Source{}, 503},
	}
	for _, test := range tests {
		if got := test.err.Error(); got != test.want || test.err.Source != test.source || test.err.Status() != test.status {
			t.Errorf("got %q with %+v and %d, want %q with %+v and %d", got, test.err.Source, test.err.Status(), test.want, test.source, test.status)
		}
	}
}

func TestFromFindsWrappedFaults(t *testing.T) {
	one, two, away := New(problem.CodeNotFound, "one"), New(problem.CodeRequired, "two"), New(problem.CodeUnavailable, "away")
	inner, made := &Inner{problem.Errors{one}}, New("teapot", "what the client must not see")
	wrapped := fmt.Errorf("outside: %w", inner)
	tests := []struct {
		name string
		err  error
		want problem.Errors
	}{
		{"one", one, problem.Errors{one}},
		{"a list", problem.Errors{one, two}, problem.Errors{one, two}},
		{"one inside", fmt.Errorf("outside: %w", one), problem.Errors{one}},
		{"a list inside", fmt.Errorf("outside: %w", problem.Errors{one, two}), problem.Errors{one, two}},
		{"joined", errors.Join(one, fmt.Errorf("more: %w", two)), problem.Errors{one, two}},
		{"joined lists", errors.Join(problem.Errors{one}, problem.Errors{two, one}), problem.Errors{one, two, one}},
		{"joined with what is no fault", errors.Join(errors.New("other"), two), problem.Errors{two}},
		{"joined with what is ours", errors.Join(away, two), problem.Errors{two}},
		{"ours", fmt.Errorf("outside: %w", away), problem.Errors{away}},
		{"of an inner call", inner, problem.Errors{Internal(inner)}},
		{"of an inner call, wrapped", wrapped, problem.Errors{Internal(inner)}},
		{"of an inner call, and a refusal", errors.Join(two, inner), problem.Errors{two}},
		{"of an inner call, and ours", &Inner{away}, problem.Errors{away}},
		{"of an inner call, and none", &Inner{io.EOF}, problem.Errors{Internal(&Inner{io.EOF})}},
		{"an unknown code", made, problem.Errors{Internal(made)}},
		{"an empty list", problem.Errors{}, problem.Errors{Internal(problem.Errors{})}},
		{"nil in an interface", (*problem.Error)(nil), problem.Errors{Internal(errors.New("an error that is nil"))}},
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
	one, two := New(problem.CodeNotFound, "one"), &problem.Error{Code: problem.CodeUnavailable, Cause: cause}
	for _, err := range []error{problem.Errors{one, two}, &Inner{problem.Errors{one, two}}} {
		var list problem.Errors
		var first *problem.Error
		if !errors.As(err, &list) || !reflect.DeepEqual(list, problem.Errors{one, two}) {
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
	want := problem.Errors{{Code: problem.CodeInternal, Detail: Internal(nil).Detail, Cause: cause}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if !errors.Is(got[0], cause) {
		t.Error("the cause is lost")
	}
}

func TestIs(t *testing.T) {
	tests := []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("other"), false},
		{New(problem.CodeNotFound, ""), true},
		{New(problem.CodeRequired, ""), false},
		{problem.Errors{New(problem.CodeNotFound, ""), New(problem.CodeRequired, "")}, true},
		{problem.Errors{New(problem.CodeRequired, ""), New(problem.CodeNotFound, "")}, false},
	}
	for _, test := range tests {
		if got := Is(test.err, problem.CodeNotFound); got != test.want {
			t.Errorf("Is(%v) = %v", test.err, got)
		}
	}
}
