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
		r.answer(c.known, nil, 0)
		r.answer([]Answer{c.late}, nil, 0)
		if !slices.Equal(r.Answers, c.want) || r.Outcome != Refused {
			t.Errorf("%s: %v %+v", name, r.Outcome, r.Answers)
		}
	}
}

// What is not there in time is taken later, and what was there is not taken twice.
func TestRepliesAreReadOnce(t *testing.T) {
	run := &Run{patience: time.Hour}
	run.tally.reset(until{})
	first, second := Answer{Status: 201, Body: "first"}, Answer{Status: 201, Body: "second", Replayed: true}
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
	if want := (&replies{coming: 1, channel: r.channel, answers: []Answer{first}, lost: errDied}); !reflect.DeepEqual(r, want) {
		t.Fatalf("got %+v", r)
	}
	request := create(Done, "x", "1")
	request.Answers = []Answer{first}
	go func() { r.channel <- reply{answer: second} }()
	run.takeLate(request, r)
	if want := []Answer{first, second}; !slices.Equal(request.Answers, want) {
		t.Errorf("got %+v", request.Answers)
	}
}

// Recovered is who acknowledges a write, and fails no more.
func TestWatchDetectsFailures(t *testing.T) { synctest.Test(t, testWatch) }

func testWatch(t *testing.T) {
	write, read := message{method: "POST"}, message{method: "GET"}
	done, away := Answer{Status: 201}, Answer{Status: 503}
	helpful := http.Header{"Retry-After": {"5"}}
	var w watch
	w.over()
	back := w.back.Add(-10 * time.Second)
	w.back = back
	at := func(second float64) time.Time { return back.Add(time.Duration(second * float64(time.Second))) }
	w.note(at(-20), write, away, helpful, nil) // before it was over
	w.note(at(-1), write, done, nil, nil)
	w.note(at(1), read, Answer{Status: 200}, nil, nil)
	w.note(at(2), read, away, helpful, nil)
	w.note(at(3), read, away, http.Header{}, nil)
	if w.acknowledged() != 0 {
		t.Error("a write counts that was sent before")
	}
	w.note(at(9), write, done, nil, nil)
	w.note(at(12), write, Answer{}, nil, errors.New("no connection"))
	got := w.noticed()
	if want := (Weathered{Longest: 30 * time.Second, Unavailable: 3, Unhelpful: 1, Recovery: 12 * time.Second}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	w.over()
	if again := w.noticed(); again.Longest != 0 || again.Unavailable != 0 || again.Recovery != 0 {
		t.Errorf("not forgotten: %+v", again)
	}
}
