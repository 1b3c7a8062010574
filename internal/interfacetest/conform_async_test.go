package interfacetest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/plural-go/plural/conform"
	"github.com/plural-go/plural/schema"
)

// Whatever is written synchronously can be written asynchronously, and comes out
// the same.
func TestConformanceOfTheExampleAsynchronously(t *testing.T) {
	var synchronous []string
	for _, c := range conform.Checks() {
		if c.Synchronous != "" {
			synchronous = append(synchronous, c.ID)
		}
	}
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		expectSkipped(t, check(t, s, conform.Options{Collection: "users", Async: true}), append([]string{"body.integers"}, synchronous...)...)
		expectSkipped(t, check(t, s, conform.Options{Collection: "posts", Async: true}),
			append([]string{"body.integers", "create.required", "patch.null-required"}, synchronous...)...)
	})
}

// A collection that is declared asynchronous is followed without being asked.
func TestConformanceOfAnAsynchronousCollection(t *testing.T) {
	declared := mustSchema(t, schema.Collection{
		Name: "reports", Async: []string{"POST", "PUT", "PATCH", "DELETE"},
		Attributes: []schema.Attribute{{Name: "title", Type: schema.String, Required: true}, {Name: "pages", Type: schema.Integer}},
	})
	eachStore(t, declared, func(t *testing.T, s *server) {
		for _, id := range check(t, s, conform.Options{Collection: "reports"}).IDs(conform.Skipped) {
			if c := find(conform.Checks(), id); c.Synchronous == "" && c.Topic() != "child" && c.Topic() != "filter" {
				t.Errorf("%s is skipped", id)
			}
		}
	})
}

func find(checks []conform.Check, id string) conform.Check {
	for _, c := range checks {
		if c.ID == id {
			return c
		}
	}
	return conform.Check{}
}

// A server need not do anything asynchronously: what is asked by Prefer may be
// ignored.
func TestServerWithoutOperations(t *testing.T) {
	ignored := request(func(r *http.Request) { r.Header.Del("Prefer") })
	const want = "not supported: the server answers synchronously, also with Prefer: respond-async"
	for _, async := range []bool{false, true} {
		report := checkBehind(t, conform.Options{Collection: "users", Skip: []string{"total.filtered"}, Async: async}, ignored)
		expectCaught(t, report, nil)
		for _, result := range report.Results {
			notRun := result.Status == conform.Skipped && result.Reason == want
			if mustNot := result.Topic() == "async" || async && result.Synchronous == ""; notRun != mustNot {
				t.Errorf("%s: %s %s", result.ID, result.Status, result.Reason)
			}
		}
	}
}

// Each fault of asynchronous operations is put in front of the server again, and
// all is written asynchronously. What it is caught by is what it is caught by
// when it is looked for, and the checks of which the writes go wrong by it.
func TestEveryFaultIsCaughtAsynchronously(t *testing.T) {
	if len(asyncFaults) < 10 {
		t.Fatalf("only %d faults", len(asyncFaults))
	}
	for _, f := range asyncFaults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			expectCaught(t, checkBehind(t, conform.Options{Collection: "users", Async: true}, f.answer), append(strings.Fields(asynchronously[f.name]), f.caught...))
		})
	}
	for name := range asynchronously {
		if !isFault(name) {
			t.Errorf("there is no fault %s", name)
		}
	}
}

func isFault(name string) bool {
	for _, f := range asyncFaults {
		if f.name == name {
			return true
		}
	}
	return false
}

// asynchronously lists the checks that a fault makes fail besides when all is
// written asynchronously.
var asynchronously = map[string]string{}
