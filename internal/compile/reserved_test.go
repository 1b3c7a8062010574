package compile

import (
	"testing"

	"github.com/plural-go/plural/internal/model"
)

// TestReservedNames: a schema that a database has may use a name that was reserved since, and the
// next one can rename it.
func TestReservedNames(t *testing.T) {
	named := func(name, before string) model.Collection {
		return model.Collection{Name: name, RenamedFrom: before, Attributes: []model.Attribute{{Name: "name", Type: model.String}}}
	}
	for _, name := range []string{"operations", "collections", "changes", "webhooks", "webhook-deliveries"} {
		_, err := Schema(named(name, ""))
		if want := "collections." + name + ": the name " + name + " is reserved: choose another one"; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	for name, singular := range map[string]string{"edits": "change", "hooks": "webhook", "calls": "webhook-delivery"} {
		_, err := Schema(model.Collection{Name: name, Singular: singular})
		if want := "collections." + name + ".singular: the singular " + singular + " is reserved: add singular: with another name"; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	stored, err := Stored([]byte(`{"collections":[{"name":"changes","singular":"change","attributes":[{"name":"name","type":"string"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := stored.Collection("changes"); got == nil || got == stored.Changes() {
		t.Error("the stored collection is not found")
	}
	if _, err := Schema(named("edits", "changes")); err != nil {
		t.Errorf("a collection with a reserved name cannot be renamed: %v", err)
	}
}
