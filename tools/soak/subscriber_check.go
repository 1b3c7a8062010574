//go:build linux

package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
	"github.com/plural-go/plural/tools/soak/stored"
)

// differences compares what the events add up to with what is listed.
func (s *subscriber) differences(found *ledger.Observed) (differences []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	listed := 0
	for ref, value := range found.Resources {
		if ref.Collection != s.collection {
			continue
		}
		listed++
		if have := s.resources[ref.ID]; have != value.Representation {
			differences = append(differences, fmt.Sprintf("%s is listed as %s, and by its events it is %s", ref.ID, value.Representation, have))
		}
	}
	if listed != len(s.resources) {
		differences = append(differences, fmt.Sprintf("%d are listed, and there are %d by the events", listed, len(s.resources)))
	}
	return differences
}

// logDifferences compares each change that was received with the change log, resource by resource. It
// must be in the log, in its order; the log may have more after it, unless all was sent. Changes before a
// snapshot are not sent, and the beginning of the log may have been removed (cut).
func (s *subscriber) logDifferences(log map[ledger.Ref][]stored.LogEntry, cut, all bool) (differences []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for ref, got := range s.received {
		logged := log[ref]
		if s.based {
			logged = since(logged, got[0].Revision)
		}
		if cut {
			if len(log[ref]) == 0 {
				continue
			}
			got = since(got, log[ref][0].Revision)
		}
		if len(logged) > len(got) && !all {
			logged = logged[:len(got)]
		}
		if !slices.Equal(logged, got) {
			differences = append(differences, fmt.Sprintf("%s is in the change log as %v, and was sent as %v", ref.ID, log[ref], got))
		}
	}
	for ref, logged := range log {
		if all && !s.based && !cut && ref.Collection == s.collection && s.received[ref] == nil {
			differences = append(differences, fmt.Sprintf("%s is in the change log as %v, and was not sent", ref.ID, logged))
		}
	}
	return differences
}

// since is the changes from a revision on.
func since(changes []stored.LogEntry, revision int64) []stored.LogEntry {
	for len(changes) > 0 && changes[0].Revision < revision {
		changes = changes[1:]
	}
	return changes
}

// subscribe starts a subscriber of each collection when the run begins, and tells all of them where the
// nodes are.
func (r *Run) subscribe(ctx context.Context) {
	if r.subscribers == nil {
		ctx, cancel := context.WithCancel(ctx)
		r.stopFollow = cancel
		for collection := range stored.Collections {
			s := newSubscriber(collection, rand.New(rand.NewPCG(r.rng.Uint64(), 0)))
			s.nodes.Store(&r.clients)
			s.absence = r.absence
			if r.alter != nil {
				s.alter = r.alter()
			}
			r.subscribers = append(r.subscribers, s)
			r.following.Go(func() { s.follow(ctx) })
		}
	}
	nodes := slices.Clone(r.clients)
	for _, s := range r.subscribers {
		s.nodes.Store(&nodes)
	}
}

// unsubscribe ends the subscribers, if there are any.
func (r *Run) unsubscribe() {
	r.stopFollow()
	r.following.Wait()
}

var errBehind = errors.New("a subscriber has not got everything")

// checkSubscribers waits until the events of every subscriber add up to what was found while
// nobody writes.
func (r *Run) checkSubscribers(ctx context.Context, found *ledger.Observed) (ok bool, err error) {
	before := len(r.Findings)
	for _, s := range r.subscribers {
		settle := cmp.Or(r.settle, maxSettle)
		for deadline := time.Now().Add(settle); ; {
			differences := s.differences(found)
			if len(differences) == 0 || s.isWrong() {
				break
			}
			if time.Now().After(deadline) {
				r.find(ledger.Violation{Fault: ledger.Lost, Text: fmt.Sprintf("%v: %s after %v: %s", errBehind, s.collection, settle, strings.Join(differences[:min(3, len(differences))], "; "))})
				break
			}
			if err := sleep(ctx, 5*time.Millisecond); err != nil {
				return false, err
			}
		}
		s.mutex.Lock()
		for _, text := range s.wrong {
			r.find(ledger.Violation{Fault: ledger.Wrong, Text: text})
		}
		if s.resets > 0 && !r.mayReset {
			r.find(ledger.Violation{Fault: ledger.Wrong, Text: fmt.Sprintf("subscriber of %s: %d resets without a cause", s.collection, s.resets)})
		}
		s.wrong, s.resets = nil, 0
		s.mutex.Unlock()
	}
	return len(r.Findings) == before, nil
}

// checkLog compares the events of all subscribers with the change log. All: they have got
// everything that is in it.
func (r *Run) checkLog(contents *stored.Contents, all bool) {
	for _, s := range r.subscribers {
		for i, difference := range s.logDifferences(contents.Log, contents.Cut, all) {
			if i < 5 {
				r.find(ledger.Violation{Fault: ledger.Wrong, Text: "subscriber of " + s.collection + ": " + difference})
			}
		}
	}
}
