package schema

import (
	"testing"
)

// TestParseInfo compares info in a file with the same in Go.
func TestParseInfo(t *testing.T) {
	file, err := Parse([]byte(`
info:
  title: Blog API
  version: "1.2"
  description: |
    Users.

    Posts.
  contact: {name: Ada, url: "https://example.com/ada", email: ada@example.com}
  license: {name: Apache 2.0, identifier: Apache-2.0}
collections:
  users: {attributes: {name: {type: string}}}
`))
	want := Info{
		Title: "Blog API", Version: "1.2", Description: "Users.\n\nPosts.\n",
		Contact: Contact{Name: "Ada", URL: "https://example.com/ada", Email: "ada@example.com"},
		License: License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
	}
	if err != nil || file.Info != want {
		t.Errorf("got  %+v, %v\nwant %+v", file.Info, err, want)
	}
	for _, text := range []string{"", "info: {}", "info:", "info: {contact: , title: A}"} {
		file, err := Parse([]byte(text + "\ncollections: {users: {attributes: {name: {type: string}}}}"))
		if err != nil || file.Info.Contact != (Contact{}) {
			t.Errorf("%q: %+v, %v", text, file, err)
		}
	}
}
