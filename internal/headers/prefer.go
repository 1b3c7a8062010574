package headers

import (
	"net/http"
	"strings"
)

// Prefers reports whether a Prefer header asks for a preference with a value.
func Prefers(h http.Header, name, value string) bool {
	given, ok := Preference(h, name)
	return ok && given == value
}

// Preference finds a preference in a Prefer header (RFC 7240). The first one counts. Unknown
// preferences are no error, by that standard.
func Preference(h http.Header, name string) (value string, found bool) {
	for _, line := range h.Values("Prefer") {
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
