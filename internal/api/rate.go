package api

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// buckets has a token bucket for each address and each caller whose requests are counted.
type buckets struct {
	mutex sync.Mutex
	all   map[string]*rate.Limiter
	now   func() time.Time
}

// maxBuckets bounds how many buckets are in memory. A full bucket need not be there.
const maxBuckets = 100_000

func newBuckets() *buckets { return &buckets{all: map[string]*rate.Limiter{}, now: time.Now} }

// level is the number of tokens in a bucket, the time until the next token, and the time until the
// bucket is full.
type level struct {
	left       int64
	wait, full time.Duration
}

// take removes a token from a bucket. False means that there is none.
func (b *buckets) take(who string, allowed schema.Rate) (level, bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	now, found := b.now(), b.all[who]
	limit, burst := rate.Limit(float64(allowed.Requests)/allowed.Per.Seconds()), int(min(allowed.Requests, math.MaxInt))
	if found == nil || found.Limit() != limit || found.Burst() != burst {
		b.makeRoom(now)
		found = rate.NewLimiter(limit, burst)
		b.all[who] = found
	}
	ok := found.AllowN(now, 1)
	tokens := found.TokensAt(now)
	until := func(wanted float64) time.Duration {
		span := time.Duration(max(wanted-tokens, 0) / float64(limit) * float64(time.Second))
		return span.Round(time.Microsecond) // so that the error of the division does not become a whole second
	}
	return level{left: int64(tokens), wait: until(1), full: until(float64(burst))}, ok
}

// makeRoom removes full buckets, and others if these are less than a tenth of all, so that it does
// not have to visit all buckets again for the next one.
func (b *buckets) makeRoom(now time.Time) {
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

// limitAddress counts a request for the address that it came from.
func (a *API) limitAddress(out *response) error {
	if a.Rate.Requests == 0 {
		return nil
	}
	return a.countRequest(out, "address", "address:"+blockOf(out.remote), a.Rate)
}

// quotaKeyOf is the key by which quotas count long lists, streams and bodies: the id of the caller, or
// the address of a client without credentials.
func quotaKeyOf(out *response) string {
	if out.caller != "" {
		return "caller:" + out.caller
	}
	return "address:" + blockOf(out.remote)
}

// limitCaller counts a request for its caller. Callers without credentials are counted by address.
// A caller without a role has the rate of the public. A caller with several roles has a bucket for
// each: a shared one would be full again with every change of the role.
func (a *API) limitCaller(out *response, by *auth.Permit) error {
	role := cmp.Or(by.Caller.Role, schema.PublicRole)
	allowed, limited := a.Rates[role]
	if !limited {
		return nil
	}
	who := by.Caller.ID
	if by.Caller.Anonymous() {
		who = blockOf(out.remote)
	}
	return a.countRequest(out, "caller", "role:"+role+":"+who, allowed)
}

// limitWrong counts a request with wrong credentials for its address, as one of the public.
// If there is no such rate, the highest of all rates applies: no known caller is allowed more.
// Right credentials are not refused because others at the same address sent wrong ones.
func (a *API) limitWrong(out *response) error {
	allowed, limited := a.Rates[schema.PublicRole]
	for _, each := range a.Rates {
		if !limited && (allowed.Requests == 0 || float64(each.Requests)/float64(each.Per) > float64(allowed.Requests)/float64(allowed.Per)) {
			allowed = each
		}
	}
	if allowed.Requests == 0 {
		return nil
	}
	return a.countRequest(out, "caller", "wrong:"+blockOf(out.remote), allowed)
}

// countRequest counts a request, and sets the headers that say how many more are allowed.
func (a *API) countRequest(out *response, policy, who string, allowed schema.Rate) error {
	level, ok := a.buckets.take(who, allowed)
	out.Header().Add("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", policy, allowed.Requests, int64(allowed.Per/time.Second)))
	out.Header().Add("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", policy, level.left, seconds(level.full)))
	if ok {
		return nil
	}
	out.retryAfter = strconv.FormatInt(seconds(level.wait), 10)
	return fault.New(problem.CodeTooManyRequests, "At most %s are taken here, and there have been more. Try again in %s s.", allowed, out.retryAfter)
}

// seconds rounds up, so that no client retries too early.
func seconds(span time.Duration) int64 { return int64(math.Ceil(span.Seconds())) }

// blockOf is the network by which an address is counted: a client with one IPv6 address usually has
// 2^64.
func blockOf(remote string) string {
	addr, err := netip.ParseAddr(remote)
	if err != nil || addr.Unmap().Is4() {
		return remote
	}
	block, err := addr.Prefix(64)
	if err != nil {
		return remote
	}
	return block.String()
}

// remoteOf is the address of the client. If the request comes from a trusted proxy, it is the last
// address in X-Forwarded-For that is not a trusted proxy's.
func (a *API) remoteOf(r *http.Request) string {
	remote := r.RemoteAddr
	if port, err := netip.ParseAddrPort(remote); err == nil {
		remote = port.Addr().Unmap().String()
	}
	if len(a.TrustedProxies) == 0 || !a.trusts(remote) {
		return remote
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		addr, ok := parseHop(strings.TrimSpace(hops[i]))
		if !ok {
			return remote
		}
		if remote = addr.String(); !a.trusts(remote) {
			return remote
		}
	}
	return remote
}

// parseHop reads an address of X-Forwarded-For, to which some proxies add the port.
func parseHop(text string) (addr netip.Addr, ok bool) {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		var port netip.AddrPort
		port, err = netip.ParseAddrPort(text)
		addr = port.Addr()
	}
	return addr.Unmap().WithZone(""), err == nil
}

func (a *API) trusts(remote string) bool {
	addr, err := netip.ParseAddr(remote)
	if err != nil {
		return false
	}
	for _, prefix := range a.TrustedProxies {
		if prefix.Contains(addr.Unmap()) {
			return true
		}
	}
	return false
}
