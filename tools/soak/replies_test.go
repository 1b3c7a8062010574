//go:build linux

package soak

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// What is not there in time is taken later, and what was there is not taken twice.
func TestRepliesAreReadOnce(t *testing.T) {
	run := &Run{answerTimeout: time.Hour}
	run.tally.reset(until{})
	first, second := ledger.Answer{Status: 201, Body: "first"}, ledger.Answer{Status: 201, Body: "second", Replayed: true}
	r := &replies{coming: 3, channel: make(chan reply)}
	tooLong, collected := make(chan time.Time), make(chan struct{})
	go func() {
		defer close(collected)
		r.collect(tooLong)
	}()
	r.channel <- reply{answer: first}
	r.channel <- reply{err: errDied}
	tooLong <- time.Time{}
	<-collected
	if want := (&replies{coming: 1, channel: r.channel, answers: []ledger.Answer{first}, lost: errDied}); !reflect.DeepEqual(r, want) {
		t.Fatalf("got %+v", r)
	}
	request := &ledger.Request{Kind: ledger.Create, Outcome: ledger.Done}
	request.Answers = []ledger.Answer{first}
	go func() { r.channel <- reply{answer: second} }()
	run.takeLate(request, r)
	if want := []ledger.Answer{first, second}; !slices.Equal(request.Answers, want) {
		t.Errorf("got %+v", request.Answers)
	}
}

// Recovered is who acknowledges a write, and fails no more.
func TestWatchDetectsFailures(t *testing.T) { synctest.Test(t, testWatch) }

func testWatch(t *testing.T) {
	write, read := message{method: "POST"}, message{method: "GET"}
	done, away := ledger.Answer{Status: 201}, ledger.Answer{Status: 503}
	helpful := http.Header{"Retry-After": {"5"}}
	var w watch
	w.over()
	back := w.back.Add(-10 * time.Second)
	w.back = back
	at := func(second float64) time.Time { return back.Add(time.Duration(second * float64(time.Second))) }
	w.note(at(-20), write, away, helpful, nil) // before it was over
	w.note(at(-1), write, done, nil, nil)
	w.note(at(1), read, ledger.Answer{Status: 200}, nil, nil)
	w.note(at(2), read, away, helpful, nil)
	w.note(at(3), read, away, http.Header{}, nil)
	if w.acknowledged() != 0 {
		t.Error("a write counts that was sent before")
	}
	w.note(at(9), write, done, nil, nil)
	w.note(at(12), write, ledger.Answer{}, nil, errors.New("no connection"))
	got := w.noticed()
	if want := (Impact{Longest: 30 * time.Second, Unavailable: 3, Unhelpful: 1, Recovery: 12 * time.Second}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	w.over()
	if again := w.noticed(); again.Longest != 0 || again.Unavailable != 0 || again.Recovery != 0 {
		t.Errorf("not forgotten: %+v", again)
	}
}
