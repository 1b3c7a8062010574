package api

import (
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/schema"
)

// TestRatesOfOneCallerWithSeveralRoles: to change roles does not help, nor does to have none.
func TestRatesOfOneCallerWithSeveralRoles(t *testing.T) {
	a := &API{buckets: limit.NewBuckets()}
	a.Rates = map[string]schema.Rate{"author": {Requests: 2, Per: time.Hour}, "editor": {Requests: 3, Per: time.Hour}, schema.PublicRole: {Requests: 1, Per: time.Hour}}
	var got []string
	for range 4 {
		for _, role := range []string{"author", "editor", "", "free"} {
			out := &response{ResponseWriter: httptest.NewRecorder(), remote: "192.0.2.1"}
			if a.limitCaller(out, &auth.Permit{Caller: auth.Caller{ID: "token:ada", Role: role}}) == nil {
				got = append(got, role)
			}
		}
	}
	want := []string{"author", "editor", "", "free", "author", "editor", "free", "editor", "free", "free"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
