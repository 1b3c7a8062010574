package fault

import (
	"errors"
	"net/http"
	"slices"

	"github.com/plural-go/plural/problem"
)

// A write of several resources reports the errors of all together, each with the JSON Pointer of its place in the body.

// AtPointer prefixes the JSON Pointers of an error, if it is a problem.Error.
func AtPointer(pointer string, err error) error {
	if list, ok := errors.AsType[problem.Errors](err); ok {
		return Prefixed(pointer, list)
	}
	if one, ok := errors.AsType[*problem.Error](err); ok {
		return Prefixed(pointer, problem.Errors{one})
	}
	return err
}

// Prefixed prefixes the JSON Pointers of faults, except those of the server (5xx). It copies the
// faults: a hook may return the same one repeatedly.
func Prefixed(pointer string, faults problem.Errors) problem.Errors {
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

// InvalidFirst leaves out conflicts, if there are errors of the body, which come first.
func InvalidFirst(faults problem.Errors) problem.Errors {
	isInvalid := func(f *problem.Error) bool { return f.Status() == http.StatusUnprocessableEntity }
	if !slices.ContainsFunc(faults, isInvalid) {
		return faults
	}
	return slices.DeleteFunc(slices.Clone(faults), func(f *problem.Error) bool { return !isInvalid(f) })
}

// Joined is the errors of several resources as one list. Without pointers, all resources are changed by the same body: the errors of one are
// enough, but for those of checks and lifecycles.
func Joined(pointer func(i int) string, all []problem.Errors) (faults problem.Errors) {
	for i, own := range all {
		switch {
		case len(own) == 0:
		case pointer != nil:
			faults = append(faults, Prefixed(pointer(i), own)...)
		case len(faults) == 0:
			faults = slices.Clone(own)
		default:
			for _, each := range own {
				if IsOfOne(each) {
					faults.Add(each)
				}
			}
		}
	}
	return faults
}

// IsOfOne reports whether an error depends on the state of the resource: that of a check or a lifecycle.
func IsOfOne(f *problem.Error) bool {
	return f.Code == problem.CodeCheck || f.Code == problem.CodeTransition
}

// AtItem gives the error of one of several resources its JSON Pointers.
func AtItem(pointer func(i int) string, i int, err error) error {
	if pointer == nil {
		return err
	}
	return AtPointer(pointer(i), err)
}
