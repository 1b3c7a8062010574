package limit

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Buckets has a token bucket for each address and each caller whose requests are counted.
type Buckets struct {
	mutex sync.Mutex
	all   map[string]*rate.Limiter
	now   func() time.Time
}

// maxBuckets bounds how many buckets are in memory. A full bucket need not be there.
const maxBuckets = 100_000

// NewBuckets returns no buckets yet: one is made, full, for the first request of each.
func NewBuckets() *Buckets { return &Buckets{all: map[string]*rate.Limiter{}, now: time.Now} }

// Level is how full a bucket is.
type Level struct {
	Left int64         // tokens
	Next time.Duration // until there is one more
}

// Take removes a token from a bucket. False means that there is none.
func (b *Buckets) Take(who string, requests int64, per time.Duration) (Level, bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	now, found := b.now(), b.all[who]
	limit, burst := rate.Limit(float64(requests)/per.Seconds()), int(min(requests, math.MaxInt))
	if found == nil || found.Limit() != limit || found.Burst() != burst {
		b.makeRoom(now)
		found = rate.NewLimiter(limit, burst)
		b.all[who] = found
	}
	ok := found.AllowN(now, 1)
	tokens := found.TokensAt(now)
	left := int64(max(tokens, 0))
	next := time.Duration((float64(left+1) - tokens) / float64(limit) * float64(time.Second))
	return Level{Left: left, Next: next.Round(time.Microsecond)}, ok // so that the error of the division does not become a whole second
}

// makeRoom removes full buckets, and others if these are less than a tenth of all, so that it does
// not have to visit all buckets again for the next one.
func (b *Buckets) makeRoom(now time.Time) {
	if len(b.all) < maxBuckets {
		return
	}
	for who, each := range b.all {
		if each.TokensAt(now) >= float64(each.Burst()) {
			delete(b.all, who)
		}
	}
	for who := range b.all {
		if len(b.all) <= maxBuckets-maxBuckets/10 {
			return
		}
		delete(b.all, who)
	}
}
