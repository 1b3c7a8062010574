package api

import (
	"net/http"
	"slices"
	"strings"
)

// CORS headers, for origins that are allowed (the Fetch standard).
const (
	// Any header is allowed, as clients may add their own. The wildcard does not cover
	// Authorization, and older browsers do not support it, so the headers of the interface are
	// listed too.
	corsHeaders = "*, API-Version, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer, X-Request-Id"
	corsExposed = "Accept-Query, API-Version, API-Versions, Content-Location, Deprecation, ETag, Idempotency-Replayed, Link, Location, Preference-Applied, RateLimit, " +
		"RateLimit-Policy, Retry-After, Sunset, X-Affected, X-Deleted, X-History-Since, X-Request-Id, X-Total-Count"
	corsMaxAge = "600" // seconds that a browser caches the preflight
)

// crossOrigin says whether pages of another origin may read the response. Credentials are sent
// by code of the page, never by the browser itself.
func (a *API) crossOrigin(r *http.Request, head http.Header) {
	if len(a.Origins) == 0 {
		return
	}
	head.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	switch {
	case origin == "":
		return
	case slices.Contains(a.Origins, "*"):
		origin = "*" // the browser sends no credentials, and the header stays short
	case !slices.Contains(a.Origins, origin):
		return
	}
	head.Set("Access-Control-Allow-Origin", origin)
	head.Set("Access-Control-Expose-Headers", corsExposed)
}

// preflight completes the reply to OPTIONS if it is a CORS preflight.
func (a *API) preflight(r *http.Request, head http.Header, allowed []string) {
	if !isPreflight(r) || head.Get("Access-Control-Allow-Origin") == "" {
		return
	}
	head.Set("Access-Control-Allow-Methods", strings.Join(allowed, ", "))
	head.Set("Access-Control-Allow-Headers", corsHeaders)
	head.Set("Access-Control-Max-Age", corsMaxAge)
}

// isPreflight reports whether a browser asks if it may send a request.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}
