package headers

import (
	"net/http"
	"strings"
)

// PrefersExactCount reports whether a Prefer header has count=exact.
func PrefersExactCount(h http.Header) bool {
	count, _ := Preference(h, "count")
	return count == "exact"
}

// Preference finds a preference in a Prefer header (RFC 7240). The first one counts. Unknown
// preferences are no error, by that standard.
func Preference(h http.Header, name string) (value string, found bool) {
	for _, line := range h["Prefer"] {
		for each := range strings.SplitSeq(line, ",") {
			each, _, _ = strings.Cut(each, ";")
			key, given, _ := strings.Cut(each, "=")
			if strings.EqualFold(strings.TrimSpace(key), name) {
				return strings.Trim(strings.TrimSpace(given), `"`), true
			}
		}
	}
	return "", false
}
