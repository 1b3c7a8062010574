package interfacetest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/conform"
	"github.com/plural-go/plural/schema"
)

// Whatever is written synchronously can be written asynchronously, and comes out
// the same.
func TestConformanceOfTheExampleAsynchronously(t *testing.T) {
	t.Parallel()
	var synchronous []string
	for _, c := range conform.Checks() {
		if c.Synchronous != "" {
			synchronous = append(synchronous, c.ID)
		}
	}
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		expectSkipped(t, check(t, s, conform.Options{Collection: "posts", Async: true}),
			append([]string{"body.integers", "create.required", "patch.null-required"}, synchronous...)...)
	})
}

// A collection that is declared asynchronous is followed without being asked.
func TestConformanceOfAnAsynchronousCollection(t *testing.T) {
	t.Parallel()
	declared := mustSchema(t, schema.Collection{
		Name: "reports", Async: []string{"POST", "PUT", "PATCH", "DELETE"},
		Attributes: []schema.Attribute{{Name: "title", Type: schema.String, Required: true}, {Name: "pages", Type: schema.Integer}},
	})
	eachStore(t, declared, func(t *testing.T, s *server) {
		for _, result := range check(t, s, conform.Options{Collection: "reports"}).Results {
			if result.Status == conform.Skipped && result.Synchronous == "" && result.ID != "link.walk-long" && !slices.Contains([]string{"child", "filter", "search", "rules"}, result.Topic()) {
				t.Errorf("%s is skipped: %s", result.ID, result.Reason)
			}
		}
	})
}

// Where every change must say which state it is about, the suite does.
func TestConformanceOfACollectionThatRequiresIfMatch(t *testing.T) {
	t.Parallel()
	careful := mustSchema(t, schema.Collection{
		Name: "pages", RequireIfMatch: true, Attributes: []schema.Attribute{{Name: "text", Type: schema.String, Required: true}, {Name: "number", Type: schema.Integer}},
	})
	eachStore(t, careful, func(t *testing.T, s *server) {
		for _, async := range []bool{false, true} {
			for _, result := range check(t, s, conform.Options{Collection: "pages", Async: async}).Results {
				// What writes many resources has no If-Match.
				if result.Status == conform.Skipped && result.ID != "link.walk-long" && !strings.Contains(result.Reason, "refers to no other collection") && !slices.Contains([]string{"child", "include", "filter", "search", "upsert", "transaction", "many", "rules"}, result.Topic()) && (!async || result.Synchronous == "") {
					t.Errorf("%s is skipped: %s", result.ID, result.Reason)
				}
			}
		}
	})
}

// A server need not do anything asynchronously: what is asked by Prefer may be
// ignored.
func TestServerWithoutOperations(t *testing.T) {
	ignored := request(func(r *http.Request) { r.Header.Del("Prefer") })
	const want = "not supported: the server answers synchronously, also with Prefer: respond-async"
	for _, async := range []bool{false, true} {
		report := checkBehind(t, conform.Options{Collection: "users", Skip: []string{"total.filtered"}, Async: async}, 0, ignored)
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
			options := conform.Options{Collection: "users", Async: true}
			if f.name == "a POST is done twice" {
				options.Skip = []string{"link.changes"} // the second time may be before or after what it looks at
			}
			expectCaught(t, checkBehind(t, options, 0, f.answer), append(strings.Fields(asynchronously[f.name]), f.caught...))
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
var asynchronously = map[string]string{
	"a POST has succeeded, and nothing is there": `changes.history changes.list link.changes stream.follow stream.resume async.accepted async.checks-body async.checks-condition async.checks-conflict
		async.checks-existence async.delete async.errors async.list async.operation async.order async.patch async.put
		body.charset body.content-type-accept body.exact-names body.not-an-object body.types body.unicode body.unknown-attribute body.wrapped
		child.create child.cursor child.list child.move child.other-parent child.parent-mismatch child.range child.read child.total child.unknown-parent child.update
		condition.first condition.match condition.match-any condition.match-malformed condition.stale condition.unknown-id condition.weak
		create.default create.existing-id create.own-id create.values cursor.deleted delete.gone delete.twice etag.changes etag.no-op
		method.allow method.not-allowed method.singular
		once.effect once.kept-404 once.kept-409 once.kept-412 once.kept-422 once.not-kept once.other-request
		patch.changes patch.no-op patch.null patch.null-required patch.partial patch.read-only patch.updated-at
		put.no-op put.read-back put.read-only put.replaces put.updates`,
	"a PATCH has succeeded, and nothing is changed": "body.exact-names body.types body.wrapped changes.history changes.list stream.follow patch.changes patch.null patch.null-required patch.read-only patch.updated-at",
	"a PUT has succeeded, and nothing is changed":   "etag.changes put.read-back put.read-only put.replaces put.updates",
	"a DELETE has succeeded, and nothing is gone":   "changes.history changes.list stream.follow cursor.deleted delete.gone delete.twice",
	"a POST is done twice":                          "child.list child.range child.total cursor.deleted once.effect stream.follow stream.resume",
	"the first of several takes effect last":        "once.effect",
	"what cannot be read is refused later":          "body.content-type-accept", // a header of the answer
	"what is refused later has no errors": `body.all-violations body.exact-names body.not-an-object body.null-character body.types body.unknown-attribute body.wrapped
		child.other-parent child.parent-mismatch child.unknown-parent condition.unknown-id
		create.existing-id create.read-only create.required delete.twice delete.unknown-id error.pointer
		once.kept-404 once.kept-409 once.kept-422 once.other-request
		patch.null-required patch.read-only patch.unknown-id put.never-creates put.read-only`,
	"keys are ignored for what is done later": "once.effect once.kept-404 once.kept-409 once.kept-412 once.kept-422 once.malformed once.other-request",
}
