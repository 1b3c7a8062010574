package headers

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientAddress is the address of the client. If the request comes from a trusted proxy, it is the last
// address in X-Forwarded-For that is not a trusted proxy's.
func ClientAddress(r *http.Request, trusted []netip.Prefix) string {
	remote := r.RemoteAddr
	if port, err := netip.ParseAddrPort(remote); err == nil {
		remote = port.Addr().Unmap().String()
	}
	if !contains(trusted, remote) {
		return remote
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr, ok := parseHop(strings.TrimSpace(hop))
		if !ok {
			return remote
		}
		if remote = addr.String(); !contains(trusted, remote) {
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

func contains(networks []netip.Prefix, remote string) bool {
	if len(networks) == 0 {
		return false
	}
	addr, err := netip.ParseAddr(remote)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(networks, func(each netip.Prefix) bool { return each.Contains(addr.Unmap()) })
}

// Network is the network by which an address is counted: a client with one IPv6 address usually has
// 2^64.
func Network(remote string) string {
	addr, err := netip.ParseAddr(remote)
	if err != nil || addr.Unmap().Is4() {
		return remote
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}
