//go:build linux

package soak

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// TestSubscribersSurviveFeedResets: what makes them begin again brings them to the right state, and no change is left
// out, doubled or sent in another order before or after it.
func TestSubscribersSurviveFeedResets(t *testing.T) {
	for _, u := range FeedResets() {
		for name, system := range systems {
			t.Run(u.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				r, err := u.Run(t.Context(), system(t), testWriters/4, testSeed)
				if err != nil {
					t.Fatal(err)
				}
				judge(t, r)
			})
		}
	}
}

var systems = map[string]func(*testing.T) resettable{
	"sqlite": func(t *testing.T) resettable {
		s, err := NewSQLite(server(t, Linked{Lease: testLease}))
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
	"postgres": func(t *testing.T) resettable {
		s, err := NewNodes(t.Context(), server(t, Linked{Lease: testLease}))
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
}

// once lets a fault happen to the first event, from the third on, that it can happen to.
func once(fault func(e event, kept *event) (altered []event, done bool)) func() func(event) []event {
	return func() func(event) []event {
		n, done := 0, false
		var kept event
		return func(e event) []event {
			if n++; done || n < 3 {
				return []event{e}
			}
			var altered []event
			altered, done = fault(e, &kept)
			return altered
		}
	}
}

func isChange(e event) bool {
	return e.kind == ledger.Created || e.kind == ledger.Updated || e.kind == ledger.Deleted
}

// resourceOf is the id of the resource of an event.
func resourceOf(e event) string {
	_, contents, _ := strings.Cut(e.data, `"id":"`)
	id, _, _ := strings.Cut(contents, `"`)
	return id
}

// TestBrokenFeedsAreNoticed: a harness that finds nothing where a change is left out, doubled, or sent after the
// next one of its resource, or where a stream goes on although it had to begin again, would find nothing at all.
func TestBrokenFeedsAreNoticed(t *testing.T) {
	faults := map[string]func() func(event) []event{
		"a change is left out": once(func(e event, _ *event) ([]event, bool) {
			if e.kind != ledger.Updated {
				return []event{e}, false
			}
			return nil, true
		}),
		"a creation is left out": once(func(e event, _ *event) ([]event, bool) {
			if e.kind != ledger.Created {
				return []event{e}, false
			}
			return nil, true
		}),
		"a deletion is left out": once(func(e event, _ *event) ([]event, bool) {
			if e.kind != ledger.Deleted {
				return []event{e}, false
			}
			return nil, true
		}),
		"a change is doubled": once(func(e event, _ *event) ([]event, bool) {
			if !isChange(e) {
				return []event{e}, false
			}
			return []event{e, e}, true
		}),
		"two changes of a resource are swapped": once(func(e event, kept *event) ([]event, bool) {
			switch {
			case kept.kind == "" && isChange(e):
				*kept = e
				return nil, false
			case kept.kind != "" && isChange(e) && resourceOf(e) == resourceOf(*kept):
				return []event{e, *kept}, true
			case kept.kind != "" && isChange(e): // not the one that is wanted
				former := *kept
				*kept = e
				return []event{former}, false
			}
			return []event{e}, false
		}),
	}
	for name, fault := range faults {
		t.Run(name+"/kill", func(t *testing.T) {
			t.Parallel()
			notice(t, fault, func(r *Run, _ resettable) error { return r.Cycles(t.Context(), 1, 200) })
		})
		t.Run(name+"/restore", func(t *testing.T) {
			t.Parallel()
			notice(t, fault, func(r *Run, s resettable) error { return restored(t).run(t.Context(), r, s) })
		})
	}
	t.Run("a reset is left out", func(t *testing.T) {
		for _, u := range FeedResets() {
			t.Run(u.Name, func(t *testing.T) {
				t.Parallel()
				notice(t, func() func(event) []event {
					skipping := false
					return func(e event) []event {
						switch {
						case e.kind == "reset":
							skipping = true
							return nil
						case skipping && (e.kind == "listed" || e.kind == "synced"):
							skipping = e.kind == "listed"
							return nil
						}
						return []event{e}
					}
				}, func(r *Run, s resettable) error { return u.run(t.Context(), r, s) })
			})
		}
	})
}

// restored is the reset of that name.
func restored(t *testing.T) FeedReset {
	t.Helper()
	all := FeedResets()
	return all[slices.IndexFunc(all, func(u FeedReset) bool { return u.Name == "restore" })]
}

// notice lets something happen to a server with a fault between it and its subscribers, and expects that one of them
// is found to be wrong.
func notice(t *testing.T, fault func() func(event) []event, happen func(*Run, resettable) error) {
	t.Helper()
	s := systems["sqlite"](t)
	r := NewRun(s, testWriters/4, testSeed)
	r.alter, r.settle = fault, 10*time.Second // what is missing never comes
	closed(t, s)
	if err := happen(r, s); err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Findings {
		if strings.Contains(v.Text, "subscriber") {
			t.Log(ledger.Shortened(v.Text))
			return
		}
	}
	t.Errorf("it was not noticed: %v", r.Findings)
}
