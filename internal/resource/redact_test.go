package resource

import (
	"testing"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// TestConflictsHideUnknownAttributes: a conflict names no attribute that the caller does not know of.
func TestConflictsHideUnknownAttributes(t *testing.T) {
	file, err := schema.Parse([]byte(`
collections:
  things:
    attributes: {tenant: {type: string, maxLength: 10}, slug: {type: string, maxLength: 10}, code: {type: string, maxLength: 10, unique: true}}
    unique: [[slug, tenant], [slug]]
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
	things := (*model.Schema)(file.Schema).Collection("things")
	var conflicts problem.Errors
	for _, group := range [][]string{{"slug", "tenant"}, {"slug"}, {"code"}} {
		var columns []int
		for _, name := range group {
			columns = append(columns, things.Field(name).Column)
		}
		conflicts.Add(store.ConflictOf(things, columns))
	}
	conflicts.Add(fault.At("/id", problem.CodeIDExists, "The id is taken."))
	const known = "not_unique at /slug: Another resource, stored or in this request, has this slug.; not_unique at /code: Another resource, stored or in this request, has this code.; id_exists at /id: The id is taken."
	for role, want := range map[string]string{
		"all":  "not_unique at /slug: Another resource, stored or in this request, has these values of slug and tenant.; " + known,
		"some": "not_unique: Another resource has the same values of attributes that must be unique.; " + known,
	} {
		path := reads.Path{Collection: things, By: policy.Permit(auth.Caller{ID: "x", Role: role})}
		if got := redact(path, conflicts).Error(); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", role, got, want)
		}
	}
}
