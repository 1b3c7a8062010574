//go:build linux

package ledger

import (
	"slices"
	"testing"
)

// Answers that come late, or overtake each other, find their place.
func TestLateAndReorderedAnswers(t *testing.T) {
	now := Answer{Status: 409, Body: "taken"}
	again := now
	again.Replayed = true
	for name, c := range map[string]struct {
		known []Answer
		late  Answer
		want  []Answer
	}{
		"the only one":             {nil, now, []Answer{now}},
		"the first, behind others": {[]Answer{again, again}, now, []Answer{now, again, again}},
		"a repetition":             {[]Answer{now}, again, []Answer{now, again}},
		"done twice":               {[]Answer{now}, now, []Answer{now, now}}, // which the checker sees
	} {
		r := create(Unknown, "x", "1")
		r.Answer(c.known, nil, 0)
		r.Answer([]Answer{c.late}, nil, 0)
		if !slices.Equal(r.Answers, c.want) || r.Outcome != Refused {
			t.Errorf("%s: %v %+v", name, r.Outcome, r.Answers)
		}
	}
}
