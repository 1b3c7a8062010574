package resource

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// redact hides from the caller of a path the names of attributes that they may not see, in conflicts and in what rules
// refuse. That there is a conflict cannot be hidden.
func redact(path reads.Path, conflicts problem.Errors) problem.Errors {
	visible, writable := path.By.Visible(path.Collection), path.By.Writable(path.Collection)
	if visible == nil {
		return conflicts
	}
	unknown := func(column int) bool { return !visible.Has(column) && !writable.Has(column) }
	redacted := slices.Clone(conflicts)
	for i, conflict := range conflicts {
		// Several groups may begin with the same attribute, which the pointer has. The detail names all attributes.
		isKnown := func(group []int) bool {
			return !slices.ContainsFunc(group, unknown) && conflict.Detail == store.ConflictOf(path.Collection, group).Detail
		}
		if conflict.Code == problem.CodeNotUnique && !slices.ContainsFunc(path.Collection.UniqueGroups(), isKnown) {
			redacted[i] = fault.New(problem.CodeNotUnique, "Another resource has the same values of attributes that must be unique.")
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(conflict.Source.Pointer, "/"), "/")
		field := path.Collection.Field(name)
		if conflict.Code == problem.CodeNotUnique || field == nil || visible.Has(field.Column) {
			continue
		}
		hidden := *conflict
		if unknown(field.Column) || conflict.Code == problem.CodeCheck {
			hidden.Source.Pointer = ""
		}
		switch {
		case conflict.Code == problem.CodeTransition: // its detail has states, which are also hidden from who may set them
			hidden.Detail = "The lifecycle of the resource does not allow this change."
		case conflict.Code != problem.CodeCheck && unknown(field.Column): // a check has a message of its own
			hidden.Detail = "The value of an attribute that you may not see would not be allowed."
		}
		redacted[i] = &hidden
	}
	return redacted
}
