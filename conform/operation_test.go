package conform

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// A server that answers with 202, and has no operations, breaks no rule of the
// convention: what cannot be seen is skipped.
func TestAcceptedWithoutOperations(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/things":
			_, _ = io.WriteString(w, `{"data":[]}`)
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{"data":{"id":"a","name":"Ada"}}`)
		default:
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"data":{"id":"a","type":"things"}}`)
		}
	}))
	defer server.Close()
	for _, async := range []bool{false, true} {
		report, err := Run(context.Background(), Options{
			BaseURL: server.URL, Collection: "things", Sample: json.RawMessage(`{"name":"Ada"}`), ConventionOnly: true, Async: async, Only: []string{"create", "patch", "put"},
		})
		if err != nil {
			t.Fatal(err)
		}
		passed := []string{"create.status", "create.accepted", "patch.status", "put.status"}
		if async {
			passed = []string{"create.accepted"}
		}
		if got := report.IDs(Passed); !slices.Equal(got, passed) || report.Count(Failed) > 0 {
			t.Errorf("passed: %q, failed: %q", got, report.IDs(Failed))
		}
	}
}

func TestReadOnlyAndAsync(t *testing.T) {
	_, err := Run(context.Background(), Options{BaseURL: "http://127.0.0.1:1", ReadOnly: true, Async: true})
	if err == nil || err.Error() != "a read-only run has nothing to do asynchronously" {
		t.Errorf("got %v", err)
	}
}

// Checks that look at no list do not need a long one.
func TestFixtureIsNoLargerThanNeeded(t *testing.T) {
	for _, c := range []struct {
		options Options
		want    int
	}{
		{Options{}, fixtureSize}, {Options{Only: []string{"range.zero-based"}}, fixtureSize}, {Options{Only: []string{"create", "etag"}}, smallFixture}, {Options{Async: true}, smallFixture},
	} {
		selected, err := selection(c.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := sizeFor(selected); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.options, got, c.want)
		}
	}
}
