package limit

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// allowance is how many requests are allowed in a time.
type allowance struct {
	requests int64
	per      time.Duration
}

// TestBuckets: as many at once as the rate says, which come back bit by bit.
func TestBuckets(t *testing.T) {
	now := time.Unix(0, 0)
	b := NewBuckets()
	b.now = func() time.Time { return now }
	allowed := allowance{2, time.Minute}
	for i, c := range []struct {
		after time.Duration
		want  Level
		ok    bool
	}{
		{0, Level{Left: 1, Next: 30 * time.Second}, true},
		{0, Level{Left: 0, Next: 30 * time.Second}, true},
		{0, Level{Left: 0, Next: 30 * time.Second}, false},
		{15 * time.Second, Level{Left: 0, Next: 15 * time.Second}, false},
		{15 * time.Second, Level{Left: 0, Next: 30 * time.Second}, true},
		{-time.Hour, Level{Left: 0, Next: 30 * time.Second}, false}, // a clock that went back gives nothing
		{2 * time.Hour, Level{Left: 1, Next: 30 * time.Second}, true},
	} {
		now = now.Add(c.after)
		if got, ok := b.Take("a", allowed.requests, allowed.per); got != c.want || ok != c.ok {
			t.Errorf("%d: got %+v %t, want %+v %t", i, got, ok, c.want, c.ok)
		}
	}
	if _, ok := b.Take("b", allowed.requests, allowed.per); !ok {
		t.Error("another has none")
	}
	fill := func() {
		for i := range maxBuckets {
			each := rate.NewLimiter(2.0/60, 2)
			each.AllowN(now, 2)
			b.all[fmt.Sprint(i)] = each
		}
	}
	b.all = map[string]*rate.Limiter{}
	fill()
	now = now.Add(time.Second)
	if b.Take("new", allowed.requests, allowed.per); len(b.all) != maxBuckets-maxBuckets/10+1 || b.all["new"] == nil {
		t.Errorf("with %d buckets, none of which is full, %d are left", maxBuckets, len(b.all))
	}
	fill()
	now = now.Add(time.Minute)
	if b.Take("newer", allowed.requests, allowed.per); len(b.all) != 1 {
		t.Errorf("of full buckets, %d are left", len(b.all))
	}
}

// TestBucketsRefillAtTheirRate: a bucket out of which everything was taken has another token after exactly its share of the time.
func TestBucketsRefillAtTheirRate(t *testing.T) {
	for _, allowed := range []allowance{{1, time.Hour}, {7, time.Minute}, {3, time.Second}, {4999, time.Hour}} {
		b := NewBuckets()
		b.now = func() time.Time { return time.Unix(1_800_000_000, 123456789) }
		var last Level
		for i := range allowed.requests {
			var ok bool
			if last, ok = b.Take("a", allowed.requests, allowed.per); !ok {
				t.Fatalf("%v: number %d was refused", allowed, i+1)
			}
		}
		if last.Left != 0 || last.Next != (allowed.per/time.Duration(allowed.requests)).Round(time.Microsecond) {
			t.Errorf("%v: %+v", allowed, last)
		}
		if again, ok := b.Take("a", allowed.requests, allowed.per); ok || again != last {
			t.Errorf("%v: then %+v, %t", allowed, again, ok)
		}
	}
}
