package interfacetest

import (
	"slices"
	"testing"

	"github.com/plural-go/plural/conform"
)

// ruledFile is a collection with every rule of the data.
const ruledFile = `
collections:
  articles:
    attributes:
      title: {type: string, maxLength: 40}
      slug: {type: string, maxLength: 80, computed: resource.title + "!"}
      author: {type: string, maxLength: 40, write_once: true}
      state:
        type: string
        enum: [draft, published, archived]
        transitions: {draft: [published], published: [draft, archived]}
        initial: [draft]
      starts_on: {type: string, format: date}
      ends_on: {type: string, format: date}
      edited: {type: string, format: date-time, computed: now}
    required: [title, state]
    checks:
      - {rule: resource.ends_on >= resource.starts_on, message: It ends before it starts., attribute: ends_on}
`

// TestConformanceOfRules: all checks can be run on a collection with rules, except for what it has no attributes for.
func TestConformanceOfRules(t *testing.T) {
	t.Parallel()
	eachStore(t, parsed(t, ruledFile).Schema, func(t *testing.T, s *server) {
		report := check(t, s, conform.Options{Collection: "articles"})
		var want []string
		for _, c := range conform.Checks() {
			if c.Topic() == "rules" {
				want = append(want, c.ID)
			}
		}
		got := slices.DeleteFunc(report.IDs(conform.Passed), func(id string) bool { return !slices.Contains(want, id) })
		if !slices.Equal(got, want) {
			t.Errorf("passed %q of %q", got, want)
		}
	})
}
