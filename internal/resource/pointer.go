package resource

import (
	"errors"
	"net/http"
	"slices"

	"github.com/plural-go/plural/problem"
)

// A write of several resources reports the errors of all together, each with the JSON Pointer of its place in the body.

// atPointer prefixes the JSON Pointers of an error, if it is a problem.Error.
func atPointer(pointer string, err error) error {
	if list, ok := errors.AsType[problem.Errors](err); ok {
		return prefixed(pointer, list)
	}
	if one, ok := errors.AsType[*problem.Error](err); ok {
		return prefixed(pointer, problem.Errors{one})
	}
	return err
}

// prefixed prefixes the JSON Pointers of faults, except those of the server (5xx). It copies the
// faults: a hook may return the same one repeatedly.
func prefixed(pointer string, faults problem.Errors) problem.Errors {
	result := make(problem.Errors, len(faults))
	for i, f := range faults {
		if result[i] = f; f.Status() >= 500 {
			continue
		}
		moved := *f
		moved.Source.Pointer = pointer + f.Source.Pointer
		result[i] = &moved
	}
	return result
}

// invalidFirst leaves out conflicts, if there are errors of the body, which come first.
func invalidFirst(faults problem.Errors) problem.Errors {
	isInvalid := func(f *problem.Error) bool { return f.Status() == http.StatusUnprocessableEntity }
	if !slices.ContainsFunc(faults, isInvalid) {
		return faults
	}
	return slices.DeleteFunc(slices.Clone(faults), func(f *problem.Error) bool { return !isInvalid(f) })
}

// positions lists the positions of n items.
func positions(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// joined is the errors of several resources as one list.
func joined(pointer func(i int) string, all []problem.Errors) (faults problem.Errors) {
	for i, own := range all {
		if len(own) > 0 && pointer == nil {
			return own
		}
		if len(own) > 0 {
			faults = append(faults, prefixed(pointer(i), own)...)
		}
	}
	return faults
}

// atItem gives the error of one of several resources its JSON Pointers.
func atItem(pointer func(i int) string, i int, err error) error {
	if pointer == nil {
		return err
	}
	return atPointer(pointer(i), err)
}
