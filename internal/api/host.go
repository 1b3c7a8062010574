package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// Local returns the API for a server without access rules that listens on a loopback address.
// It accepts only requests to loopback names and addresses: otherwise a web page could resolve
// its own name to this address (DNS rebinding) and use the API through a browser.
func (a *API) Local() *API {
	local := *a
	local.local = true
	return &local
}

// checkHost refuses a request to another host, or from a page of another host.
func (a *API) checkHost(r *http.Request) error {
	if !a.local {
		return nil
	}
	if r.Host != "" && !isLoopback(r.Host) { // browsers always send one
		return fault.Header("Host", problem.CodeMisdirected, "This server has no access rules, so it accepts requests to localhost and loopback addresses only, but the Host is %s. "+
			"Declare access in the schema file, or start the server with --open to allow everything to everybody.", fault.Quote(r.Host))
	}
	origin := given(r, "Origin")
	if origin == "" || a.isOfAgents(r) /* which checkOrigin checks */ || slices.Contains(a.Origins, "*") || slices.Contains(a.Origins, origin) {
		return nil
	}
	if page, err := url.Parse(origin); err != nil || !isLoopback(page.Host) {
		return fault.Header("Origin", problem.CodeMisdirected, "This server has no access rules, so it accepts requests from pages of localhost and loopback addresses only, but the Origin is %s. "+
			"Add the origin to allowed_origins, or declare access in the schema file.", fault.Quote(origin))
	}
	return nil
}

// isLoopback reports whether a host, with or without a port, is a loopback name or address.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
