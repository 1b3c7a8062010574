package api

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/schema"
)

// TestBuckets: as many at once as the rate says, which come back bit by bit.
func TestBuckets(t *testing.T) {
	now := time.Unix(0, 0)
	b := newBuckets()
	b.now = func() time.Time { return now }
	allowed := schema.Rate{Requests: 2, Per: time.Minute}
	for i, c := range []struct {
		after time.Duration
		want  level
		ok    bool
	}{
		{0, level{left: 1, wait: 0, full: 30 * time.Second}, true},
		{0, level{left: 0, wait: 30 * time.Second, full: time.Minute}, true},
		{0, level{left: 0, wait: 30 * time.Second, full: time.Minute}, false},
		{15 * time.Second, level{left: 0, wait: 15 * time.Second, full: 45 * time.Second}, false},
		{15 * time.Second, level{left: 0, wait: 30 * time.Second, full: time.Minute}, true},
		{-time.Hour, level{left: 0, wait: 30 * time.Second, full: time.Minute}, false}, // a clock that went back gives nothing
		{2 * time.Hour, level{left: 1, wait: 0, full: 30 * time.Second}, true},
	} {
		now = now.Add(c.after)
		if got, ok := b.take("a", allowed); got != c.want || ok != c.ok {
			t.Errorf("%d: got %+v %t, want %+v %t", i, got, ok, c.want, c.ok)
		}
	}
	if _, ok := b.take("b", allowed); !ok {
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
	if b.take("new", allowed); len(b.all) != maxBuckets-maxBuckets/10+1 || b.all["new"] == nil {
		t.Errorf("with %d buckets, none of which is full, %d are left", maxBuckets, len(b.all))
	}
	fill()
	now = now.Add(time.Minute)
	if b.take("newer", allowed); len(b.all) != 1 {
		t.Errorf("of full buckets, %d are left", len(b.all))
	}
}

// TestRatesOfOneCallerWithSeveralRoles: to change roles does not help, nor does to have none.
func TestRatesOfOneCallerWithSeveralRoles(t *testing.T) {
	a := &API{buckets: newBuckets()}
	a.Rates = map[string]schema.Rate{"author": {Requests: 2, Per: time.Hour}, "editor": {Requests: 3, Per: time.Hour}, schema.PublicRole: {Requests: 1, Per: time.Hour}}
	var got []string
	for range 4 {
		for _, role := range []string{"author", "editor", "", "free"} {
			out := &response{ResponseWriter: httptest.NewRecorder(), remote: "192.0.2.1"}
			if a.limitCaller(out, &auth.Permit{Caller: auth.Caller{ID: "token:ada", Role: role}}) == nil {
				got = append(got, role)
			}
		}
	}
	want := []string{"author", "editor", "", "free", "author", "editor", "free", "editor", "free", "free"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestBucketsRefillAtTheirRate: a bucket out of which everything was taken is full again after exactly the time of its rate.
func TestBucketsRefillAtTheirRate(t *testing.T) {
	for _, allowed := range []schema.Rate{{Requests: 1, Per: time.Hour}, {Requests: 7, Per: time.Minute}, {Requests: 3, Per: time.Second}, {Requests: 4999, Per: time.Hour}} {
		b := newBuckets()
		b.now = func() time.Time { return time.Unix(1_800_000_000, 123456789) }
		var last level
		for i := range allowed.Requests {
			var ok bool
			if last, ok = b.take("a", allowed); !ok {
				t.Fatalf("%v: number %d was refused", allowed, i+1)
			}
		}
		if last.left != 0 || seconds(last.full) != int64(allowed.Per/time.Second) {
			t.Errorf("%v: %+v", allowed, last)
		}
		if again, ok := b.take("a", allowed); ok || again != last {
			t.Errorf("%v: then %+v, %t", allowed, again, ok)
		}
	}
}
