package interfacetest

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
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

// TestConformanceOfTheDocumentedRules: made-up values meet the rules of docs/rules.md, also of children, and if what ends
// must be later.
func TestConformanceOfTheDocumentedRules(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(document), "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```")
	declared := strings.Replace(shown, "resource.ends_on >= ", "resource.ends_on > ", 1)
	if declared == shown {
		t.Fatal("docs/rules.md has no such check")
	}
	eachStore(t, parsed(t, declared).Schema, func(t *testing.T, s *server) {
		var unmet []string
		for _, collection := range []string{"bookings", "orders", "lines", "requests"} {
			for _, result := range check(t, s, conform.Options{Collection: collection}).Results {
				if strings.Contains(result.Reason, "--sample") {
					unmet = append(unmet, collection+" "+result.ID+": "+result.Reason)
				}
			}
		}
		// It tries each state, and a rejection needs a reason.
		want := []string{`requests rules.initial: the values made up for requests do not meet the check "Say why it is rejected.": give a valid body with --sample`}
		if !slices.Equal(unmet, want) {
			t.Errorf("skipped %q", unmet)
		}
	})
}

// strictFile has rules that no values meet by chance.
const strictFile = `
collections:
  orders:
    attributes:
      customer: {type: string}
  lines:
    parent: orders
    attributes:
      code: {type: string}
      quantity: {type: integer}
      total: {type: integer, maximum: 9, computed: resource.quantity + 9}
    required: [code, quantity]
    checks:
      - {rule: resource.code == 'x', message: The code is x., attribute: code}
`

// TestConformanceOfStrictRules: that made-up values do not meet a rule is no failure of the server, and a sample helps.
func TestConformanceOfStrictRules(t *testing.T) {
	t.Parallel()
	const byCheck, byTotal = `the values made up for lines do not meet the check "The code is x.": give a valid body with --sample`,
		"the values made up for lines do not meet the constraints of the computed attribute total: give a valid body with --sample"
	for name, c := range map[string]struct {
		declared, sample string // the sample that helps
		main, child      string // what is said of lines as the collection, and as its child
	}{
		"a check":           {strings.Replace(strictFile, "maximum: 9, ", "", 1), `{"code":"x","quantity":1}`, byCheck, byCheck + " lines=FILE"},
		"a computed number": {strings.Replace(strictFile, "resource.code == 'x'", "resource.code != 'x'", 1), `{"code":"y","quantity":0}`, byTotal, byTotal + " lines=FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, parsed(t, c.declared).Schema, func(t *testing.T, s *server) { strictly(t, s, c.sample, c.main, c.child) })
		})
	}
}

func strictly(t *testing.T, s *server, sample, main, child string) {
	report, err := conform.Run(context.Background(), conform.Options{BaseURL: s.base, Client: client, Collection: "lines"})
	if report != nil || err == nil || err.Error() != main {
		t.Errorf("lines: %v, %v, want %s", report, err, main)
	}
	needChild := func(report *conform.Report) (skipped []string) {
		for _, result := range report.Results {
			if result.Reason == child {
				skipped = append(skipped, result.ID)
			}
		}
		return skipped
	}
	only := []string{"child", "filter.some", "sort.count"}
	got := needChild(check(t, s, conform.Options{Collection: "orders", Only: only}))
	for _, id := range []string{"child.list", "child.create", "child.update", "filter.some", "sort.count"} {
		if !slices.Contains(got, id) {
			t.Errorf("%s is not skipped: only %q", id, got)
		}
	}
	samples := map[string]json.RawMessage{"lines": json.RawMessage(sample)}
	report = check(t, s, conform.Options{Collection: "orders", Samples: samples, Only: only})
	if skipped := needChild(report); skipped != nil {
		t.Errorf("with a sample are skipped %q", skipped)
	}
	check(t, s, conform.Options{Collection: "lines", Samples: samples, Only: []string{"create"}})
}
