package limit

import (
	"testing"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// TestBudget: bodies take what is there, and those that come slowly lose theirs to others.
func TestBudget(t *testing.T) {
	b := NewBudget(100, 99)
	now := time.Unix(1000, 0)
	b.now = func() time.Time { return now }
	b.wait = 0
	var gaveUp []string
	begin := func(name string) *Reservation { return b.Begin(name, func() { gaveUp = append(gaveUp, name) }) }
	expect := func(u *Reservation, size int64, want bool) {
		t.Helper()
		err := u.Take(size)
		if (err == nil) != want || err != nil && !fault.Is(err, problem.CodeOverloaded) {
			t.Errorf("taking %d: %v", size, err)
		}
	}
	first, second, third := begin("first"), begin("second"), begin("third")
	expect(first, 60, true)
	expect(second, 40, true)
	expect(third, 1, false)
	if len(gaveUp) != 0 {
		t.Errorf("%q gave up although they are fast", gaveUp)
	}
	now = now.Add(slowAfter + 1)
	second.Received(slowEach)
	expect(third, 1, false)
	if len(gaveUp) != 1 || gaveUp[0] != "first" || !first.Arrived(60) || second.Arrived(40) {
		t.Errorf("%q gave up", gaveUp)
	}
	first.End()
	expect(third, 60, true)
	expect(third, 1, false)
	second.End()
	third.End()
	third.End()
	if b.left != 100 || len(b.arrive) != 0 {
		t.Errorf("%d are left, and %d arrive", b.left, len(b.arrive))
	}
	// Nobody has more than half, unless one body is larger.
	shared := NewBudget(100, 10)
	shared.wait = 0
	some, other := shared.Begin("one", nil), shared.Begin("one", nil)
	expect(some, 50, true)
	expect(other, 1, false)
	expect(shared.Begin("another", nil), 50, true)
	// One whose body is there is not slow, however long its answer takes.
	fourth := begin("fourth")
	expect(fourth, 100, true)
	fourth.Arrived(100)
	now = now.Add(time.Hour)
	expect(begin("fifth"), 1, false)
	if len(gaveUp) != 1 {
		t.Errorf("%q gave up", gaveUp)
	}
}
