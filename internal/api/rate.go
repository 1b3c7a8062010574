package api

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// limitAddress counts a request for the address that it came from.
func (a *API) limitAddress(out *response) error {
	if a.Rate.Requests == 0 {
		return nil
	}
	return a.countRequest(out, "address", out.address, a.Rate)
}

// quotaKeyOf is the key by which quotas count long lists, streams and bodies: the id of the caller, or
// the address of a client without credentials.
func quotaKeyOf(out *response) string {
	if out.caller != "" {
		return "caller:" + out.caller
	}
	return out.address
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
		who = out.address
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
	return a.countRequest(out, "caller", "wrong:"+out.address, allowed)
}

// countRequest counts a request, and sets the headers that say how many more are allowed, and how long it takes until one more is
// (draft-ietf-httpapi-ratelimit-headers-11). Retry-After says the same: it should not be earlier.
func (a *API) countRequest(out *response, policy, who string, allowed schema.Rate) error {
	level, ok := a.buckets.Take(who, allowed.Requests, allowed.Per)
	out.Header().Add("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", policy, allowed.Requests, int64(allowed.Per/time.Second)))
	out.Header().Add("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", policy, level.Left, seconds(level.Next)))
	if ok {
		return nil
	}
	out.retryAfter = strconv.FormatInt(seconds(level.Next), 10)
	return fault.New(problem.CodeTooManyRequests, "The rate limit is %s, and you have exceeded it. Try again in %s s.", allowed, out.retryAfter)
}

// seconds rounds up, so that no client retries too early.
func seconds(span time.Duration) int64 { return int64(math.Ceil(span.Seconds())) }
