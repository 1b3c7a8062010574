package resource

import (
	"net/http"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// Verb is what a write does. It is also what a role must be granted for it.
type Verb = schema.AccessVerb

// The verbs of writes.
const (
	Create = schema.MayCreate
	Update = schema.MayUpdate
	Delete = schema.MayDelete
)

// VerbOf is the verb of a method that writes.
func VerbOf(method string) Verb {
	switch method {
	case http.MethodPost:
		return Create
	case http.MethodDelete:
		return Delete
	}
	return Update
}

// Change is one resource that is created, updated or deleted.
type Change struct {
	Verb       Verb
	Collection *model.Collection // in the newest version, whichever one the caller has
	ID         *model.ID         // nil for a new resource that has none yet

	// By is the permit of the caller who caused the change; nil for the program itself, or without
	// access control.
	By *auth.Permit

	// Before is the stored resource, nil for a new one, and in Hook.Before, which runs before it
	// is read.
	Before model.Record

	// After is the resource as it will be stored, nil for a deletion. In Hook.Before it has only
	// the columns of Set. A hook may change it until it is written, by plural.Resource.Set, which checks
	// the value: the values are not checked again.
	After model.Record
	Set   []bool

	// DryRun: the request has dry_run=true: the change is undone, and only shows what it would do. It is not set when an
	// operation is accepted, where the change is undone too, and executed again later.
	DryRun bool
}
