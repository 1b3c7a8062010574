//go:build linux

package ledger

import (
	"testing"
	"time"
)

func swap(outcome Outcome, expects, leaves string, call, over time.Duration) *Request {
	return &Request{Kind: Swap, Shared: true, Outcome: outcome, Expects: expects, Call: call, Over: over,
		Effects: []Effect{{Ref: ref("a"), Change: Updated, Token: leaves}}}
}

// refused is a swap whose refusal was an answer.
func refused(expects, leaves string, call, over time.Duration) *Request {
	return swap(Refused, expects, leaves, call, over).answered(412)
}

func saw(token string, call, over time.Duration) Read { return Read{ref("a"), token, call, over} }

func TestLinearizable(t *testing.T) {
	birth := swap(Done, "", "0", 0, 1)
	for _, c := range []struct {
		name     string
		requests []*Request
		reads    []Read
		wrong    bool
	}{
		{"in turn", []*Request{birth, swap(Done, "0", "1", 2, 3), swap(Done, "1", "2", 4, 5)}, []Read{saw("2", 6, 7)}, false},
		{"one of two wins", []*Request{birth, swap(Done, "0", "1", 2, 9), refused("0", "2", 3, 8)}, []Read{saw("0", 2, 9), saw("1", 2, 9)}, false},
		{"unknown, and seen", []*Request{birth, swap(Unknown, "0", "1", 2, 3)}, []Read{saw("0", 5, 6), saw("1", 8, 9)}, false},
		{"unknown, and built upon", []*Request{birth, swap(Unknown, "0", "1", 2, 3), swap(Done, "1", "2", 8, 9)}, nil, false},
		{"unknown, and never seen", []*Request{birth, swap(Unknown, "0", "1", 2, 3)}, []Read{saw("0", 8, 9)}, false},
		{"accepted, and seen later", []*Request{birth, swap(Accepted, "0", "1", 2, 3)}, []Read{saw("0", 5, 6), saw("1", 8, 9)}, false},
		{"unknown, never seen, and overtaken", []*Request{birth, swap(Unknown, "0", "1", 2, 3), swap(Done, "0", "2", 8, 9)}, nil, false},
		{"refused for want of room", []*Request{birth, swap(Refused, "0", "1", 2, 3)}, []Read{saw("0", 8, 9)}, false},

		{"a stale read", []*Request{birth, swap(Done, "0", "1", 2, 3)}, []Read{saw("0", 4, 5)}, true},
		{"back again", []*Request{birth, swap(Unknown, "0", "1", 2, 3)}, []Read{saw("1", 5, 6), saw("0", 8, 9)}, true},
		{"both win", []*Request{birth, swap(Done, "0", "1", 2, 9), swap(Done, "0", "2", 3, 8)}, nil, true},
		{"refused without a reason", []*Request{birth, refused("0", "1", 2, 3)}, []Read{saw("0", 8, 9)}, true},
		{"a value of nobody", []*Request{birth}, []Read{saw("7", 2, 3)}, true},
		{"a lost swap", []*Request{birth, swap(Done, "0", "1", 2, 3), swap(Done, "0", "2", 4, 5)}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Linearizable(c.requests, c.reads); len(got) > 0 != c.wrong {
				t.Errorf("violations: %v", got)
			}
		})
	}
}
