package limit

import (
	"testing"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// TestQuotaOfRequests: an address gets half of the requests, and all together no more than there may be.
func TestQuotaOfRequests(t *testing.T) {
	f := NewInFlight(4)
	for i, step := range []struct {
		address string
		want    problem.Code
	}{
		{"a", ""}, {"a", ""}, {"a", problem.CodeTooManyRequests}, {"b", ""}, {"b", problem.CodeOverloaded},
	} {
		err := f.Enter(step.address)
		if step.want == "" && err != nil || step.want != "" && !fault.Is(err, step.want) {
			t.Errorf("request %d, from %s: got %v, want %q", i, step.address, err, step.want)
		}
	}
	for _, address := range []string{"a", "a", "a", "b", "b"} {
		f.Leave(address)
	}
	if f.all != 0 || len(f.by) != 0 {
		t.Errorf("%d requests, %v", f.all, f.by)
	}
	for range 10 {
		if err := NewInFlight(0).Enter("a"); err != nil {
			t.Errorf("without a bound: got %v", err)
		}
	}
}
