//go:build linux

package ledger

import (
	"github.com/anishathalye/porcupine"
	"math"
	"time"
)

// step is one operation on a shared resource: a read, or a compare-and-swap.
type step struct {
	swap      bool
	expects   string // what a swap replaces, or what a read saw
	leaves    string // what a swap leaves
	succeeded bool   // whether a swap found what it expected
}

// register is the model of a shared resource: one value, which a swap replaces if it is the expected
// one.
var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		s := input.(step)
		found := state.(string) == s.expects
		switch {
		case !s.swap:
			return found, state
		case s.succeeded:
			return found, s.leaves
		default:
			return !found, state
		}
	},
}

// MaxThinking bounds the search for an order of the operations on one resource. If it is exceeded,
// that counts as a violation.
var MaxThinking = 20 * time.Second

// Linearizable checks, for each shared resource that is only written by compare-and-swap, that its reads and
// compare-and-swaps can be put into one order that agrees with the clock.
func Linearizable(requests []*Request, reads []Read) []Violation {
	evidence := map[string]bool{} // tokens that a request has read
	for _, r := range reads {
		evidence[r.Token] = true
	}
	for _, r := range requests {
		evidence[r.Expects] = true
	}
	histories := map[Ref][]porcupine.Operation{}
	first := map[Ref]*Request{}
	add := func(ref Ref, s step, call, over time.Duration) {
		histories[ref] = append(histories[ref], porcupine.Operation{Input: s, Call: int64(call), Return: int64(over)})
	}
	for _, r := range reads {
		add(r.Ref, step{expects: r.Token}, r.Call, r.Return)
	}
	for _, r := range requests {
		if !r.Shared || r.Blind {
			continue
		}
		e := r.Effects[0]
		if first[e.Ref] == nil {
			first[e.Ref] = r
		}
		s := step{swap: true, expects: r.Expects, leaves: e.Token, succeeded: r.Outcome != Refused}
		switch {
		case r.Outcome == Refused && len(r.Answers) == 0: // because the disk was full
		case r.Outcome == Done || r.Outcome == Refused:
			add(e.Ref, s, r.Call, r.Over)
		case evidence[e.Token]:
			// It took effect at an unknown time. A swap without evidence may not have
			// happened at all.
			add(e.Ref, s, r.Call, math.MaxInt64)
		}
	}
	var violations []Violation
	for ref, history := range histories {
		switch porcupine.CheckOperationsTimeout(register, history, MaxThinking) {
		case porcupine.Illegal:
			violations = append(violations, Violation{Fault: Wrong, Request: first[ref], Text: "the reads and swaps of " + ref.ID + " cannot be put into an order"})
		case porcupine.Unknown:
			violations = append(violations, Violation{Fault: Wrong, Request: first[ref], Text: "no order was found in time for the reads and swaps of " + ref.ID})
		}
	}
	return violations
}
