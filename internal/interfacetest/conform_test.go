package interfacetest

import (
	"context"
	"slices"
	"testing"

	"github.com/plural-go/plural/conform"
	"github.com/plural-go/plural/schema"
)

// check runs the suite on a collection and requires that no check fails, and
// that it leaves nothing behind.
func check(t *testing.T, s *server, options conform.Options) *conform.Report {
	t.Helper()
	options.BaseURL = s.base
	before := s.get("/" + options.Collection).total()
	report, err := conform.Run(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		if f := result.Failure; f != nil {
			t.Errorf("%s: %s\n%s\nexpected %s\ngot      %s", result.ID, result.Rule, f.Request, f.Expected, f.Got)
		}
	}
	if len(report.Leftovers) > 0 || report.Created == 0 != options.ReadOnly {
		t.Errorf("created %d, left behind %v", report.Created, report.Leftovers)
	}
	if after := s.get("/" + options.Collection).total(); after != before {
		t.Errorf("there were %s resources, and now there are %s", before, after)
	}
	return report
}

// expectSkipped compares the checks that could not be run.
func expectSkipped(t *testing.T, report *conform.Report, want ...string) {
	t.Helper()
	got := report.IDs(conform.Skipped)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("of %s are skipped\n%q, and should be\n%q", report.Collection, got, want)
	}
}

func TestConformanceOfTheExample(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		expectSkipped(t, check(t, s, conform.Options{Collection: "users"}),
			"create.accepted", // there are no asynchronous operations yet
			"filter.bare",     // nothing but a boolean can be null
			"body.integers",
		)
		expectSkipped(t, check(t, s, conform.Options{Collection: "posts"}),
			"create.accepted", "body.integers",
			"filter.restricts", "filter.boolean", "filter.bare-boolean", // there is no boolean
			"create.required", "patch.null-required", // all is optional
		)
	})
}

// Between the collections of the large schema, every check can be run.
func TestConformanceOfTheLargeSchema(t *testing.T) {
	eachStore(t, large(t), func(t *testing.T, s *server) {
		passed := map[string]bool{}
		for _, c := range large(t).Collections() {
			for _, id := range check(t, s, conform.Options{Collection: c.Name}).IDs(conform.Passed) {
				passed[id] = true
			}
		}
		for _, c := range conform.Checks() {
			if !passed[c.ID] && c.ID != "create.accepted" {
				t.Errorf("%s is not passed for any collection", c.ID)
			}
		}
	})
}

// A collection that is in use stays as it is.
func TestConformanceBesideOtherResources(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 120)
		before := s.get("/users?limit=1000")
		check(t, s, conform.Options{Collection: "users"})
		s.get("/users?limit=1000").expect(t, 200, before.timeless())

		report := check(t, s, conform.Options{Collection: "users", ReadOnly: true})
		for _, result := range report.Results {
			// All that can be read is, but for what the data does not have: a
			// boolean that is null, for filter.null and the like.
			if result.Status == conform.Skipped && !result.Writes && result.Topic() != "filter" && result.ID != "sort.null" {
				t.Errorf("%s is skipped: %s", result.ID, result.Reason)
			}
		}
	})
}
