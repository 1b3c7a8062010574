//go:build linux

package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// Value is a stored resource.
type Value struct {
	Token          string
	Representation string // empty if it was read from its table
	Torn           bool   // its attributes do not belong together
}

// Change is an entry of the change log.
type Change struct {
	Ref    Ref
	Change string
	Token  string // of the representation
}

// Observed is the contents of the database.
type Observed struct {
	Resources map[Ref]Value
	Changes   []Change // nil if the change log was not looked at
}

// Fault is a kind of incorrect behaviour of a server.
type Fault string

// The faults.
const (
	Lost     Fault = "lost"      // an acknowledged write is not there
	Doubled  Fault = "doubled"   // a write took effect more than once
	HalfDone Fault = "half-done" // a part of a write took effect
	Wrong    Fault = "wrong"     // anything else that must not be
)

// Violation is a detected fault, with its evidence.
type Violation struct {
	Fault   Fault
	Request *Request // nil if it is nobody's
	Text    string
	History []*Request // what else was done to the same resources
}

// Check compares the ledger with the contents of the database. It checks everything except the order
// of concurrent writes to shared resources, which Linearizable checks.
func Check(requests []*Request, found *Observed) []Violation {
	c := checker{found: found}
	for _, r := range requests {
		c.answers(r)
	}
	if found.Changes != nil {
		c.changes(requests)
	}
	c.values(requests)
	for i := range c.violations {
		if r := c.violations[i].Request; r != nil {
			c.violations[i].History = slices.DeleteFunc(slices.Clone(requests), func(other *Request) bool { return !r.meets(other) })
		}
	}
	return c.violations
}

// meets reports whether another request writes one of the same resources.
func (r *Request) meets(other *Request) bool {
	return r != other && slices.ContainsFunc(r.Effects, func(e Effect) bool {
		return e.Ref.ID != "" && slices.ContainsFunc(other.Effects, func(o Effect) bool { return e.Ref == o.Ref })
	})
}

type checker struct {
	found      *Observed
	violations []Violation
}

func (c *checker) report(fault Fault, r *Request, format string, args ...any) {
	c.violations = append(c.violations, Violation{Fault: fault, Request: r, Text: fmt.Sprintf(format, args...)})
}

// answers checks the responses of one request: each must be allowed, and repetitions must have the
// same response.
func (c *checker) answers(r *Request) {
	for _, failure := range r.Failures {
		if !slices.Contains(r.MayFail, failure.Status) {
			c.report(Wrong, r, "the server failed: %d %s", failure.Status, failure.Body)
		}
	}
	if len(r.Answers) == 0 {
		return
	}
	first := r.Answers[0]
	for _, again := range r.Answers[1:] {
		if !again.same(first) {
			c.report(Wrong, r, "answered %+v, and when repeated %+v", first, again)
		} else if !again.Replayed {
			c.report(Wrong, r, "answered %d again, and not marked as a repetition", again.Status)
		}
	}
	refusal := first
	if r.Failure != nil {
		refusal = *r.Failure
	}
	switch {
	case r.Mismatch != "":
		c.report(Wrong, r, "%s", r.Mismatch)
	case r.MustFail && (r.Outcome == Done || r.Outcome == Accepted):
		c.report(Wrong, r, "answered %d, and had to be refused", first.Status)
	case r.Outcome == Refused && !slices.Contains(r.MayFail, refusal.Status):
		c.report(Wrong, r, "refused with %d: %s", refusal.Status, refusal.Body)
	}
}

// changes counts how often each request took effect, by the change log.
func (c *checker) changes(requests []*Request) {
	counts := map[Change]int{}
	for _, change := range c.found.Changes {
		counts[key(change)]++
	}
	minted := map[Change][]Change{} // by all but the id, which is not known of every request
	for change := range counts {
		anonymous := change
		anonymous.Ref.ID = ""
		minted[anonymous] = append(minted[anonymous], change)
	}
	for _, r := range requests {
		var often []int
		for _, e := range r.Effects {
			if e.Change == seen {
				continue
			}
			k := key(Change{e.Ref, e.Change, e.Token})
			n := counts[k]
			delete(counts, k)
			if e.Ref.ID == "" {
				for _, k := range minted[k] {
					n += counts[k]
					delete(counts, k)
				}
			}
			often = append(often, n)
		}
		if len(often) > 0 {
			c.often(r, slices.Min(often), slices.Max(often))
		}
	}
	owners := map[string]*Request{}
	for _, r := range requests {
		for _, e := range r.Effects {
			owners[e.Change+" "+e.Token] = r
		}
	}
	for change := range counts {
		if owner := owners[change.Change+" "+change.Token]; owner != nil {
			c.report(Doubled, owner, "took effect once more, by the change log: %+v", change)
		} else {
			c.report(Wrong, nil, "the change log has a change that nobody asked for: %+v", change)
		}
	}
}

// key identifies a change. A deletion has the last token of the resource, whichever request wrote
// it, but a resource is deleted only once.
func key(c Change) Change {
	if c.Change == Deleted {
		c.Token = ""
	}
	return c
}

func (c *checker) often(r *Request, least, most int) {
	switch {
	case most > 1:
		c.report(Doubled, r, "took effect %d times, by the change log", most)
	case least != most:
		c.report(HalfDone, r, "a part took effect, by the change log")
	case most == 0 && r.Outcome == Done:
		c.report(Lost, r, "acknowledged, and not in the change log")
	case most == 1 && r.Outcome == Refused:
		c.report(Wrong, r, "refused, and in the change log")
	}
}

// claim is a value that a resource may have, because a request wrote it.
type claim struct {
	request *Request
	effect  Effect
}

// values checks the stored value of each resource.
func (c *checker) values(requests []*Request) {
	claims := claimsOf(requests)
	for ref, possible := range claims {
		c.value(ref, possible)
	}
	c.unclaimed(requests, claims)
	c.whole(requests, claims)
}

// claimsOf lists the values that each resource may have. Unless the resource is shared, the first is
// acknowledged, and the others are of requests without a known outcome.
func claimsOf(requests []*Request) map[Ref][]claim {
	claims := map[Ref][]claim{}
	for _, r := range requests {
		for _, e := range r.Effects {
			switch {
			case r.Outcome == Refused || e.Ref.ID == "":
			case r.Shared:
				claims[e.Ref] = append(claims[e.Ref], claim{r, e})
			case r.Outcome == Done:
				claims[e.Ref] = []claim{{r, e}}
			default:
				if claims[e.Ref] == nil {
					claims[e.Ref] = []claim{{nil, Effect{Ref: e.Ref, Change: Deleted}}}
				}
				claims[e.Ref] = append(claims[e.Ref], claim{r, e})
			}
		}
	}
	return claims
}

// Witness returns a line of the ledger for values that were uncertain and are known now. It is nil if
// none were uncertain.
func Witness(requests []*Request, found *Observed) *Request {
	witness := &Request{Kind: Seen, Outcome: Done}
	note := func(ref Ref) {
		value := found.Resources[ref]
		witness.Effects = append(witness.Effects, Effect{Ref: ref, Change: seen, Token: value.Token, Want: value.Representation})
	}
	claims := claimsOf(requests)
	for ref, possible := range claims {
		if len(possible) > 1 && (possible[0].request == nil || !possible[0].request.Shared) {
			note(ref)
		}
	}
	for ref := range found.Resources {
		if claims[ref] == nil {
			note(ref)
		}
	}
	if witness.Effects == nil {
		return nil
	}
	return witness
}

// marked is a placeholder for a resource whose id is unknown.
func marked(ref Ref, token string) Ref { return Ref{ref.Collection, "with token " + token} }

// unclaimed checks that no resource exists that no request created. If the server made the id and the
// response was lost, the resource is recognised by the token of the request.
func (c *checker) unclaimed(requests []*Request, claims map[Ref][]claim) {
	creators := map[Ref]*Request{}
	for _, r := range requests {
		for _, e := range r.Effects {
			if e.Change == Created && r.Outcome != Refused {
				creators[marked(e.Ref, e.Token)] = r
			}
		}
	}
	adopted := map[Ref]bool{}
	for ref, value := range c.found.Resources {
		mark := marked(ref, value.Token)
		creator := creators[mark]
		if value.Torn {
			c.report(HalfDone, creator, "%v is torn: %s", ref, value.Representation)
		}
		switch {
		case claims[ref] != nil:
		case creator == nil:
			c.report(Wrong, nil, "%v is there, and nobody asked for it: %s", ref, value.Representation)
		case creator.mints(value.Token) && !adopted[mark]:
			adopted[mark] = true
		default:
			c.report(Doubled, creator, "%v is there too, with the same token %q", ref, value.Token)
		}
	}
}

// mints reports whether the request creates a resource with a token whose id is unknown.
func (r *Request) mints(token string) bool {
	return slices.ContainsFunc(r.Effects, func(e Effect) bool { return e.Token == token && e.Ref.ID == "" })
}

// value checks that a resource has one of the values that it may have.
func (c *checker) value(ref Ref, possible []claim) {
	value, there := c.found.Resources[ref]
	for _, p := range possible {
		switch {
		case p.effect.Gone() != !there:
		case !there:
			return
		case p.effect.Token != value.Token:
		case p.effect.Want == "" || value.Representation == "" || p.effect.Want == value.Representation:
			return
		default:
			c.report(HalfDone, p.request, "%v is\n  %s\nand was acknowledged as\n  %s", ref, value.Representation, p.effect.Want)
			return
		}
	}
	var wanted []string
	for _, p := range possible {
		wanted = append(wanted, describe(!p.effect.Gone(), p.effect.Token))
	}
	certain := possible[0].request
	fault := Lost
	if certain == nil {
		fault = Wrong
	}
	c.report(fault, certain, "%v is %s, and can only be %s", ref, describe(there, value.Token), strings.Join(wanted, " or "))
}

func describe(there bool, token string) string {
	if !there {
		return "gone"
	}
	return fmt.Sprintf("there with %q", token)
}

// whole checks that a request without a known outcome took effect completely or not at all, as far as
// stored values show it.
func (c *checker) whole(requests []*Request, claims map[Ref][]claim) {
	there := map[Ref]bool{}
	for ref, value := range c.found.Resources {
		there[marked(ref, value.Token)] = true
	}
	for _, r := range requests {
		if r.Outcome != Unknown && r.Outcome != Accepted || r.Shared {
			continue
		}
		visible, missing := 0, 0
		for _, e := range r.Effects {
			shown, decided := there[marked(e.Ref, e.Token)], true
			if e.Ref.ID != "" {
				shown, decided = c.decided(r, claims[e.Ref])
			}
			switch {
			case decided && shown:
				visible++
			case decided:
				missing++
			}
		}
		if visible > 0 && missing > 0 {
			c.report(HalfDone, r, "%d of its effects are there, and %d are not", visible, missing)
		}
	}
}

// decided finds out from a resource whether a request took effect: if its value is one that only this
// request can have written, or one that this request cannot have left.
func (c *checker) decided(r *Request, possible []claim) (shown, decided bool) {
	claimed, others := false, false
	for _, p := range possible {
		if p.request == r {
			claimed, shown = true, c.shows(p.effect)
		} else {
			others = others || c.shows(p.effect)
		}
	}
	return shown, claimed && shown != others
}

// shows reports whether a resource is in the state after an effect.
func (c *checker) shows(e Effect) bool {
	value, there := c.found.Resources[e.Ref]
	return there != e.Gone() && (!there || value.Token == e.Token)
}
