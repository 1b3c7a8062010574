//go:build linux

package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// MaxEvidence is how many findings are shown.
const MaxEvidence = 10

func (v Violation) String() string {
	s := strings.ToUpper(string(v.Fault)) + ": " + v.Text
	if v.Request != nil {
		s += v.Request.String()
	}
	for i, other := range v.History {
		if i == MaxEvidence {
			s += fmt.Sprintf("\n  and %d more on the same resources", len(v.History)-MaxEvidence)
			break
		}
		s += "\n and on the same resource:" + other.String()
	}
	return s
}

// String is the line of the ledger.
func (r *Request) String() string {
	s := fmt.Sprintf("\n  line %d, writer %d, from %v to %v: %s, %v\n    sent: %s", r.Order, r.Writer,
		r.Call.Round(time.Microsecond), r.Over.Round(time.Microsecond), r.Kind, r.Outcome, r.Sent)
	for _, a := range slices.Concat(r.Failures, r.Answers) {
		answered := "answered"
		if a.Replayed {
			answered = "answered again"
		}
		s += fmt.Sprintf("\n    %s: %d Location: %s ETag: %s %s", answered, a.Status, a.Location, a.ETag, Shortened(a.Body))
	}
	return s
}
