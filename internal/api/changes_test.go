package api

import (
	"fmt"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestTagsOfChanges: versions that show a change alike have different tags for it.
func TestTagsOfChanges(t *testing.T) {
	for _, test := range []struct{ head, want string }{
		{"", `"1.3aaegfw5tnvgt"`}, {"version: 1\n", `"1.26s8tjrkdodng"`}, {"version: 2\n", `"1.3f4ws2oxq0he7"`},
	} {
		file, err := schema.Parse([]byte(test.head + "collections: {users: {attributes: {name: {type: string}}}}"))
		if err != nil {
			t.Fatal(err)
		}
		a := &API{Config: Config{Schema: (*model.Schema)(file.Schema)}}
		if got := a.changeTag(1, fmt.Append(nil, `{"id":"1"}`)); got != test.want {
			t.Errorf("%q: got %s, want %s", test.head, got, test.want)
		}
	}
}
