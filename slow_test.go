package plural

import (
	"maps"
	"strconv"
	"testing"
	"time"
)

// TestTimeForPlans: a thirtieth of the time for a query, and at least a second.
func TestTimeForPlans(t *testing.T) {
	got := map[time.Duration]time.Duration{}
	want := map[time.Duration]time.Duration{-1: time.Second, time.Millisecond: time.Second, 30 * time.Second: time.Second, 5 * time.Minute: 10 * time.Second}
	for queryTimeout := range want {
		got[queryTimeout] = newSlowLists(Config{QueryTimeout: queryTimeout}, nil, nil).explainTime
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSlowListsAreBounded: a shape is logged once a minute, and only so many shapes.
func TestSlowListsAreBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &slowLists{now: func() time.Time { return now }, logged: map[string]time.Time{}}
	expect := func(shape string, want bool) {
		t.Helper()
		if got := s.due(shape); got != want {
			t.Errorf("%s: got %t, want %t", shape, got, want)
		}
	}
	expect("first", true)
	expect("first", false)
	now = now.Add(slowEach - 1)
	expect("first", false)
	for i := range maxSlowShapes - 1 {
		expect(strconv.Itoa(i), true)
	}
	expect("one more", false)
	now = now.Add(1) // the first is old
	expect("one more", true)
	expect("first", false)
	now = now.Add(slowEach)
	expect("first", true)
	if len(s.logged) != 1 {
		t.Errorf("%d shapes are remembered, want 1", len(s.logged))
	}
}
