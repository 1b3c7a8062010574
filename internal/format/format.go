// Package format reads texts: email addresses, URIs, times and the numbers of JSON, without rounding them.
package format

import (
	"net/netip"
	"net/url"
	"strings"
)

// MaxEmail is the length of the longest address that mail can be sent to.
const MaxEmail = 254

// IsEmail accepts the addresses of RFC 5321: local part, @, domain.
func IsEmail(text string) bool {
	at := strings.LastIndexByte(text, '@')
	if at < 1 || at > 64 || len(text) > MaxEmail {
		return false
	}
	return isLocalPart(text[:at]) && isMailDomain(text[at+1:])
}

func isLocalPart(text string) bool {
	if len(text) > 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return isQuotedLocalPart(text[1 : len(text)-1])
	}
	for atom := range strings.SplitSeq(text, ".") {
		if atom == "" {
			return false
		}
		for i := range len(atom) {
			if !isAlphanumeric(atom[i]) && strings.IndexByte("!#$%&'*+-/=?^_`{|}~", atom[i]) < 0 {
				return false
			}
		}
	}
	return true
}

func isQuotedLocalPart(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
			if i == len(text) {
				return false
			}
		} else if text[i] == '"' {
			return false
		}
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

func isMailDomain(text string) bool {
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		address := text[1 : len(text)-1]
		address, v6 := strings.CutPrefix(address, "IPv6:")
		ip, err := netip.ParseAddr(address)
		return err == nil && ip.Is6() == v6 && ip.Zone() == ""
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if !isAlphanumeric(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// IsURI accepts the absolute URIs of RFC 3986: a scheme, and only the
// characters that a URI may have.
func IsURI(text string) bool {
	for i := range len(text) {
		if !isAlphanumeric(text[i]) && strings.IndexByte("-._~:/?#[]@!$&'()*+,;=%", text[i]) < 0 {
			return false
		}
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme == "" || strings.Count(text, "#") > 1 {
		return false
	}
	// url.Parse leaves the query, and what follows the scheme of a urn, as they are.
	_, err = url.PathUnescape(text)
	return err == nil && len(text) > len(parsed.Scheme)+1
}
