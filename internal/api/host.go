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

// Local is the API for a server without access that listens on an address of its own
// machine: it takes requests to names and addresses of the machine only. A page of the web
// could let its own name lead there, and a browser would then read and write for it.
func (a *API) Local() *API {
	local := *a
	local.local = true
	return &local
}

// checkHost refuses a request that was meant for another host, or comes from a page of one.
func (a *API) checkHost(r *http.Request) error {
	if !a.local {
		return nil
	}
	if r.Host != "" && !isLoopback(r.Host) { // browsers always send one
		return fault.Header("Host", problem.CodeMisdirected, "This server has no access rules, so it takes requests to localhost and loopback addresses only, and not to %s. "+
			"Say who may do what under access in the schema file, or start it with --open if everybody may do everything.", fault.Quote(r.Host))
	}
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(a.Origins, "*") || slices.Contains(a.Origins, origin) {
		return nil
	}
	if page, err := url.Parse(origin); err != nil || !isLoopback(page.Host) {
		return fault.Header("Origin", problem.CodeMisdirected, "This server has no access rules, so it takes requests of pages of localhost and loopback addresses only, and not of %s. "+
			"List the origin under allowed_origins, or say who may do what under access in the schema file.", fault.Quote(origin))
	}
	return nil
}

// isLoopback reports whether a host, with or without a port, is this machine for everybody.
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
