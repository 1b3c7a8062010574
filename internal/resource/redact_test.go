package resource

import (
	"testing"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// TestConflictsHideUnknownAttributes: a conflict names no attribute that the caller does not know of.
func TestConflictsHideUnknownAttributes(t *testing.T) {
	file, err := schema.Parse([]byte(`
collections:
  things:
    attributes: {tenant: {type: string, maxLength: 10}, slug: {type: string, maxLength: 10}, code: {type: string, maxLength: 10, unique: true}}
    unique: [[slug, tenant]]
access:
  roles:
    some: {things: {read: true, create: true, visible: [slug, code]}}
    all: {things: [read, create]}
`))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := auth.Compile((*model.Schema)(file.Schema), file.Access)
	if err != nil {
		t.Fatal(err)
	}
	group := fault.At("/slug", problem.CodeNotUnique, "Another resource has these values of slug and tenant.")
	single := fault.At("/code", problem.CodeNotUnique, "Another resource has this code.")
	taken := fault.At("/id", problem.CodeIDExists, "The id is taken.")
	for role, want := range map[string]string{
		"all":  "not_unique at /slug: Another resource has these values of slug and tenant.; not_unique at /code: Another resource has this code.; id_exists at /id: The id is taken.",
		"some": "not_unique: Another resource has the same values of attributes that must be unique.; not_unique at /code: Another resource has this code.; id_exists at /id: The id is taken.",
	} {
		path := Path{Collection: (*model.Schema)(file.Schema).Collection("things"), By: policy.Permit(auth.Caller{ID: "x", Role: role})}
		if got := path.redact(problem.Errors{group, single, taken}).Error(); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", role, got, want)
		}
	}
}
