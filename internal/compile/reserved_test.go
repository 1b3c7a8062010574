package compile

import (
	"testing"

	"github.com/plural-go/plural/internal/model"
)

// TestReservedNames: names of the interface cannot be those of collections.
func TestReservedNames(t *testing.T) {
	for _, name := range []string{"operations", "collections", "changes", "webhooks", "webhook-deliveries"} {
		_, err := Schema(model.Collection{Name: name})
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
}
