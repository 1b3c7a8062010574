package headers

import (
	"net/http"
	"testing"
)

func TestPrefers(t *testing.T) {
	for prefer, want := range map[string]bool{
		"count=exact":                         true,
		`Count="exact"`:                       true,
		"return=minimal, count=exact; foo":    true,
		"count=estimated":                     false,
		"count":                               false,
		"respond-async, wait=10":              false,
		"counts=exact, count = exact;x=y,a=b": true,
	} {
		if got := Prefers(http.Header{"Prefer": {prefer}}, "count", "exact"); got != want {
			t.Errorf("%q: %v", prefer, got)
		}
	}
}
