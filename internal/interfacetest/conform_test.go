package interfacetest

import (
	"context"
	"slices"
	"testing"

	"github.com/plural-go/plural/conform"
	"github.com/plural-go/plural/schema"
)

// conforms runs every check and requires that none fails, and that those which
// cannot be run are the ones that are expected.
func conforms(t *testing.T, s *server, collection string, skipped ...string) {
	t.Helper()
	report, err := conform.Run(context.Background(), conform.Options{BaseURL: s.base, Collection: collection})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		if f := result.Failure; f != nil {
			t.Errorf("%s: %s\n%s\nexpected %s\ngot      %s", result.ID, result.Rule, f.Request, f.Expected, f.Got)
		}
		if result.Status == conform.Skipped && !slices.Contains(skipped, result.ID) {
			t.Errorf("%s is skipped: %s", result.ID, result.Reason)
		}
		if result.Status != conform.Skipped && slices.Contains(skipped, result.ID) {
			t.Errorf("%s is expected to be skipped, and %s", result.ID, result.Status)
		}
	}
	if len(report.Leftovers) > 0 || report.Created == 0 {
		t.Errorf("created %d, left behind %v", report.Created, report.Leftovers)
	}
	if total := s.get("/" + collection).total(); total != "0" {
		t.Errorf("%s resources are left", total)
	}
}

func TestConformanceOfTheExample(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		t.Run("users", func(t *testing.T) { conforms(t, s, "users") })
		t.Run("posts", func(t *testing.T) { conforms(t, s, "posts") })
	})
}
